# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gist.attention: dense attention with grouped KV heads."""

import numpy as np

from .selection import sequences


def softmax_rows(scores, values):
    """softmax(scores) @ values for one head; -inf scores take no part.

    A row in which nothing takes part gives zeros.
    """
    out = np.zeros((scores.shape[0], values.shape[1]))
    for i, row in enumerate(scores):
        seen = np.flatnonzero(~np.isneginf(row))
        if len(seen) == 0:
            continue
        with np.errstate(invalid="ignore"):
            p = np.exp(row[seen] - row[seen].max())
            out[i] = (p / p.sum()) @ values[seen]
    return out


def visible(t, s, causal=True, window=None, sinks=0):
    """May the query at position t look at the key at position s?"""
    if causal and s > t:
        return False
    return window is None or s > t - window or s < sinks


def attention(
    q,
    k,
    v,
    causal=True,
    scale=None,
    window=None,
    sinks=0,
    mask=None,
    offsets=None,
    key_offsets=None,
):
    """q is T x H x D; k and v are S x Hkv x D. Queries are the last T of S.

    `offsets` and `key_offsets` cut queries and keys into sequences; all this
    then holds within each.
    """
    q, k, v = (np.asarray(a, dtype=np.float64) for a in (q, k, v))
    heads, width = q.shape[1:]
    group = heads // k.shape[1]
    scale = width**-0.5 if scale is None else float(np.float32(scale))
    out = np.zeros((len(q), heads, v.shape[2]))
    queries = sequences(len(q), offsets)
    keys = sequences(len(k), key_offsets)
    for (first, last), (first_key, last_key) in zip(queries, keys, strict=True):
        past = (last_key - first_key) - (last - first)
        for h in range(heads):
            head_keys = k[first_key:last_key, h // group]
            with np.errstate(invalid="ignore"):
                scores = q[first:last, h] @ head_keys.T * scale
                if mask is not None:
                    scores = scores + mask[first:last, first_key:last_key]
            for i, s in np.ndindex(scores.shape):
                if not visible(past + i, s, causal, window, sinks):
                    scores[i, s] = -np.inf
            head_values = v[first_key:last_key, h // group]
            out[first:last, h] = softmax_rows(scores, head_values)
    return out
