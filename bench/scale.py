#!/usr/bin/env python3
# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a step of decode costs on several ranks, by a model of four numbers.

    python3 bench/scale.py check        # the model beside what was measured on one H200
    python3 bench/scale.py table        # what it says of eight MI300X, and of nodes of them
    python3 bench/scale.py step bench/gpu/llama-3-8b/config.json --ranks 8

A step reads the weights of its rank and the cache of its sequences, launches
kernels, and gathers four times in a layer: what attention gives, the result of
its output projection, what the second half of the feed-forward block reads, and
its result. With --rank-sums it adds a row of the residual stream twice instead:

    seconds = (weights / ranks + cache / ranks) / bandwidth + launches * launch
              + exchanges * latency + bytes of all exchanges / link

Nothing overlaps: kernels wait for the exchange before them. docs/scale.md has the
results.
"""

import argparse
import dataclasses
import json
import math
import pathlib

import results

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
        """Bytes of weights that a rank reads for a token; of the embedding table only a row
        is read, which is not counted."""
        return self.bytes * (self.layers * self.layer_weights()
                             + self.vocab * self.hidden) / ranks

    def cache_bytes(self, depth, ranks):
        """Bytes of the cache of one sequence; a rank has at least one KV head."""
        heads = max(math.ceil(self.kv_heads / ranks), 1)
        return 2 * 2 * self.layers * depth * heads * self.head_size()

    def exchanges(self, sums):
        return (2 if sums else 4) * self.layers + 1  # in layers, and the logits

    def exchanged_bytes(self, batch, sums):
        """Bytes that a rank sends or receives in a step, in f32. A sum sends and receives
        a row; the logits count as a row of the residual stream's size."""
        if sums:
            return self.exchanges(sums) * 2 * 4 * batch * self.hidden
        row = self.heads * self.head_size() + self.ffn + 2 * self.hidden
        return 4 * batch * (self.layers * row + 2 * self.hidden)


@dataclasses.dataclass
class Machine:
    name: str
    bandwidth: float  # bytes/s that kernels reach
    launch: float     # seconds of a launch that waits for the one before
    launches: int = 5  # of a layer


@dataclasses.dataclass
class Link:
    name: str
    latency: float    # seconds of an exchange of few bytes
    bandwidth: float  # bytes/s of one rank in each direction


def exchange_seconds(shape, batch, ranks, links, sums):
    """An exchange goes through all `links`: within a node, then between nodes."""
    if ranks == 1:
        return 0
    return sum(shape.exchanges(sums) * link.latency
               + shape.exchanged_bytes(batch, sums) / link.bandwidth for link in links)


def seconds(shape, machine, depth, batch=1, ranks=1, links=(), sums=False):
    """A step in which each of `batch` sequences gets a token."""
    read = shape.weight_bytes(ranks) + batch * shape.cache_bytes(depth, ranks)
    time = read / machine.bandwidth + machine.launches * shape.layers * machine.launch
    return time + exchange_seconds(shape, batch, ranks, links, sums)


# Copies on this card, and a launch such that SmolLM2 at 64 tokens is right: the
# only number that is fitted.
def h200():
    smollm2 = Shape.read(SHAPES / "smollm2-135m" / "config.json")
    machine = Machine("H200", 4.13e12, 0)
    left = 1 / measured()["smollm2-135m", 64] - seconds(smollm2, machine, 64)
    machine.launch = left / (machine.launches * smollm2.layers)
    return machine


def measured():
    """{(shape, tokens before): tokens/s of decode}, of docs/performance/sm_90.md."""
    rows = results.read("sm_90-models")["rows"]
    return {(row[0], row[2]): row[3] for row in rows if row[1] == "decode"}


def show(columns, rows, options):
    print(results.markdown(columns, rows))
    if options.json:
        results.write(options.json, columns, rows, machine="arithmetic", commit=None)


def check(options):
    machine = h200()
    print(f"{machine.name}: {machine.bandwidth / 1e12:.2f} TB/s, "
          f"{machine.launch * 1e6:.2f} us a launch (fitted to the first row)\n")
    rows = []
    for (name, depth), rate in measured().items():
        said = 1 / seconds(Shape.read(SHAPES / name / "config.json"), machine, depth)
        rows.append([name, depth, rate, said, rate / said])
    show({"shape": None, "depth": None, "measured, tokens/s": 0, "model": 0,
          "measured to model": 2}, rows, options)


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


def table(options):
    machine = mi300x()
    columns = {"shape": None, "ranks": None, "batch": None, "weights of a rank, GB": 1,
               "exchanged in a step, KiB": 0, "exchanges, share of the time": None,
               "tokens/s of one": 0, "of all": 0, "of one with --rank-sums": 0}
    rows = []
    small = Shape.read(SHAPES / "llama-3-8b" / "config.json")
    for shape, counts in [(small, (1, 2, 8)), (LARGE, (1, 4, 8, 16)), (HUGE, (8, 16, 64))]:
        for ranks in counts:
            # 192 GB of a card; some is left for the cache.
            if shape.weight_bytes(ranks) > 170e9:
                continue
            links = (NODE, NETWORK) if ranks > 8 else (NODE,)
            for batch in (1, 64):
                time = seconds(shape, machine, 8000, batch, ranks, links)
                share = exchange_seconds(shape, batch, ranks, links, False) / time
                sent = shape.exchanged_bytes(batch, False) if ranks > 1 else 0
                summed = seconds(shape, machine, 8000, batch, ranks, links, sums=True)
                rows.append([shape.name, ranks, batch, shape.weight_bytes(ranks) / 1e9,
                             sent / 1024, f"{share:.0%}", 1 / time, batch / time, 1 / summed])
    show(columns, rows, options)


def step(options):
    shape, machine = Shape.read(options.config), mi300x()
    time = seconds(shape, machine, options.depth, options.batch, options.ranks, (NODE,))
    print(f"{shape.name} on {options.ranks} {machine.name}: {time * 1e3:.3f} ms, "
          f"{options.batch / time:,.0f} tokens/s")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name, function in (("check", check), ("table", table)):
        command = commands.add_parser(name)
        command.add_argument("--json", metavar="FILE", help="also write JSON")
        command.set_defaults(run=function)
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
