# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Is a selection right? Judged by its own decisions, not by another set.

A greedy set in which one cosine lies within rounding of the threshold may
differ from another right one in everything after that token. So each decision
is checked against the earlier decisions of the same set, within delta.
"""

import numpy as np

from .numerics import cosine_error
from .selection import cosines, sequences, threshold, usable_rows


class Violation(AssertionError):
    pass


def require(condition, text):
    if not condition:
        raise Violation(text)


def check_record(selection, total, offsets=None):
    """The parts of the record agree with one another."""
    ids, count = np.asarray(selection.ids), int(selection.count)
    nearest, weight = np.asarray(selection.nearest), np.asarray(selection.weight)
    for part in (ids, nearest, weight):
        require(part.shape == (total,), f"a part has shape {part.shape}")
    require(0 <= count <= total, f"count is {count} of {total}")
    require((ids[count:] == -1).all(), "ids past the count are not -1")
    require((weight[count:] == 0).all(), "weights past the count are not 0")
    kept = ids[:count]
    require((kept >= 0).all() and (kept < total).all(), f"ids out of range: {kept}")
    require((np.diff(kept) > 0).all(), f"ids do not ascend: {kept}")
    require((nearest[kept] == kept).all(), "a representative has another one")
    require(np.isin(nearest, kept).all(), "a nearest token is not a representative")
    for begin, end in sequences(total, offsets):
        part = nearest[begin:end]
        require(
            ((part >= begin) & (part < end)).all(),
            "a nearest token lies in another sequence",
        )
    counts = np.bincount(nearest, minlength=total)[kept] if total else kept
    require((weight[:count] == counts).all(), "weights do not count the members")


def twins(x, p, s, similarity):
    """Are the cosines of rows p and s with any third equal, bit for bit?"""
    return np.array_equal(x[p], x[s]) or (
        similarity == "absolute" and np.array_equal(x[p], -x[s])
    )


def check_nearest(x, cos, selection, similarity, causal, delta, offsets=None):
    """Every redundant token went to the best representative, within delta.

    Between twins, whose tie rounding cannot break, the smallest id must have
    won.
    """
    nearest = np.asarray(selection.nearest)
    kept = np.asarray(selection.ids)[: int(selection.count)]
    for begin, end in sequences(len(cos), offsets):
        inside = kept[(kept >= begin) & (kept < end)]
        for t in range(begin, end):
            s = nearest[t]
            if s == t:
                continue
            if causal:
                require(s < t, f"token {t} went to {s}, in its future")
            candidates = inside[inside <= t] if causal else inside
            best = cos[candidates, t].max()
            require(
                cos[s, t] >= best - delta,
                f"token {t} went to {s} (cos {cos[s, t]:.7f}), best is {best:.7f}",
            )
            for p in candidates[candidates < s]:
                require(
                    not twins(x, p, s, similarity),
                    f"token {t} went to {s}, whose twin {p} is earlier",
                )


def check_selection(
    x,
    tau,
    selection,
    against="kept",
    similarity="absolute",
    causal=False,
    offsets=None,
    delta=None,
):
    """Raises a Violation unless `selection` is a right answer within delta."""
    total, d = np.shape(x)
    delta = cosine_error(d) if delta is None else delta
    theta = threshold(tau)
    check_record(selection, total, offsets)
    cos = cosines(x, similarity)
    kept = {int(s) for s in selection.ids[: int(selection.count)]}
    for t in np.flatnonzero(~usable_rows(x)):
        require(t in kept, f"token {t} cannot be compared and was dropped")
    for begin, end in sequences(total, offsets):
        for t in range(begin, end):
            earlier = [s for s in range(begin, t) if against == "all" or s in kept]
            reach = cos[earlier, t].max() if earlier else -np.inf
            if t in kept:
                require(
                    not reach >= theta + delta,
                    f"token {t} was kept, an earlier cosine is {reach:.7f}",
                )
            else:
                require(
                    reach >= theta - delta,
                    f"token {t} was dropped, the best earlier cosine is {reach:.7f}",
                )
    check_nearest(x, cos, selection, similarity, causal, delta, offsets)


def check_invariants(x, tau, selection, similarity="absolute", offsets=None):
    """I1-I3 of a causal covering selection, within the error of f32."""
    total, d = np.shape(x)
    delta = cosine_error(d)
    theta = threshold(tau)
    cos = cosines(x, similarity)
    kept = [int(s) for s in selection.ids[: int(selection.count)]]
    nearest = np.asarray(selection.nearest)
    require((nearest <= np.arange(total)).all(), "I1: a token looks into its future")
    for begin, end in sequences(total, offsets):
        inside = np.array([s for s in kept if begin <= s < end], dtype=int)
        for t in range(begin, end):
            earlier = inside[inside < t]
            reach = cos[earlier, t].max() if len(earlier) else -np.inf
            if t in inside:
                require(not reach >= theta + delta, f"I3: {t} is not separated")
            else:
                require(reach >= theta - delta, f"I2: {t} is not covered")


def check_paper(
    x, tau, inherited, selection, similarity="absolute", offsets=None, delta=None
):
    """A certificate for Algorithm 1: its sets depend on `inherited`."""
    total, d = np.shape(x)
    delta = cosine_error(d) if delta is None else delta
    theta = threshold(tau)
    check_record(selection, total, offsets)
    cos = cosines(x, similarity)
    kept = {int(s) for s in selection.ids[: int(selection.count)]}
    old = {int(s) for s in inherited}
    for begin, end in sequences(total, offsets):
        valid = [s for s in range(begin, end) if s in old and s in kept]
        for t in range(begin, end):
            if t in old:
                seen = [s for s in range(begin, t) if s in old]
            else:
                seen = valid
            reach = cos[seen, t].max() if seen else -np.inf
            if t in kept:
                require(not reach >= theta + delta, f"paper: {t} should be removed")
            else:
                require(reach >= theta - delta, f"paper: {t} should be kept")
    check_nearest(x, cos, selection, similarity, False, delta, offsets)
