# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gist.attend: attention on representatives."""

import numpy as np

from .attention import softmax_rows
from .selection import sequences


def per_head(selection, kv_heads):
    """One selection for each KV head, from a shared one or a list of them."""
    if isinstance(selection, (list, tuple)):
        assert len(selection) == kv_heads
        return list(selection)
    return [selection] * kv_heads


def attend_copy(
    q, k, v, selection, causal=True, scale=None, log_count=False, offsets=None
):
    """r x r attention; a redundant token takes its representative's output."""
    q, k, v = (np.asarray(a, dtype=np.float64) for a in (q, k, v))
    total, heads, width = q.shape
    kv_heads = k.shape[1]
    scale = width**-0.5 if scale is None else float(np.float32(scale))
    out = np.zeros((total, heads, v.shape[2]))
    selections = per_head(selection, kv_heads)
    for h in range(heads):
        group = h // (heads // kv_heads)
        chosen = selections[group]
        for begin, end in sequences(total, offsets):
            kept = [int(s) for s in chosen.kept if begin <= s < end]
            scores = q[kept, h] @ k[kept, group].T * scale
            for i, t in enumerate(kept):
                for j, s in enumerate(kept):
                    if causal and s > t:
                        scores[i, j] = -np.inf
                    elif log_count:
                        members = np.flatnonzero(chosen.nearest == s)
                        if causal:
                            members = members[members <= t]
                        scores[i, j] += np.log(len(members))
            out[kept, h] = softmax_rows(scores, v[kept, group])
            for t in range(begin, end):
                out[t, h] = out[chosen.nearest[t], h]
    return out


def clusters_before(chosen, limit, begin=0):
    """{representative: its members} where both lie in [begin, limit)."""
    clusters = {}
    for t in range(begin, limit):
        s = int(chosen.nearest[t])
        if begin <= s < limit:
            clusters.setdefault(s, []).append(t)
    return clusters


def attend_keys(
    q,
    k,
    v,
    selection,
    window=0,
    block=1,
    merge="representative",
    causal=True,
    scale=None,
    offsets=None,
):
    """All queries, on an exact window and on clusters of what is older.

    The op's queries and keys are the same tokens. Here q may also hold only the
    last of the positions of k and v, as in decoding: what a query sees must
    not depend on the queries that come with it. With `offsets` (then as many
    queries as keys) positions, and with them blocks, count from each
    sequence's start.
    """
    assert merge in ("representative", "mean")
    q, k, v = (np.asarray(a, dtype=np.float64) for a in (q, k, v))
    num_queries, heads, width = q.shape
    num_keys, kv_heads, _ = k.shape
    scale = width**-0.5 if scale is None else float(np.float32(scale))
    past = num_keys - num_queries
    assert offsets is None or past == 0
    out = np.zeros((num_queries, heads, v.shape[2]))
    selections = per_head(selection, kv_heads)
    for begin, end in sequences(num_queries, offsets):
        first_key = begin if offsets is not None else 0
        last_key = end if offsets is not None else num_keys
        for h in range(heads):
            group = h // (heads // kv_heads)
            keys, values = k[:, group], v[:, group]
            for i in range(begin, end):
                t = past + i
                if causal:
                    position = t - first_key
                    exact = max(0, position // block * block - window) + first_key
                    own = list(range(exact, t + 1))
                else:
                    exact, own = last_key, []
                clusters = clusters_before(selections[group], exact, first_key)
                seen_k, seen_v, bias = [], [], []
                for s, members in sorted(clusters.items()):
                    rows = [s] if merge == "representative" else members
                    seen_k.append(keys[rows].mean(axis=0))
                    seen_v.append(values[rows].mean(axis=0))
                    bias.append(np.log(len(members)))
                for s in own:
                    seen_k.append(keys[s])
                    seen_v.append(values[s])
                    bias.append(0.0)
                scores = np.stack(seen_k) @ q[i, h] * scale + np.array(bias)
                out[i, h] = softmax_rows(scores[None], np.stack(seen_v))[0]
    return out
