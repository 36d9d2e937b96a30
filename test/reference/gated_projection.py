# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gist.gated_projection: a linear layer that reads W only where it must."""

import numpy as np

CLOSED, LOW = 0, 1


def residual(x, v):
    """g = V^T x and x - V g, per row of x."""
    g = x @ v
    return g, x - g @ v.T


def residual_ratio(x, v):
    """rho = ||x - V g|| / ||x|| per token; 0 for x = 0, NaN stays NaN."""
    x, v = np.asarray(x, np.float64), np.asarray(v, np.float64)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        _, rest = residual(x, v)
        rho = np.sqrt((rest**2).sum(axis=1)) / np.sqrt((x**2).sum(axis=1))
    return np.where((x == 0).all(axis=1), 0.0, rho)


def gate_levels(rho, epsilon, epsilon_low=None):
    """0 closed, 1 open; graded: 0 closed, 1 low, 2 open. NaN opens."""
    closed_at = epsilon if epsilon_low is None else epsilon_low
    levels = (~(rho <= np.float32(closed_at))).astype(np.int32)
    if epsilon_low is not None:
        levels += ~(rho <= np.float32(epsilon))
    return levels


def gated_projection(x, v, projections, levels, low=None):
    """The outputs for given gate levels, one for each (W, M, bias).

    `low` holds one W_low for each projection in the graded form. The levels
    are an argument, so that a gate near its threshold, where rounding decides,
    can be judged apart from the outputs: see `gate_levels`.
    """
    x, v = np.asarray(x, np.float64), np.asarray(v, np.float64)
    outputs = []
    with np.errstate(invalid="ignore", over="ignore"):
        g, rest = residual(x, v)
        for number, (w, m, bias) in enumerate(projections):
            y = g @ np.asarray(m, np.float64).T
            is_open = levels == (LOW if low is None else LOW + 1)
            if low is not None:
                is_low = levels == LOW
                y[is_low] += rest[is_low] @ np.asarray(low[number], np.float64).T
            y[is_open] = x[is_open] @ np.asarray(w, np.float64).T
            if bias is not None:
                y = y + np.asarray(bias, np.float64)
            outputs.append(y)
    return outputs
