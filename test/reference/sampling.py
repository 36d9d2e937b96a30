# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gist.sample: tokens drawn from rows of logits, in whole numbers."""

import numpy as np

#: 2^(-f) on [0, 1] in units of 2^-30.
POWERS = [1073741824, -744261112, 257940802, -59591844, 10304738, -1386885, 123394]

WHOLE = 1 << 32


def settings(temperature=1.0, top_k=None, top_p=1.0, min_p=0.0, random=0):
    """A row of settings; `random` is in [0, 2^32)."""
    scale = np.float32(min(np.log2(np.e) / temperature, np.finfo(np.float32).max))
    return np.array(
        [
            int(scale.view(np.int32)),
            1 << 24 if top_k is None else top_k,
            max(1, round(top_p * WHOLE)),
            max(1, int(np.ceil(min_p * (1 << 30)))),
            random,
        ],
        np.int64,
    )


def weights(logits, scale):
    """The weight of each token, as Python integers."""
    best = np.float32(np.nanmax(logits))
    result = []
    for logit in logits:
        if logit == best:
            result.append(1 << 30)
            continue
        with np.errstate(over="ignore", invalid="ignore"):
            distance = (best - logit) * scale
        if not distance < 30:
            result.append(0)
            continue
        whole, fraction = divmod(int(float(distance) * 2**25), 1 << 25)
        power = 0
        for coefficient in reversed(POWERS):
            power = coefficient + (power * fraction >> 25)
        result.append(power >> whole)
    return result


def sample(logits, row):
    """The token that `row`, of settings, draws from one row of logits."""
    bits, top_k, top_p, least, random = (int(number) for number in row)
    numbers = [i for i in range(len(logits)) if logits[i] > -np.inf]
    if not numbers:
        return -1
    w = weights(logits, np.array(bits, np.int32).view(np.float32))
    first = sorted(numbers, key=lambda i: (-float(logits[i]), i))[:top_k]
    enough = max(1, sum(w[i] for i in first) * top_p // WHOLE)
    chosen, total = [], 0
    for i in first:
        if total >= enough:
            break
        total += w[i]
        if w[i] >= least:
            chosen.append(i)
    drawn = sum(w[i] for i in chosen) * random // WHOLE
    total = 0
    for i in sorted(chosen):
        total += w[i]
        if total > drawn:
            return i
    raise AssertionError("the weights add up to more than what is drawn")
