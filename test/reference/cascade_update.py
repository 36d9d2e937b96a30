# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gist.cascade_update: this layer's selection from the layer before's."""

from .selection import assign, cosines, gram_select, sequences, threshold


def cascade_update(
    x,
    inherited,
    tau,
    rule="covering",
    similarity="absolute",
    causal=False,
    offsets=None,
):
    """Returns the selection and the numbers of ids removed and added.

    `inherited` is the selection of the layer before.
    """
    old = {int(s) for s in inherited.kept}
    total = len(x)
    if rule == "covering":
        # The inherited selection may only change the cost, so it is not read.
        result = gram_select(x, tau, "kept", similarity, causal, offsets)
    elif rule == "paper":
        kept = paper_set(x, sorted(old), tau, similarity, offsets)
        cos = cosines(x, similarity)
        result = assign(total, kept, cos, causal=False, offsets=offsets)
    elif rule == "inherit":
        result = inherited
    else:
        raise ValueError(rule)
    new = {int(s) for s in result.kept}
    return result, len(old - new), len(new - old)


def paper_set(x, inherited, tau, similarity="absolute", offsets=None):
    """The set of Algorithm 1, with the cosine of an unusable row at -inf."""
    cos = cosines(x, similarity)
    theta = threshold(tau)
    kept = []
    for begin, end in sequences(len(x), offsets):
        old = [s for s in inherited if begin <= s < end]
        # A representative is compared with all earlier inherited ones, also
        # with those that this very step removes.
        valid = [s for s in old if not any(cos[p, s] >= theta for p in old if p < s)]
        # A token is compared with valid representatives on both sides of it.
        new = [
            t
            for t in range(begin, end)
            if t not in old and not any(cos[s, t] >= theta for s in valid)
        ]
        kept += sorted(valid + new)
    return kept
