# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Three small models in plain PyTorch, written as people write them.

Sizes differ from one another, so that a mix-up shows.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn


class GptBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.c_attn, self.c_proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.c_fc, self.c_down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, tokens, width = x.shape
        parts = self.c_attn(self.ln_1(x)).split(width, dim=2)
        q, k, v = (part.view(batch, tokens, self.heads, width // self.heads).transpose(1, 2) for part in parts)
        seen = torch.tril(torch.ones(tokens, tokens, dtype=torch.bool))
        scores = q @ k.transpose(-1, -2) / math.sqrt(k.shape[-1])
        weights = torch.softmax(scores.masked_fill(~seen, float("-inf")), dim=-1)
        attended = (weights @ v).transpose(1, 2).reshape(batch, tokens, width)
        x = x + self.c_proj(attended)
        return x + self.c_down(F.gelu(self.c_fc(self.ln_2(x)), approximate="tanh"))


class Gpt2(nn.Module):
    """Learned positions, one product for queries, keys and values, a tied head."""

    def __init__(self, vocab=97, width=48, heads=3, layers=2, context=64):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocab, width), nn.Embedding(context, width)
        self.h = nn.ModuleList(GptBlock(width, heads) for _ in range(layers))
        self.ln_f = nn.LayerNorm(width)
        self.lm_head = nn.Linear(width, vocab, bias=False)
        self.lm_head.weight = self.wte.weight

    def forward(self, tokens):
        x = self.wte(tokens) + self.wpe(torch.arange(tokens.shape[1]))
        for block in self.h:
            x = block(x)
        return self.lm_head(self.ln_f(x))


class RmsNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.weight


def turn(x, cos, sin):
    half = x.shape[-1] // 2
    rotated = torch.cat((-x[..., half:], x[..., :half]), dim=-1)
    return x * cos + rotated * sin


class LlamaLayer(nn.Module):
    def __init__(self, width, heads, kv_heads, hidden):
        super().__init__()
        self.heads, self.kv_heads, self.size = heads, kv_heads, width // heads
        self.attn_norm, self.ffn_norm = RmsNorm(width), RmsNorm(width)
        self.q_proj = nn.Linear(width, width, bias=False)
        self.k_proj = nn.Linear(width, kv_heads * self.size, bias=False)
        self.v_proj = nn.Linear(width, kv_heads * self.size, bias=False)
        self.o_proj = nn.Linear(width, width, bias=False)
        self.gate_proj = nn.Linear(width, hidden, bias=False)
        self.up_proj = nn.Linear(width, hidden, bias=False)
        self.down_proj = nn.Linear(hidden, width, bias=False)

    def split(self, x, heads):
        return x.view(x.shape[0], x.shape[1], heads, self.size).transpose(1, 2)

    def forward(self, x, cos, sin):
        batch, tokens, width = x.shape
        h = self.attn_norm(x)
        q = turn(self.split(self.q_proj(h), self.heads), cos, sin)
        k = turn(self.split(self.k_proj(h), self.kv_heads), cos, sin)
        v = self.split(self.v_proj(h), self.kv_heads)
        group = self.heads // self.kv_heads
        k, v = (
            y[:, :, None].expand(batch, self.kv_heads, group, tokens, self.size)
            .reshape(batch, self.heads, tokens, self.size)
            for y in (k, v)
        )
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.o_proj(attended.transpose(1, 2).reshape(batch, tokens, width))
        h = self.ffn_norm(x)
        return x + self.down_proj(F.silu(self.gate_proj(h)) * self.up_proj(h))


class Llama(nn.Module):
    """Rotary positions, grouped heads, norms without a mean."""

    def __init__(self, vocab=101, width=64, heads=4, kv_heads=2, hidden=88, layers=2):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.layers = nn.ModuleList(LlamaLayer(width, heads, kv_heads, hidden) for _ in range(layers))
        self.norm = RmsNorm(width)
        self.lm_head = nn.Linear(width, vocab, bias=False)
        size = width // heads
        frequencies = 1.0 / 10000 ** (torch.arange(0, size, 2).float() / size)
        self.register_buffer("frequencies", frequencies, persistent=False)

    def forward(self, tokens):
        x = self.embed(tokens)
        angles = torch.outer(torch.arange(tokens.shape[1]).float(), self.frequencies)
        angles = torch.cat((angles, angles), dim=-1)
        cos, sin = angles.cos(), angles.sin()
        for layer in self.layers:
            x = layer(x, cos, sin)
        return self.lm_head(self.norm(x))


class BertLayer(nn.Module):
    def __init__(self, width, heads, hidden):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.output, self.up, self.down = nn.Linear(width, width), nn.Linear(width, hidden), nn.Linear(hidden, width)
        self.norm_1, self.norm_2 = nn.LayerNorm(width, eps=1e-12), nn.LayerNorm(width, eps=1e-12)

    def forward(self, x):
        batch, tokens, width = x.shape

        def split(y):
            return y.view(batch, tokens, self.heads, width // self.heads).permute(0, 2, 1, 3)

        q, k, v = split(self.query(x)), split(self.key(x)), split(self.value(x))
        weights = torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(width // self.heads), dim=-1)
        attended = (weights @ v).permute(0, 2, 1, 3).contiguous().view(batch, tokens, width)
        x = self.norm_1(x + self.output(attended))
        return self.norm_2(x + self.down(F.gelu(self.up(x))))


class Bert(nn.Module):
    """An encoder: sees both ways, norms after each block, hidden states come out."""

    def __init__(self, vocab=103, width=40, heads=5, hidden=72, layers=2, context=64):
        super().__init__()
        self.words, self.positions, self.types = (
            nn.Embedding(vocab, width), nn.Embedding(context, width), nn.Embedding(2, width))
        self.norm = nn.LayerNorm(width, eps=1e-12)
        self.layer = nn.ModuleList(BertLayer(width, heads, hidden) for _ in range(layers))

    def forward(self, tokens):
        places = torch.arange(tokens.shape[1])[None]
        x = self.words(tokens) + self.positions(places) + self.types(torch.zeros_like(tokens))
        x = self.norm(x)
        for layer in self.layer:
            x = layer(x)
        return x


MODELS = {"gpt2": Gpt2, "llama": Llama, "bert": Bert}


def make(name, **sizes):
    """A model with weights that are the same every time."""
    torch.manual_seed(7)
    model = MODELS[name](**sizes).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            # Biases and norms that do something; products that neither die nor explode.
            if parameter.ndim == 1:
                parameter.add_(0.1 * torch.randn(parameter.shape))
    return model
