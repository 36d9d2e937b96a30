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


def product(x, weight):
    return x @ weight.T


def product_of_halves(x, weight):
    """As matrix instructions multiply: operands in f16, sums that are not."""
    halves = lambda y: y.astype(np.float16).astype(np.float64)
    return halves(x) @ halves(weight).T


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


def llama(weights, maps, kinds, bulk, ids, heads, kv_heads, epsilon, theta, product=product,
          seen=None):
    """Logits of every token; those of the bulk are not defined.

    `weights` by the short names of models.llama_weights, `maps` by the names of
    the file of maps, where W.tail are called 3.k.tail and 3.v.tail. `product`
    multiplies rows with a weight. `seen` gets what each layer makes of its rows.
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
        k, v = product(h, w[f"{n}.k"]), product(h, w[f"{n}.v"])
        values = {"x": x, "k": k.copy(), "v": v.copy()}
        whole = ~in_bulk | (kind not in ("linear", "tail"))
        if kind == "tail":
            tail = normalise(x) if tail is None else tail
            k[bulk] = product(tail[bulk], m[f"{n}.k.tail"]) + m[f"{n}.k.tail.bias"]
            v[bulk] = product(tail[bulk], m[f"{n}.v.tail"]) + m[f"{n}.v.tail.bias"]
        q = rotate(split(product(h, w[f"{n}.q"]), heads), theta, False)
        k = rotate(split(k, kv_heads), theta, False)
        a = attend(q, k, split(v, kv_heads), np.flatnonzero(whole))
        after = x + product(a.reshape(total, -1), w[f"{n}.o"])
        h = rms_norm(after, w[f"{n}.ffn_norm"], epsilon)
        gate, up = product(h, w[f"{n}.gate"]), product(h, w[f"{n}.up"])
        neurons = gate / (1 + np.exp(-gate)) * up
        block = product(neurons, w[f"{n}.down"])
        if isinstance(kind, tuple):
            kept = neurons[bulk][:, m[f"{n}.thin.rows"].astype(int)]
            block[bulk] = product(kept, m[f"{n}.thin"]) + m[f"{n}.thin.bias"]
        values |= {"attended": after, "neurons": neurons}
        after = after + block
        if kind == "linear":
            after[bulk] = (x[bulk] + product(normalise(x[bulk]), m[f"{n}.linear"])
                           + m[f"{n}.linear.bias"])
        if kind == "tail":
            after[bulk] = x[bulk]
        x = after
        if seen is not None:
            seen.append(values | {"after": x})
    return product(rms_norm(x, w["norm"], epsilon), w.get("head", w["embed"]))
