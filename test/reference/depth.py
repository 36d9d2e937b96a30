# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Llama in float64 whose prompts walk through fewer layers, and BERT.

A plan of depths names a kind for each layer: "full", ("thin", neurons),
"linear" or "tail". The rows `bulk` of a prompt follow it; the others walk
through every layer whole and attend to the keys and values that the bulk left.
"""

import math

import numpy as np

from .models import erf, layer_norm, rms_norm, rotate

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
          thin_for_all=False, seen=None):
    """Logits of every token; those of the bulk are not defined.

    `weights` by the short names of models.llama_weights, `maps` by the names of
    the file of maps, where W.tail are called 3.k.tail and 3.v.tail. `product`
    multiplies rows with a weight. With `thin_for_all` thin layers are so for
    all tokens. `seen` gets what each layer makes of its rows.
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
            rows = slice(None) if thin_for_all else bulk
            kept = neurons[rows][:, m[f"{n}.thin.rows"].astype(int)]
            block[rows] = product(kept, m[f"{n}.thin"]) + m[f"{n}.thin.bias"]
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


def bert(tensors, maps, kinds, ids, heads, epsilon, seen=None):
    """Hidden states of every token, all of which follow the plan. `seen` gets what
    each layer makes of its rows; "sum" is what goes into its last norm.
    """
    w = {name: np.asarray(value, np.float64) for name, value in tensors.items()}
    m = {name: np.asarray(value, np.float64) for name, value in maps.items()}
    linear = lambda x, name: product(x, w[name + ".weight"]) + w[name + ".bias"]
    mapped = lambda x, name: product(x, m[name]) + m[name + ".bias"]
    norm = lambda x, name: layer_norm(x, w[name + ".weight"], w[name + ".bias"], epsilon)
    x = w["embeddings.word_embeddings.weight"][ids]
    x = x + w["embeddings.position_embeddings.weight"][: len(ids)]
    x = norm(x + w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    for n, kind in enumerate(kinds):
        values = {"x": x}
        if kind == "linear":
            x = x + mapped(normalise(x), f"{n}.linear")
            if seen is not None:
                seen.append(values | {"after": x})
            continue
        at = f"encoder.layer.{n}."
        q, k, v = (linear(x, f"{at}attention.self.{name}").reshape(len(ids), heads, -1)
                   for name in ("query", "key", "value"))
        scores = np.einsum("qhd,khd->hqk", q, k) / np.sqrt(q.shape[2])
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        a = np.einsum("hqk,khd->qhd", weights / weights.sum(-1, keepdims=True), v)
        x = norm(x + linear(a.reshape(len(ids), -1), at + "attention.output.dense"),
                 at + "attention.output.LayerNorm")
        h = linear(x, at + "intermediate.dense")
        h = h * 0.5 * (1 + erf(h / math.sqrt(2)))
        if isinstance(kind, tuple):
            # The block's own bias stays beside the map's.
            kept = h[:, m[f"{n}.thin.rows"].astype(int)]
            block = mapped(kept, f"{n}.thin") + w[at + "output.dense.bias"]
        else:
            block = linear(h, at + "output.dense")
        values |= {"attended": x, "neurons": h, "sum": x + block}
        x = norm(x + block, at + "output.LayerNorm")
        if seen is not None:
            seen.append(values | {"after": x})
    return x
