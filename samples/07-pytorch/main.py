# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A transformer in PyTorch, compiled in one line, for texts of any length."""

import gist
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm_1, self.norm_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, tokens, width = x.shape
        q, k, v = (
            part.view(batch, tokens, self.heads, -1).transpose(1, 2)
            for part in self.qkv(self.norm_1(x)).chunk(3, dim=-1)
        )
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, tokens, width))
        return x + self.down(nn.functional.gelu(self.up(self.norm_2(x))))


class Model(nn.Module):
    def __init__(self, vocabulary=1000, width=128, heads=4, layers=3):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.head = nn.Linear(width, vocabulary)

    def forward(self, tokens):
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


torch.manual_seed(0)
model = Model().eval()
example = torch.randint(0, 1000, (1, 16))

compiled = gist.from_torch(model, example, dynamic=True)

for length in (16, 100):
    tokens = torch.randint(0, 1000, (1, length))
    with torch.no_grad():
        difference = (compiled(tokens) - model(tokens)).abs().max().item()
    print(f"{length} tokens: logits differ by at most {difference:.1e} from PyTorch's")
    assert difference < 1e-4

# Attention on representatives: less work, and other numbers.
layer = {
    "selection": {"on": "normalised", "tau": 0.3},
    "attend": {"mode": "keys", "merge": "mean", "window": 32, "block": 32},
}
planned = gist.from_torch(model, example, dynamic=True, plan={"gist_plan": 1, "layers": [layer] * 3})
print("with a plan:", planned.model.properties.get("selections"), tuple(planned(example).shape))
