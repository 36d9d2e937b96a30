# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products with a weight for each row."""

import numpy as np


def expert_matmul(x, weight, experts, columns):
    """Row t of `x` is one row for all that token t names, or one for each, side by side."""
    depth = weight.shape[1]
    result = np.zeros((len(experts), experts.shape[1] * columns))
    for token, names in enumerate(experts):
        rows = x[token].reshape(-1, depth).astype(np.float64)
        for slot, expert in enumerate(names):
            w = weight[expert * columns:(expert + 1) * columns].astype(np.float64)
            part = slice(slot * columns, (slot + 1) * columns)
            result[token, part] = w @ rows[slot if len(rows) > 1 else 0]
    return result

