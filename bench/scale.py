#!/usr/bin/env python3
# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a step of decode costs on several ranks, by a model of four numbers.

    python3 bench/scale.py check        # the model beside what was measured on one H200
    python3 bench/scale.py table        # what it says of eight MI300X, and of nodes of them
    python3 bench/scale.py step bench/gpu/llama-3-8b/config.json --ranks 8

A step reads the weights of its rank and the cache of its sequences, launches
kernels, and exchanges a row of the residual stream twice in a layer:

    seconds = (weights / ranks + cache / ranks) / bandwidth + launches * launch
              + exchanges * (latency + bytes of an exchange / link)

Nothing overlaps: kernels wait for the sum before them. docs/scale.md has the
results.
"""

import argparse
import dataclasses
import json
import math
import pathlib

SHAPES = pathlib.Path(__file__).parent / "gpu"


@dataclasses.dataclass
class Shape:
    name: str
    hidden: int
    ffn: int
    products: int  # of the feed-forward block: 3 with a gate, 2 without
    layers: int
    heads: int
    kv_heads: int
    vocab: int
    bytes: float = 2  # of a weight

    @staticmethod
    def read(path):
        c = json.loads(pathlib.Path(path).read_text())
        hidden = c.get("hidden_size", c.get("n_embd"))
        ffn = c.get("intermediate_size", c.get("ffn_dim")) or c.get("n_inner") or 4 * hidden
        heads = c.get("num_attention_heads", c.get("n_head"))
        return Shape(pathlib.Path(path).parent.name, hidden, ffn,
                     3 if c["model_type"] in ("llama", "mistral", "qwen2") else 2,
                     c.get("num_hidden_layers", c.get("n_layer")), heads,
                     c.get("num_key_value_heads", heads), c["vocab_size"])

    def head_size(self):
        return self.hidden // self.heads

    def layer_weights(self):
        attention = self.hidden * (2 * self.hidden + 2 * self.kv_heads * self.head_size())
        return attention + self.products * self.hidden * self.ffn

    def weight_bytes(self, ranks):
        """That a rank reads for a token; the table of tokens is looked up."""
        return self.bytes * (self.layers * self.layer_weights()
                             + self.vocab * self.hidden) / ranks

    def cache_bytes(self, depth, ranks):
        """Of one sequence; a rank has one KV head at least."""
        heads = max(math.ceil(self.kv_heads / ranks), 1)
        return 2 * 2 * self.layers * depth * heads * self.head_size()

    def exchanges(self):
        return 2 * self.layers + 1  # two in a layer, and the logits


@dataclasses.dataclass
class Machine:
    name: str
    bandwidth: float  # bytes/s that kernels reach
    launch: float     # s, of a launch that waits for the one before
    launches: int = 5  # of a layer


@dataclasses.dataclass
class Link:
    name: str
    latency: float    # s, of an exchange of few bytes
    bandwidth: float  # bytes/s of one rank, in and out


def seconds(shape, machine, depth, batch=1, ranks=1, links=()):
    """A step in which each of `batch` sequences gets a token. A sum goes through
    all `links`: first within a node, then between nodes."""
    read = shape.weight_bytes(ranks) + batch * shape.cache_bytes(depth, ranks)
    time = read / machine.bandwidth + machine.launches * shape.layers * machine.launch
    row = 4 * batch * shape.hidden  # f32
    for link in links if ranks > 1 else ():
        time += shape.exchanges() * (link.latency + 2 * row / link.bandwidth)
    return time


# Copies on this card, and a launch such that SmolLM2 at 64 tokens is right: the
# only number that is fitted.
def h200():
    smollm2 = Shape.read(SHAPES / "smollm2-135m" / "config.json")
    machine = Machine("H200", 4.13e12, 0)
    left = 1 / 2241 - seconds(smollm2, machine, 64)
    machine.launch = left / (machine.launches * smollm2.layers)
    return machine


# docs/performance/sm_90.md: shape, tokens before, tokens/s of decode.
MEASURED = [("smollm2-135m", 64, 2241), ("smollm2-135m", 8000, 1825),
            ("llama-3-8b", 64, 242), ("llama-3-8b", 8000, 226), ("llama-3-8b", 31000, 192),
            ("llama-3-8b", 128000, 121), ("opt-6.7b", 64, 267), ("opt-6.7b", 1900, 250)]


def check(_):
    machine = h200()
    print(f"{machine.name}: {machine.bandwidth / 1e12:.2f} TB/s, "
          f"{machine.launch * 1e6:.2f} us a launch (fitted to the first row)\n")
    print("| shape | depth | measured, tokens/s | model | measured to model |")
    print("|---|---:|---:|---:|---:|")
    for name, depth, measured in MEASURED:
        shape = Shape.read(SHAPES / name / "config.json")
        said = 1 / seconds(shape, machine, depth)
        print(f"| {name} | {depth:,} | {measured:,} | {said:,.0f} | {measured / said:.2f} |")


# Not measured here. Peak bandwidth is the vendor's; the part that kernels reach
# is that of the H200 (4.13 of 4.8 TB/s), and so is a launch.
def mi300x():
    known = h200()
    return Machine("MI300X", 5.3e12 * 4.13 / 4.8, known.launch)


# Seven links of 64 GB/s each way in a node, of which a ring of eight uses all;
# half of it for what libraries reach. 400 Gb/s for each card between nodes.
NODE = Link("node", 15e-6, 7 * 64e9 / 2)
NETWORK = Link("network", 30e-6, 50e9 * 0.8)

LARGE = Shape("llama-3-70b", 8192, 28672, 3, 80, 64, 8, 128256)
HUGE = Shape("llama-3-405b", 16384, 53248, 3, 126, 128, 8, 128256)


def table(_):
    machine = mi300x()
    print("| shape | ranks | batch | weights of a rank, GB | exchanged in a step, KiB | "
          "exchanges, share of the time | tokens/s of one | of all |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    small = Shape.read(SHAPES / "llama-3-8b" / "config.json")
    for shape, counts in [(small, (1, 2, 8)), (LARGE, (1, 4, 8, 16)), (HUGE, (8, 16, 64))]:
        for ranks in counts:
            # 192 GB of a card; some is left for the cache.
            if shape.weight_bytes(ranks) > 170e9:
                continue
            links = (NODE, NETWORK) if ranks > 8 else (NODE,)
            for batch in (1, 64):
                time = seconds(shape, machine, 8000, batch, ranks, links)
                alone = time - sum(shape.exchanges()
                                   * (l.latency + 8 * batch * shape.hidden / l.bandwidth)
                                   for l in links if ranks > 1)
                sent = shape.exchanges() * 8 * batch * shape.hidden if ranks > 1 else 0
                print(f"| {shape.name} | {ranks} | {batch} | "
                      f"{shape.weight_bytes(ranks) / 1e9:.1f} | {sent / 1024:,.0f} | "
                      f"{1 - alone / time:.0%} | {1 / time:,.0f} | {batch / time:,.0f} |")


def step(options):
    shape, machine = Shape.read(options.config), mi300x()
    time = seconds(shape, machine, options.depth, options.batch, options.ranks, (NODE,))
    print(f"{shape.name} on {options.ranks} {machine.name}: {time * 1e3:.3f} ms, "
          f"{options.batch / time:,.0f} tokens/s")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("check").set_defaults(run=check)
    commands.add_parser("table").set_defaults(run=table)
    one = commands.add_parser("step")
    one.add_argument("config")
    one.add_argument("--ranks", type=int, default=1)
    one.add_argument("--depth", type=int, default=8000)
    one.add_argument("--batch", type=int, default=1)
    one.set_defaults(run=step)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
