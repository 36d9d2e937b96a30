#!/usr/bin/env python3
# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Other ways to form and to keep clusters, tried in PyTorch before kernels are written for them.

    bench/kv_ideas.py --model model.gguf --plan plan.json --calibration prose.txt --text held-out.txt \\
        --samples samples.jsonl -o ideas.json
    bench/kv_peers.py table --samples samples.jsonl --peers ideas.json

Every head does as the plan says with the cache of a text that was read; what changes is how heads
with clusters make them. The way of the product is "cosine": a token joins the representative with
the largest cosine if that reaches theta, clusters are means, and the logarithm of their size is
added to their score. The others have about as many clusters: their thresholds are searched on
the calibration text, head by head, and do not see the others.

  euclidean         the nearest representative by distance of keys
  query-weighted    the same, where directions count that queries of the text have
  keys and values   the same, of keys and values side by side
  fitted values     clusters of "cosine"; values such that attention of the text's last queries
                    comes out as it was (ridge regression towards the means)
  fitted masses     clusters of "cosine"; what is added to scores is what the members' scores of
                    those queries add up to, relative to that of their mean
  fitted            both
  masses in logs    as fitted masses, but a mean of logarithms: queries that look at a cluster most
                    count no more than their attention
  spread            clusters of "cosine"; what members' scores add up to is estimated from how much
                    their keys differ, in directions that queries have: half the variance of their
                    scores, at most 1
  spread, plain     the same where all directions count alike: one more number for each cluster
  shared            members are those of a head of a layer before, the one that fits best on the
                    calibration text
  8 bits, 4 bits    clusters of "cosine", in blocks of 32 numbers with a scale and a minimum
  spread, 4 bits    both
  3-bit linears     no clusters; down projections rounded to the nearest of 3 bits
  3-bit and cosine  both: whether losses of the two add up
"""

import argparse
import json
import time
from pathlib import Path

import kv_torch
import results
from kv_torch import say

BLOCK = 64          # tokens that are compared with all representatives at once
WATCHED = 1024      # last queries of a text that attention is fitted to
RIDGE = 1e-2        # relative to the mean of the diagonal


class Block:
    """The order-dependent part of a covering: which tokens of a block become representatives, for
    many streams at once. On a GPU it is one graph, because its steps are many and small."""

    def __init__(self, torch, streams, device):
        def new(*shape, value=0.0, dtype=torch.float):
            return torch.full((streams, *shape), value, dtype=dtype, device=device)

        self.best = new(BLOCK)                      # squared distance to the nearest earlier representative
        self.which = new(BLOCK, value=0, dtype=torch.long)  # index of that representative
        self.within = new(BLOCK, BLOCK)             # squared distances among the block's tokens
        self.numbers = new(value=0, dtype=torch.long)       # earlier representatives
        self.limits = new()
        self.graph, self.torch = None, torch
        if device != "cpu":
            try:
                self.steps()  # allocates everything before the capture
                torch.cuda.synchronize()
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph):
                    self.steps()
                self.graph = graph
            except Exception as error:
                say(f"without a graph: {error}")

    def steps(self):
        torch = self.torch
        # Distances to tokens of the block that are representatives; infinite for others.
        founded = torch.full_like(self.within, float("inf"))
        self.chosen = torch.zeros_like(self.which)
        numbers, self.founds = self.numbers.clone(), torch.zeros_like(self.which, dtype=torch.bool)
        for i in range(BLOCK):
            near, at = founded[:, i].min(-1)
            founds = torch.minimum(near, self.best[:, i]) > self.limits
            ids = torch.where(near < self.best[:, i], self.chosen.gather(1, at[:, None])[:, 0],
                              self.which[:, i])
            self.chosen[:, i] = torch.where(founds, numbers, ids)
            self.founds[:, i] = founds
            founded[:, :, i].masked_fill_(founds[:, None], 0).add_(
                self.within[:, :, i].masked_fill(~founds[:, None], 0))
            numbers += founds

    def run(self):
        self.graph.replay() if self.graph else self.steps()


def cover(torch, rows, limits, blocks={}):
    """The greedy covering of streams (S x T x d): a token joins the nearest representative within
    a squared distance, or becomes one. Returns the index of each token's representative and
    their number."""
    streams, count, width = rows.shape
    key = streams, str(rows.device)
    if key not in blocks:
        blocks[key] = Block(torch, streams, rows.device.type)
    state = blocks[key]
    there = torch.zeros(streams, count, width, device=rows.device)
    sizes = torch.full((streams, count), float("inf"), device=rows.device)  # |r|^2
    numbers = torch.zeros(streams, dtype=torch.long, device=rows.device)
    member = torch.zeros(streams, count, dtype=torch.long, device=rows.device)
    state.limits.copy_(limits)
    most = 0
    for begin in range(0, count, BLOCK):
        block = rows[:, begin:begin + BLOCK]
        size, norms = block.shape[1], (block ** 2).sum(-1)
        # Padding tokens join some cluster and never start one.
        state.best.fill_(float("-inf"))
        state.best[:, :size] = float("inf")
        if most:
            far = sizes[:, None, :most] - 2 * block @ there[:, :most].transpose(1, 2)
            state.best[:, :size], state.which[:, :size] = (far + norms[..., None]).min(-1)
        state.within[:, :size, :size] = norms[:, :, None] + norms[:, None] \
            - 2 * block @ block.transpose(1, 2)
        state.numbers.copy_(numbers)
        state.run()
        member[:, begin:begin + size] = state.chosen[:, :size]
        stream, token = state.founds[:, :size].nonzero(as_tuple=True)
        slot = state.chosen[stream, token]
        there[stream, slot], sizes[stream, slot] = block[stream, token], norms[stream, token]
        numbers += state.founds[:, :size].sum(-1)
        most = int(numbers.max())
    return member, numbers


def rounded(torch, rows, bits):
    """Rounds to blocks of 32 numbers with a scale and a minimum."""
    parts = rows.reshape(*rows.shape[:-1], -1, 32)
    low, high = parts.amin(-1, keepdim=True), parts.amax(-1, keepdim=True)
    step = ((high - low) / (2 ** bits - 1)).clamp(min=1e-8)
    return (((parts - low) / step).round() * step + low).reshape(rows.shape)


class Text:
    """Keys, values and queries of a text in every head with clusters (the streams)."""

    def __init__(self, ideas, tokens):
        model, torch = ideas.model, ideas.model.torch
        self.tokens, self.clusterings = tokens, {}
        queries = {}

        def look(layer, query):
            queries[layer] = query[0].float()

        model.on_query = look
        self.past = model.read(tokens)
        model.on_query = None
        self.keys = torch.stack([layer.keys[0].float() for layer in self.past.cache.layers])
        self.values = torch.stack([layer.values[0].float() for layer in self.past.cache.layers])
        query = torch.stack([queries[i] for i in range(len(queries))])
        kv = self.keys.shape[1]
        # layers x KV heads x query heads of each x queries x d
        self.queries = query.view(query.shape[0], kv, -1, query.shape[2], query.shape[3])
        self.k, self.v = self.keys[ideas.layer, ideas.head], self.values[ideas.layer, ideas.head]
        self.q = self.queries[ideas.layer, ideas.head]

    def forget_queries(self):
        self.queries = None


class Ideas:
    def __init__(self, model, plan):
        self.model, self.plan = model, plan["layers"]
        self.heads = [(number, head) for number, layer in enumerate(self.plan)
                      for head, choice in enumerate(layer["heads"])
                      if isinstance(choice, dict) and "theta" in choice]
        torch = model.torch
        self.layer = torch.tensor([layer for layer, _ in self.heads], device=model.device)
        self.head = torch.tensor([head for _, head in self.heads], device=model.device)
        self.choices = [self.plan[layer]["heads"][head] for layer, head in self.heads]
        thetas = torch.tensor([choice["theta"] for choice in self.choices], device=model.device)
        self.limits = {"cosine": 2 - 2 * thetas}  # |x - y|^2 of unit vectors
        self.scales = {}
        self.text = None
        self.donors = list(range(len(self.heads)))

    def rows(self, text, metric):
        """Rows whose distances measure how much tokens differ: S x T x d."""
        torch = self.model.torch
        if metric == "cosine":
            return text.k / text.k.norm(dim=-1, keepdim=True).clamp(min=1e-8)
        if metric == "euclidean":
            return text.k
        if metric == "query-weighted":
            queries = text.q.flatten(1, 2)
            moment = queries.transpose(1, 2) @ queries / queries.shape[1]
            values, vectors = torch.linalg.eigh(moment)
            return text.k @ (vectors * values.clamp(min=0).sqrt()[:, None])
        scale = text.k.std(dim=(1, 2)) / text.v.std(dim=(1, 2))
        return torch.cat([text.k, text.v * scale[:, None, None]], dim=-1)

    def clustering(self, text, metric):
        if metric not in text.clusterings:
            text.clusterings[metric] = cover(self.model.torch, self.rows(text, metric),
                                             self.limits[metric])
        return text.clusterings[metric]

    def calibrate(self, tokens, steps, ways):
        """Finds thresholds that give as many clusters as the plan's, and for each head the earlier
        head whose members fit it best (its donor)."""
        torch, text = self.model.torch, Text(self, tokens)
        member, wanted = self.clustering(text, "cosine")
        for metric in ("euclidean", "query-weighted", "keys and values"):
            if metric not in ways:
                continue
            rows = self.rows(text, metric)
            low = torch.zeros(len(self.heads), device=rows.device)
            high = 4 * (rows ** 2).sum(-1).amax(-1)
            for _ in range(steps):
                # A geometric mean, since distances span orders of magnitude.
                middle = ((low + 1e-4 * high) * high).sqrt()
                _, numbers = cover(torch, rows, middle)
                fewer = numbers < wanted
                high, low = torch.where(fewer, middle, high), torch.where(fewer, low, middle)
            self.limits[metric] = (low + high) / 2
            _, numbers = cover(torch, rows, self.limits[metric])
            say(f"{metric}: {int(numbers.sum())} clusters where cosine has {int(wanted.sum())}")
        # The donor is the earlier head whose clusters have means closest to this head's keys.
        for stream, (layer, _) in enumerate(self.heads):
            best = None
            for donor, (earlier, _) in enumerate(self.heads):
                if not layer - 4 <= earlier < layer or not \
                        .5 < float(wanted[donor]) / float(wanted[stream]) < 1.5:
                    continue
                keys = text.k[stream]
                means = torch.zeros(int(wanted[donor]), keys.shape[-1], device=keys.device)
                size = torch.zeros(len(means), 1, device=keys.device)
                means.index_add_(0, member[donor], keys)
                size.index_add_(0, member[donor], torch.ones_like(keys[:, :1]))
                error = float(((means / size)[member[donor]] - keys).norm(dim=-1).mean())
                if best is None or error < best:
                    best, self.donors[stream] = error, donor
        given = sum(donor != stream for stream, donor in enumerate(self.donors))
        say(f"shared: {given} of {len(self.heads)} heads take the members of an earlier one")

    def merge(self, text, way):
        """Keys, values and biases of each stream's clusters of tokens before its window."""
        torch = self.model.torch
        metric = way if way in self.limits else "cosine"
        member, numbers = self.clustering(text, metric)
        found = []
        for stream, choice in enumerate(self.choices):
            donor = self.donors[stream] if way == "shared" else stream
            old = max(0, len(text.tokens) - choice["window"])
            ids, count = member[donor, :old], int(numbers[donor])
            keys, values = text.k[stream, :old], text.v[stream, :old]
            size = torch.zeros(count, device=keys.device).index_add_(
                0, ids, torch.ones(old, device=keys.device))
            ids = (size > 0).cumsum(0)[ids] - 1  # without clusters that only have tokens of the window
            size = size[size > 0]
            k = torch.zeros(len(size), keys.shape[-1], device=keys.device).index_add_(0, ids, keys)
            v = torch.zeros_like(k).index_add_(0, ids, values)
            k, v, bias = k / size[:, None], v / size[:, None], size.log()
            if way.startswith("spread"):
                bias = bias + self.spread(text, stream, ids, size, way)
            if way in FITTED:
                k, v, bias = self.fit(text, stream, ids, k, v, bias, way)
            if way.endswith("bits"):
                bits = int(way.split()[-2])
                k, v = rounded(torch, k, bits), rounded(torch, v, bits)
            found.append((k, v, bias))
        return found

    def spread(self, text, stream, ids, size, way):
        """Log of the members' summed exp(score) relative to as many copies of their mean: about
        half the variance of their scores over queries."""
        torch, queries = self.model.torch, text.q[stream].flatten(0, 1)
        rows = text.k[stream, :len(ids)]
        moment = queries.T @ queries / len(queries)
        if way == "spread, plain":
            rows = rows * moment.diagonal().mean().sqrt()
        else:
            values, vectors = torch.linalg.eigh(moment)
            rows = rows @ (vectors * values.clamp(min=0).sqrt())
        means = torch.zeros(len(size), rows.shape[-1], device=rows.device).index_add_(0, ids, rows)
        squares = torch.zeros_like(size).index_add_(0, ids, (rows ** 2).sum(-1))
        variance = squares / size - ((means / size[:, None]) ** 2).sum(-1)
        return (variance.clamp(min=0) / rows.shape[-1] / 2).clamp(max=1)

    def fit(self, text, stream, ids, k, v, bias, way):
        """Fits masses and values to the attention of the last queries."""
        torch = self.model.torch
        old = len(ids)
        # No causal mask: these queries stand for those that come after the text.
        queries = text.q[stream][:, -WATCHED:].flatten(0, 1) / k.shape[-1] ** .5
        scores = queries @ text.k[stream].T
        exact = scores[:, old:]
        whole = scores.logsumexp(-1, keepdim=True)
        if way != "fitted values":
            # Weighted by attention: a query that ignores a cluster has no influence on it.
            mass = torch.zeros(len(queries), len(k), device=k.device)
            mass.index_add_(1, ids, (scores[:, :old] - whole).exp())
            alone = (queries @ k.T - whole).exp()
            if way == "masses in logs":
                ratio = (mass.clamp(min=1e-20) / alone.clamp(min=1e-20)).log()
                bias = (mass * ratio).sum(0) / mass.sum(0).clamp(min=1e-20)
            else:
                bias = (mass.sum(0) / alone.sum(0).clamp(min=1e-20)).clamp(min=1e-3).log()
            # A cluster has at least the mass of one token.
            bias = bias.clamp(min=0)
        if way in ("fitted", "fitted values"):
            wanted = (scores - whole).exp() @ text.v[stream]
            ours = torch.cat([queries @ k.T + bias, exact], dim=-1).softmax(-1)
            error = wanted - ours @ torch.cat([v, text.v[stream, old:]])
            seen = ours[:, :len(k)]
            gram = seen @ seen.T
            gram.diagonal().add_(RIDGE * gram.diagonal().mean())
            v = v + seen.T @ torch.linalg.solve(gram, error)
        return k, v, bias

    def read(self, way):
        """A function that reads a text and keeps the part of its cache that the plan says."""
        from transformers import DynamicCache
        torch = self.model.torch

        def past_of(tokens):
            if self.text is None or self.text.tokens != tokens:
                self.text = None
                self.text = Text(self, tokens)
                self.text.forget_queries()
            text = self.text
            merged = dict(zip(self.heads, self.merge(text, way)))
            cache, biases, rows, packed = DynamicCache(), [], 0, 0
            for number, layer in enumerate(self.plan):
                parts = []
                for head, choice in enumerate(layer["heads"]):
                    keys, values = text.keys[number, head], text.values[number, head]
                    if choice == "dense" or "window" not in choice:
                        parts.append((keys, values, keys.new_zeros(len(keys))))
                        rows += len(keys)
                        continue
                    old = max(0, len(keys) - choice["window"])
                    rows += len(keys) - old
                    if (number, head) in merged:
                        k, v, bias = merged[number, head]
                        packed += len(k)
                    else:
                        sinks = min(choice.get("sinks", 0), old)
                        k, v, bias = keys[:sinks], values[:sinks], keys.new_zeros(sinks)
                        rows += sinks
                    parts.append((torch.cat([k, keys[old:]]), torch.cat([v, values[old:]]),
                                  torch.cat([bias, bias.new_zeros(len(keys) - old)])))
                most = max(len(k) for k, _, _ in parts)
                width = parts[0][0].shape[-1]
                k = text.keys.new_zeros(1, len(parts), most, width)
                v, bias = torch.zeros_like(k), k.new_full((len(parts), most), float("-inf"))
                for head, part in enumerate(parts):
                    k[0, head, :len(part[0])], v[0, head, :len(part[0])] = part[:2]
                    bias[head, :len(part[0])] = part[2]
                cache.update(k.to(self.model.dtype), v.to(self.model.dtype), number)
                biases.append(bias.to(self.model.dtype))
            # Scales and minima of 16 bits for 32 numbers.
            bits = int(way.split()[-2]) + 1 if way.endswith("bits") else 16
            size = 2 * width * (16 * rows + bits * packed) / 8
            return kv_torch.Past(cache, len(tokens), size, text.past.peak, biases)

        return past_of


FITTED = ("fitted values", "fitted masses", "fitted", "masses in logs")
WAYS = ("cosine", "euclidean", "query-weighted", "keys and values", *FITTED, "spread",
        "spread, plain", "shared", "8 bits", "4 bits", "spread, 4 bits")
LINEARS = ("3-bit linears", "3-bit and cosine")


def round_linears(model):
    """Down projections in 3 bits; gives back what undoes it."""
    kept = [layer.mlp.down_proj.weight.data for layer in model.layers]
    for layer in model.layers:
        weight = layer.mlp.down_proj.weight
        weight.data = rounded(model.torch, weight.data.float(), 3).to(weight.dtype)

    def undo():
        for layer, weight in zip(model.layers, kept):
            layer.mlp.down_proj.weight.data = weight

    return undo


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, metavar="GGUF")
    parser.add_argument("--plan", required=True, metavar="JSON")
    parser.add_argument("--calibration", required=True, metavar="FILE", help="text to search thresholds on")
    parser.add_argument("--calibration-tokens", type=int, default=7168)
    parser.add_argument("--text", action="append", default=[], metavar="FILE")
    parser.add_argument("--windows", type=int, default=2, help="places in a text where it goes on")
    parser.add_argument("--samples", required=True, metavar="JSONL")
    parser.add_argument("--count", type=int, default=1 << 30, help="samples of each task at most")
    parser.add_argument("--part", type=lambda text: tuple(map(int, text.split("/"))), default=(0, 1))
    parser.add_argument("--steps", type=int, default=10, help="of the search for a threshold")
    parser.add_argument("--ways", type=lambda text: text.split(";"), default=WAYS + LINEARS,
                        metavar="NAME;…", help="which of the list above; default: all")
    parser.add_argument("--seconds", type=float, default=0, help="stop after so many; 0: never")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("-o", "--output", required=True)
    options = parser.parse_args()
    started = time.monotonic()
    model = kv_torch.Model(options.model, options.device)
    torch = model.torch
    texts = kv_torch.read_texts(model, options.text)
    samples = kv_torch.read_samples(options.samples, options.count, options.part)
    model.check_tokens(samples[:18])
    ideas = Ideas(model, json.loads(Path(options.plan).read_text()))
    calibration = kv_torch.read_texts(model, [options.calibration]).popitem()[1]
    with torch.no_grad():
        ideas.calibrate(calibration[:options.calibration_tokens], options.steps, options.ways)
    say(f"ready after {time.monotonic() - started:.0f} s")
    # Name, how a text is read, and what is done to the model before and undone afterwards.
    methods = [("dense", model.read, None)]
    methods += [(way, ideas.read(way), None) for way in WAYS if way in options.ways]
    methods += [(way, model.read if way == LINEARS[0] else ideas.read("cosine"), round_linears)
                for way in LINEARS if way in options.ways]
    found = {name: {"name": name, "share": 1.0, "samples": [], "texts": []} for name, _, _ in methods}

    def measure(what, probe):
        for name, read, change in methods:
            method = found[name]
            if "error" in method:
                continue
            undo = None
            if change:
                ideas.text, undo = None, change(model)
            try:
                method[what].extend(probe(read))
            except Exception as error:  # one idea that fails does not end the others
                method["error"] = f"{type(error).__name__}: {error}"
                say(f"{name}: left out: {method['error']}")
            finally:
                if undo:
                    undo()
                    ideas.text = None
        Path(options.output).write_text(json.dumps({
            "gist_kv_peers": 1, **results.about(), "engine": "idea", "device": options.device,
            "methods": list(found.values())}) + "\n")

    def over():
        return 0 < options.seconds < time.monotonic() - started

    def probes():
        for name, tokens in texts.items():
            for probe in kv_torch.text_probes(model, name, tokens, options.windows):
                yield "texts", probe
        for sample in samples:
            yield "samples", lambda read: [kv_torch.ask(model, sample, read)]

    for number, (what, probe) in enumerate(probes()):
        if over():
            say(f"stopped by --seconds after {number} probes")
            break
        measure(what, probe)


if __name__ == "__main__":
    main()
