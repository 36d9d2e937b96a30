# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gist.gram_select: which tokens stand for all of them."""

from dataclasses import dataclass

import numpy as np

from .numerics import theta_of

NONE = -np.inf  # The cosine of a pair that cannot be compared.


@dataclass
class Selection:
    """The record of a selection over T tokens.

    `ids` holds the representatives in ascending order, -1 past `count`;
    `weight` is aligned with it, 0 past `count`. Every token id is a row of the
    whole input, also where the rows are a batch of sequences.
    """

    ids: np.ndarray
    count: int
    nearest: np.ndarray
    weight: np.ndarray

    @property
    def kept(self):
        return self.ids[: self.count]


def usable_rows(x):
    """Rows whose norm, accumulated in f32, is neither zero nor not finite."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        squares = np.asarray(x, dtype=np.float32) ** 2
        total = squares.astype(np.float64).sum(axis=1).astype(np.float32)
    return np.isfinite(total) & (total > 0)


def cosines(x, similarity="absolute"):
    """The T x T matrix of cos(s, t), -inf where a row cannot be compared."""
    x = np.asarray(x, dtype=np.float64)
    usable = usable_rows(x)
    unit = np.zeros_like(x)
    rows = x[usable]
    unit[usable] = rows / np.sqrt((rows**2).sum(axis=1, keepdims=True))
    cos = unit @ unit.T
    if similarity == "absolute":
        cos = np.abs(cos)
    elif similarity != "signed":
        raise ValueError(similarity)
    cos[~usable, :] = NONE
    cos[:, ~usable] = NONE
    return cos


def sequences(total, offsets=None):
    """The (begin, end) of every sequence of a ragged batch of `total` rows."""
    if offsets is None:
        return [(0, total)]
    offsets = [int(o) for o in offsets]
    assert offsets[0] == 0 and offsets[-1] == total
    return list(zip(offsets[:-1], offsets[1:]))


def nearest_of(t, kept, cos, causal):
    """The representative of `kept` (ascending) that stands for token t.

    A representative stands for itself. For the others the largest cosine
    decides; `argmax` takes the first of equals, which is the smallest id. There
    is always a candidate: a token is redundant because an earlier one can be
    compared with it, and the first such row of a sequence is kept.
    """
    if t in kept:
        return t
    candidates = [s for s in kept if s <= t] if causal else list(kept)
    return candidates[int(np.argmax([cos[s, t] for s in candidates]))]


def record(total, kept, nearest):
    """Builds the selection record from the set and the assignment."""
    kept = sorted(kept)
    ids = np.full(total, -1, dtype=np.int32)
    weight = np.zeros(total, dtype=np.int32)
    ids[: len(kept)] = kept
    nearest = np.asarray(nearest, dtype=np.int32)
    for slot, s in enumerate(kept):
        weight[slot] = np.count_nonzero(nearest == s)
    return Selection(ids, len(kept), nearest, weight)


def assign(total, kept, cos, causal, offsets=None):
    """The record of a set whose tokens go to their nearest representatives."""
    nearest = []
    for begin, end in sequences(total, offsets):
        inside = [s for s in kept if begin <= s < end]
        nearest += [nearest_of(t, inside, cos, causal) for t in range(begin, end)]
    return record(total, kept, nearest)


def threshold(tau):
    """The cosine that makes a token redundant; tau = 0 asks for none."""
    return np.inf if tau == 0 else theta_of(tau)


def gram_select(
    x, tau, against="kept", similarity="absolute", causal=False, offsets=None
):
    """Visits the tokens in order; keeps those that no earlier one reaches."""
    assert against in ("all", "kept")
    cos = cosines(x, similarity)
    theta = threshold(tau)
    total = len(x)
    kept = []
    for begin, end in sequences(total, offsets):
        for t in range(begin, end):
            if against == "all":
                earlier = range(begin, t)
            else:
                earlier = [s for s in kept if s >= begin]
            if not any(cos[s, t] >= theta for s in earlier):
                kept.append(t)
    return assign(total, kept, cos, causal, offsets)
