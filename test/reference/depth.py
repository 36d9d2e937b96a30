# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Llama in float64 whose prompts walk through fewer layers.

A plan of depths names a kind for each layer: "full", ("thin", neurons),
"linear" or "tail". The rows `bulk` of a prompt follow it; the others walk
through every layer whole and attend to the keys and values that the bulk left.
"""

import numpy as np

from .models import rms_norm, rotate

#: Of n(x) = x / rms(x).
EPSILON = 1e-6


def normalise(x):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + EPSILON)


def attend(q, k, v, rows):
    """Causal attention of the queries of `rows` on the keys of all tokens."""
    group = q.shape[1] // k.shape[1]
    out = np.zeros_like(q)
    for t in rows:
        for head in range(q.shape[1]):
            scores = k[:t + 1, head // group] @ q[t, head] / np.sqrt(q.shape[2])
            weights = np.exp(scores - scores.max())
            out[t, head] = weights / weights.sum() @ v[:t + 1, head // group]
    return out


def llama(weights, maps, kinds, bulk, ids, heads, kv_heads, epsilon, theta):
    """Logits of every token; those of the bulk are not defined.

    `weights` by the short names of models.llama_weights, `maps` by the names of
    the file of maps, where W.tail are called 3.k.tail and 3.v.tail.
    """
    w = {name: np.asarray(value, np.float64) for name, value in weights.items()}
    m = {name: np.asarray(value, np.float64) for name, value in maps.items()}
    total = len(ids)
    in_bulk = np.zeros(total, bool)
    in_bulk[bulk] = True
    x = w["embed"][ids]
    split = lambda y, count: y.reshape(total, count, -1)
    tail = None
    for n, kind in enumerate(kinds):
        h = rms_norm(x, w[f"{n}.attn_norm"], epsilon)
        k, v = h @ w[f"{n}.k"].T, h @ w[f"{n}.v"].T
        whole = ~in_bulk | (kind not in ("linear", "tail"))
        if kind == "tail":
            tail = normalise(x) if tail is None else tail
            k[bulk] = tail[bulk] @ m[f"{n}.k.tail"].T + m[f"{n}.k.tail.bias"]
            v[bulk] = tail[bulk] @ m[f"{n}.v.tail"].T + m[f"{n}.v.tail.bias"]
        q = rotate(split(h @ w[f"{n}.q"].T, heads), theta, False)
        k = rotate(split(k, kv_heads), theta, False)
        a = attend(q, k, split(v, kv_heads), np.flatnonzero(whole))
        after = x + a.reshape(total, -1) @ w[f"{n}.o"].T
        h = rms_norm(after, w[f"{n}.ffn_norm"], epsilon)
        gate, up = h @ w[f"{n}.gate"].T, h @ w[f"{n}.up"].T
        neurons = gate / (1 + np.exp(-gate)) * up
        block = neurons @ w[f"{n}.down"].T
        if isinstance(kind, tuple):
            kept = neurons[bulk][:, m[f"{n}.thin.rows"].astype(int)]
            block[bulk] = kept @ m[f"{n}.thin"].T + m[f"{n}.thin.bias"]
        after = after + block
        if kind == "linear":
            after[bulk] = (x[bulk] + normalise(x[bulk]) @ m[f"{n}.linear"].T
                           + m[f"{n}.linear.bias"])
        if kind == "tail":
            after[bulk] = x[bulk]
        x = after
    return rms_norm(x, w["norm"], epsilon) @ w.get("head", w["embed"]).T
