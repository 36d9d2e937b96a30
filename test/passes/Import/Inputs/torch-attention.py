# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes torch-*.mlir: attention in PyTorch, as torch-mlir exports it.

    pip install torch==2.15.0 packaging && pip install --no-deps torch-mlir==20261001
    python3 torch-attention.py FOLDER
"""

import math
import pathlib
import sys

import torch
from torch.export import Dim
from torch_mlir import fx


def causal(scores):
    tokens = scores.shape[-1]
    seen = torch.tril(torch.ones(tokens, tokens, dtype=torch.bool))
    return scores.masked_fill(~seen, float("-inf"))


def plain(q, k, v):
    return torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]), -1) @ v


def causal_attention(q, k, v):
    return torch.softmax(causal(q @ k.transpose(-1, -2) * 0.25), -1) @ v


def sdpa(q, k, v):
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)


def masked(q, k, v, mask):
    return torch.softmax(q @ k.transpose(-1, -2) * 0.25 + mask, -1) @ v


def late(q, k, v, mask):
    return torch.softmax((q @ k.transpose(-1, -2) + mask) * 0.25, -1) @ v


def grouped(q, k, v):
    batch, groups, tokens, width = k.shape
    heads = q.shape[1]
    k, v = (x[:, :, None].expand(batch, groups, heads // groups, tokens, width)
            .reshape(batch, heads, tokens, width) for x in (k, v))
    return causal_attention(q, k, v)


class Module(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *arguments):
        return self.function(*arguments)


def main():
    folder = pathlib.Path(sys.argv[1])
    q, mask = torch.randn(1, 4, 12, 8), torch.randn(12, 16)
    k, v = torch.randn(1, 4, 16, 8), torch.randn(1, 4, 16, 6)
    own_k, own_v = torch.randn(1, 4, 12, 8), torch.randn(1, 4, 12, 6)
    group_k, group_v = torch.randn(1, 2, 12, 8), torch.randn(1, 2, 12, 8)
    tokens = Dim("T", min=2, max=512)
    cases = {
        "plain": (plain, (q, k, v), {}),
        "causal": (causal_attention, (q, own_k, own_v), {}),
        "sdpa": (sdpa, (q, own_k, torch.randn(1, 4, 12, 8)), {}),
        "masked": (masked, (q, k, v, mask), {}),
        "late": (late, (q, k, v, mask), {}),
        "grouped": (grouped, (q, group_k, group_v), {}),
        "dynamic": (plain, (q, own_k, own_v), {"dynamic_shapes": (({2: tokens},) * 3,)}),
    }
    for name, (function, arguments, options) in cases.items():
        text = fx.export_and_import(Module(function).eval(), *arguments, func_name=name,
                                    output_type="linalg-on-tensors", **options)
        (folder / f"torch-{name}.mlir").write_text(str(text))


if __name__ == "__main__":
    main()
