# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Llama and BERT in float64, whose attention is given from outside.

`attend(layer, q, k, v, residual, normalised)` gets tokens x heads x size and the
rows of the layer, and returns tokens x heads x size.
"""

import math

import numpy as np

erf = np.vectorize(math.erf)


def rms_norm(x, weight, epsilon):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon) * weight


def layer_norm(x, weight, bias, epsilon):
    x = x - x.mean(-1, keepdims=True)
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon) * weight + bias


def rotate(x, theta, neighbours):
    """Rotary positions: pairs are halves of the head apart, or neighbours."""
    total, _, size = x.shape
    frequency = theta ** (-np.arange(0, size, 2, dtype=np.float32) / np.float32(size))
    angle = (np.arange(total, dtype=np.float32)[:, None] * frequency.astype(np.float32))
    angle = angle.astype(np.float64)[:, None]
    first = slice(0, None, 2) if neighbours else slice(0, size // 2)
    second = slice(1, None, 2) if neighbours else slice(size // 2, None)
    out = np.empty_like(x)
    out[..., first] = x[..., first] * np.cos(angle) - x[..., second] * np.sin(angle)
    out[..., second] = x[..., second] * np.cos(angle) + x[..., first] * np.sin(angle)
    return out


def llama(weights, ids, attend, layers, heads, kv_heads, epsilon, theta, neighbours=False,
          multiply=None):
    """Logits. `weights` by short names: embed, norm, 0.q, 0.k, ...

    `multiply(name, x)` is a linear layer, x times the transpose of its weight
    unless it is given; the last one is "head".
    """
    w = {name: np.asarray(value, np.float64) for name, value in weights.items()}
    w.setdefault("head", w["embed"])
    multiply = multiply or (lambda name, x: x @ w[name].T)
    x = w["embed"][ids]
    split = lambda y, count: y.reshape(len(ids), count, -1)
    for n in range(layers):
        h = rms_norm(x, w[f"{n}.attn_norm"], epsilon)
        q = rotate(split(multiply(f"{n}.q", h), heads), theta, neighbours)
        k = rotate(split(multiply(f"{n}.k", h), kv_heads), theta, neighbours)
        v = split(multiply(f"{n}.v", h), kv_heads)
        a = attend(n, q, k, v, x, h).reshape(len(ids), -1)
        x = x + multiply(f"{n}.o", a)
        h = rms_norm(x, w[f"{n}.ffn_norm"], epsilon)
        gate = multiply(f"{n}.gate", h)
        up = multiply(f"{n}.up", h)
        x = x + multiply(f"{n}.down", gate / (1 + np.exp(-gate)) * up)
    return multiply("head", rms_norm(x, w["norm"], epsilon))


def llama_weights(tensors):
    """From the names of a Hugging Face folder, or of a GGUF file."""
    names = {
        "embed_tokens": "embed", "token_embd": "embed", "norm": "norm", "output_norm": "norm",
        "lm_head": "head", "output": "head", "self_attn.q_proj": "q", "attn_q": "q",
        "self_attn.k_proj": "k", "attn_k": "k", "self_attn.v_proj": "v", "attn_v": "v",
        "self_attn.o_proj": "o", "attn_output": "o", "input_layernorm": "attn_norm",
        "attn_norm": "attn_norm", "post_attention_layernorm": "ffn_norm",
        "ffn_norm": "ffn_norm", "mlp.gate_proj": "gate", "ffn_gate": "gate",
        "mlp.up_proj": "up", "ffn_up": "up", "mlp.down_proj": "down", "ffn_down": "down",
    }
    found = {}
    for name, value in tensors.items():
        name = name.removeprefix("model.").removesuffix(".weight")
        for layers in ("layers.", "blk."):
            if name.startswith(layers):
                number, rest = name.removeprefix(layers).split(".", 1)
                found[f"{number}.{names[rest]}"] = value
                break
        else:
            found[names[name]] = value
    return found


def bert(tensors, ids, attend, layers, heads, epsilon):
    """Hidden states of every token, from the names of a Hugging Face folder."""
    w = {name.removeprefix("bert."): np.asarray(value, np.float64)
         for name, value in tensors.items()}
    linear = lambda x, name: x @ w[name + ".weight"].T + w[name + ".bias"]
    norm = lambda x, name: layer_norm(x, w[name + ".weight"], w[name + ".bias"], epsilon)
    x = w["embeddings.word_embeddings.weight"][ids]
    x = x + w["embeddings.position_embeddings.weight"][: len(ids)]
    x = norm(x + w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    for n in range(layers):
        at = f"encoder.layer.{n}."
        q, k, v = (linear(x, f"{at}attention.self.{name}").reshape(len(ids), heads, -1)
                   for name in ("query", "key", "value"))
        a = attend(n, q, k, v, x, x).reshape(len(ids), -1)
        x = norm(x + linear(a, at + "attention.output.dense"), at + "attention.output.LayerNorm")
        h = linear(x, at + "intermediate.dense")
        h = h * 0.5 * (1 + erf(h / math.sqrt(2)))
        x = norm(x + linear(h, at + "output.dense"), at + "output.LayerNorm")
    return x
