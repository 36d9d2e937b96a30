# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decoders as a PyTorch user writes them, of a config.json's shape alone.

Weights are random f16. A forward takes tokens, writes their keys and values into
a cache that is there from the start, and gives the most likely next token. It is
measured as one CUDA graph; `compiled` runs each layer through torch.compile first,
and `fp8` does so with products of 8 bits (e4m3, scales by row).
"""

import math
import statistics


class Shape:
    """What configs of the architectures call by different names."""

    def __init__(self, config):
        get = lambda *names: next((config[n] for n in names if config.get(n) is not None), None)
        self.kind = config["model_type"]
        self.width = get("hidden_size", "n_embd")
        self.layers = get("num_hidden_layers", "n_layer")
        self.heads = get("num_attention_heads", "n_head")
        self.kv_heads = get("num_key_value_heads") or self.heads
        self.head = self.width // self.heads
        self.inner = get("intermediate_size", "ffn_dim", "n_inner") or 4 * self.width
        self.vocabulary = config["vocab_size"]
        self.context = get("max_position_embeddings", "n_positions")
        self.rotary = {"gptj": config.get("rotary_dim"), "opt": 0}.get(self.kind, self.head)
        self.theta = config.get("rope_theta", 10000.0)
        self.tied = config.get("tie_word_embeddings", True)
        self.experts = config.get("num_local_experts", 0)
        self.chosen = config.get("num_experts_per_tok", 0)

    def cache_bytes(self, tokens):
        """Of keys and values of so many tokens, f16."""
        return 2 * 2 * self.layers * self.kv_heads * self.head * tokens


def layer_weights(torch, shape):
    make = lambda *size: torch.randn(*size, device="cuda", dtype=torch.float16).mul_(0.02)
    ones = lambda: torch.ones(shape.width, device="cuda", dtype=torch.float16)
    kv = shape.kv_heads * shape.head
    weights = {"norm": ones(), "qkv": make(shape.width + 2 * kv, shape.width),
               "o": make(shape.width, shape.width)}
    if shape.kind == "llama":
        return weights | {"norm2": ones(), "gate_up": make(2 * shape.inner, shape.width),
                          "down": make(shape.width, shape.inner)}
    if shape.kind == "mixtral":
        # Grouped products in f16 ask the host for sizes, which no graph can record.
        return weights | {"norm2": ones(), "router": make(shape.experts, shape.width),
                          "gate_up": make(shape.experts, shape.width, 2 * shape.inner).bfloat16(),
                          "down": make(shape.experts, shape.inner, shape.width).bfloat16()}
    weights |= {"norm_b": make(shape.width), "up": make(shape.inner, shape.width),
                "up_b": make(shape.inner), "down": make(shape.width, shape.inner),
                "down_b": make(shape.width)}
    if shape.kind == "opt":
        weights |= {"qkv_b": make(3 * shape.width), "o_b": make(shape.width), "norm2": ones(),
                    "norm2_b": make(shape.width)}
    return weights


FP8_LARGEST = 448  # of e4m3


def in_fp8(torch, weights):
    """A layer whose products are of 8 bits, with a scale for each row: matrices become
    pairs of values and scales."""
    def quantized(weight):
        scale = weight.float().abs().amax(1, keepdim=True).clamp_min(1e-12) / FP8_LARGEST
        return (weight.float() / scale).to(torch.float8_e4m3fn), scale.t().contiguous()
    return {name: quantized(w) if w.dim() == 2 else w for name, w in weights.items()}


def make_layer(torch, shape):
    """One layer: x, its weights, its cache, rotary angles, the place in the cache."""
    F = torch.nn.functional
    kv = shape.kv_heads * shape.head

    def linear(x, w, bias=None):
        if not isinstance(w, tuple):
            return F.linear(x, w, bias)
        values, scales = w
        own = x.float().abs().amax(-1, keepdim=True).clamp_min(1e-12) / FP8_LARGEST
        # Scales by row have results in bf16 alone.
        return torch._scaled_mm((x.float() / own).to(torch.float8_e4m3fn), values.t(), scale_a=own,
                                scale_b=scales, out_dtype=torch.bfloat16, use_fast_accum=True).half()

    def rotate(x, cos, sin):
        turned, rest = x[..., :shape.rotary], x[..., shape.rotary:]
        if shape.kind == "gptj":  # pairs of neighbours
            a, b = turned[..., 0::2], turned[..., 1::2]
            turned = torch.stack((a * cos - b * sin, b * cos + a * sin), -1).flatten(-2)
        else:
            a, b = turned.chunk(2, -1)
            turned = torch.cat((a * cos - b * sin, b * cos + a * sin), -1)
        return torch.cat((turned, rest), -1) if rest.shape[-1] else turned

    def attention(h, w, keys, values, cos, sin, first):
        count = h.shape[0]
        qkv = linear(h, w["qkv"], w.get("qkv_b"))
        q, k, v = qkv.split((shape.width, kv, kv), -1)
        q = q.view(count, shape.heads, shape.head)
        k = k.view(count, shape.kv_heads, shape.head)
        v = v.view(count, shape.kv_heads, shape.head)
        if shape.rotary:
            q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        keys[:, first:first + count] = k.transpose(0, 1)
        values[:, first:first + count] = v.transpose(0, 1)
        out = F.scaled_dot_product_attention(
            q.transpose(0, 1)[None], keys[None, :, :first + count], values[None, :, :first + count],
            is_causal=count > 1, enable_gqa=shape.kv_heads != shape.heads)
        return linear(out[0].transpose(0, 1).reshape(count, -1), w["o"], w.get("o_b"))

    def llama(x, w, *rest):
        x = x + attention(F.rms_norm(x, (shape.width,), w["norm"], 1e-5), w, *rest)
        h = F.rms_norm(x, (shape.width,), w["norm2"], 1e-5)
        gate, up = linear(h, w["gate_up"]).chunk(2, -1)
        return x + linear(F.silu(gate) * up, w["down"])

    def mixtral(x, w, *rest):
        x = x + attention(F.rms_norm(x, (shape.width,), w["norm"], 1e-5), w, *rest)
        h = F.rms_norm(x, (shape.width,), w["norm2"], 1e-5)
        shares, chosen = F.linear(h, w["router"]).softmax(-1).topk(shape.chosen)
        shares = shares / shares.sum(-1, keepdim=True)
        # Rows of one expert after the other, as one grouped product.
        chosen, order = chosen.flatten().sort()
        row = order // shape.chosen
        ends = torch.searchsorted(chosen, torch.arange(shape.experts, device=x.device), right=True)
        ends = ends.to(torch.int32)
        gate, up = F.grouped_mm(h[row].bfloat16(), w["gate_up"], offs=ends).chunk(2, -1)
        out = F.grouped_mm(F.silu(gate) * up, w["down"], offs=ends).half()
        return x.index_add(0, row, out * shares.flatten()[order, None])

    def gptj(x, w, *rest):
        h = F.layer_norm(x, (shape.width,), w["norm"], w["norm_b"])
        up = F.gelu(F.linear(h, w["up"], w["up_b"]), approximate="tanh")
        return x + attention(h, w, *rest) + F.linear(up, w["down"], w["down_b"])

    def opt(x, w, *rest):
        x = x + attention(F.layer_norm(x, (shape.width,), w["norm"], w["norm_b"]), w, *rest)
        h = F.layer_norm(x, (shape.width,), w["norm2"], w["norm2_b"])
        return x + F.linear(F.relu(F.linear(h, w["up"], w["up_b"])), w["down"], w["down_b"])

    return {"llama": llama, "mixtral": mixtral, "gptj": gptj, "opt": opt}[shape.kind]


class Model:
    """Weights and the cache of one shape, and the time of a step."""

    def __init__(self, torch, shape, context):
        self.torch, self.shape = torch, shape
        make = lambda *size: torch.randn(*size, device="cuda", dtype=torch.float16).mul_(0.02)
        self.embedding = make(shape.vocabulary, shape.width)
        self.positions = make(context + 2, shape.width) if shape.kind == "opt" else None
        self.head = self.embedding if shape.tied else make(shape.vocabulary, shape.width)
        self.norm = torch.ones(shape.width, device="cuda", dtype=torch.float16)
        self.layers = [layer_weights(torch, shape) for _ in range(shape.layers)]
        self.layers8 = None  # the same in 8 bits, made when they are asked for
        cache = lambda: torch.zeros(shape.layers, shape.kv_heads, context, shape.head,
                                    device="cuda", dtype=torch.float16)
        self.keys, self.values = cache(), cache()
        if shape.rotary:
            powers = torch.arange(0, shape.rotary, 2, device="cuda") / shape.rotary
            angles = torch.outer(torch.arange(context, device="cuda").float(),
                                 1.0 / shape.theta ** powers)
            self.cos, self.sin = angles.cos().half()[:, None], angles.sin().half()[:, None]
        self.layer = make_layer(torch, shape)
        self.compiled = torch.compile(self.layer, dynamic=False)

    def get_layers(self, fp8):
        if not fp8:
            return self.layers
        if self.shape.kind != "llama":
            raise RuntimeError("only layers as Llama's are written in fp8")
        if self.layers8 is None:
            self.layers8 = [in_fp8(self.torch, weights) for weights in self.layers]
        return self.layers8

    def step(self, tokens, first, layer, layers):
        F = self.torch.nn.functional
        count = tokens.shape[0]
        x = F.embedding(tokens, self.embedding)
        if self.positions is not None:
            x = x + self.positions[first + 2:first + 2 + count]
        cos = sin = None
        if self.shape.rotary:
            cos, sin = self.cos[first:first + count], self.sin[first:first + count]
        for weights, keys, values in zip(layers, self.keys, self.values):
            x = layer(x, weights, keys, values, cos, sin, first)
        last = x[-1:]
        last = (F.rms_norm(last, (self.shape.width,), self.norm, 1e-5)
                if self.shape.kind in ("llama", "mixtral")
                else F.layer_norm(last, (self.shape.width,), self.norm))
        return F.linear(last, self.head).argmax(-1)

    def seconds(self, count, first, compiled, limit, repeat=10, fp8=False):
        """Median time of `count` tokens after `first` others, as a graph."""
        torch = self.torch
        layers = self.get_layers(fp8)
        layer = self.compiled if compiled else self.layer
        tokens = torch.randint(self.shape.vocabulary, (count,), device="cuda")
        with torch.no_grad():
            stream = torch.cuda.Stream()
            with torch.cuda.stream(stream):
                for _ in range(2):
                    self.step(tokens, first, layer, layers)
            stream.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                self.step(tokens, first, layer, layers)
        times = []
        for _ in range(repeat + 1):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            graph.replay()
            end.record()
            end.synchronize()
            times.append(begin.elapsed_time(end) / 1e3)
            if math.fsum(times) > limit and len(times) > 1:
                break
        return statistics.median(times[1:])
