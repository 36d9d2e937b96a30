#!/usr/bin/env python3
# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds a plan for an encoder of sentences (BERT, MiniLM) at a named quality.

    bench/encoder_plan.py MODEL_FOLDER -o plan.json --quality 0.995 TEXT...

Every head may stay dense or attend to means of clusters of its keys, with one of
a few thresholds. For each head and threshold one pass over the texts gives the
error that it alone adds to the layer's output and the work it saves. The
errors of heads are taken to add up in squares; one multiplier weighs them
against the work. It is then chosen by bisection so that the embeddings of all
texts, computed with the whole plan, keep the quality, the cosine to dense, with
a margin for texts not seen.

The search is deterministic. It needs NumPy, torch, safetensors and tokenizers
(test/requirements.txt).
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer

TAUS = [0.1, 0.2, 0.3, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7]


def covering(x, tau):
    """The greedy covering of rows, looking both ways for the nearest: ids and
    for each token which of them it belongs to. Signed cosine."""
    unit = x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-30)
    cos = unit @ unit.T
    theta = np.float32(1) - np.float32(tau) ** 2
    covered = np.zeros(len(x), bool)
    kept = []
    for t in range(len(x)):
        if covered[t]:
            continue
        kept.append(t)
        covered[t + 1 :] |= cos[t, t + 1 :] >= theta
    kept = np.array(kept)
    owner = cos[:, kept].argmax(axis=1)
    owner[kept] = np.arange(len(kept))
    return kept, owner


def selection_work(kept, total, width):
    """Multiply-adds of a covering that looks both ways: every token meets the
    representatives before it, redundant ones those behind them as well."""
    before = np.searchsorted(kept, np.arange(total))
    redundant = np.ones(total, bool)
    redundant[kept] = False
    return int((before.sum() + (len(kept) - before)[redundant].sum()) * width)


def attend(q, k, v, tau):
    """Attention of one head on means of clusters; tau = 0: on all tokens.
    Also its multiply-adds, relative to dense."""
    total, width = q.shape
    scale = width**-0.5
    if tau == 0:
        return torch.softmax(q @ k.T * scale, -1) @ v, 1.0
    kept, owner = covering(k.numpy(), tau)
    r = len(kept)
    index = torch.from_numpy(owner)
    count = torch.bincount(index, minlength=r).float()
    mean_k = torch.zeros(r, width).index_add_(0, index, k) / count[:, None]
    mean_v = torch.zeros(r, v.shape[1]).index_add_(0, index, v) / count[:, None]
    out = torch.softmax(q @ mean_k.T * scale + count.log(), -1) @ mean_v
    work = 2 * total * r * width + selection_work(kept, total, width)
    return out, work / (2 * total * total * width)


class Encoder:
    """BERT as sentence-transformers run it: mean of tokens, unit length."""

    def __init__(self, folder):
        folder = Path(folder)
        self.config = json.loads((folder / "config.json").read_text())
        self.weights = {
            name.removeprefix("bert."): value.float()
            for name, value in load_file(folder / "model.safetensors").items()
        }
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(self.config["max_position_embeddings"])
        self.layers = self.config["num_hidden_layers"]
        self.heads = self.config["num_attention_heads"]

    def linear(self, x, name):
        return x @ self.weights[name + ".weight"].T + self.weights[name + ".bias"]

    def norm(self, x, name):
        return torch.nn.functional.layer_norm(
            x, x.shape[-1:], self.weights[name + ".weight"], self.weights[name + ".bias"],
            self.config["layer_norm_eps"])

    def start(self, ids):
        w = self.weights
        x = w["embeddings.word_embeddings.weight"][ids]
        x = x + w["embeddings.position_embeddings.weight"][: len(ids)]
        return self.norm(x + w["embeddings.token_type_embeddings.weight"][0],
                         "embeddings.LayerNorm")

    def split(self, x, layer):
        """Queries, keys and values: heads x tokens x size."""
        at = f"encoder.layer.{layer}.attention.self."
        return [self.linear(x, at + name).unflatten(-1, (self.heads, -1)).transpose(0, 1)
                for name in ("query", "key", "value")]

    def layer(self, x, layer, taus):
        """The next activations, and the work of each head."""
        at = f"encoder.layer.{layer}."
        outputs, work = zip(*(attend(q, k, v, tau) for q, k, v, tau in
                              zip(*self.split(x, layer), taus)))
        a = self.linear(torch.cat(outputs, -1), at + "attention.output.dense")
        x = self.norm(x + a, at + "attention.output.LayerNorm")
        h = torch.nn.functional.gelu(self.linear(x, at + "intermediate.dense"))
        return self.norm(x + self.linear(h, at + "output.dense"), at + "output.LayerNorm"), work

    def embed(self, ids, plan):
        x, work = self.start(ids), []
        for layer, taus in enumerate(plan):
            x, part = self.layer(x, layer, taus)
            work += part
        return torch.nn.functional.normalize(x.mean(0), dim=0), float(np.mean(work))

    def dense(self):
        return [[0.0] * self.heads for _ in range(self.layers)]


def measure(model, texts):
    """error[layer, head, tau] and work[...]: what one head does alone."""
    shape = (model.layers, model.heads, 1 + len(TAUS))
    error, work = np.zeros(shape), np.ones(shape)
    work[:, :, 1:] = 0
    for ids in texts:
        x = model.start(ids)
        for layer in range(model.layers):
            out = model.weights[f"encoder.layer.{layer}.attention.output.dense.weight"]
            size = out.shape[1] // model.heads
            for head, (q, k, v) in enumerate(zip(*model.split(x, layer))):
                exact, _ = attend(q, k, v, 0)
                for number, tau in enumerate(TAUS, 1):
                    got, cost = attend(q, k, v, tau)
                    part = (got - exact) @ out[:, head * size : (head + 1) * size].T
                    error[layer, head, number] += float(
                        (part.norm() / x.norm()) ** 2) / len(texts)
                    work[layer, head, number] += cost / len(texts)
            x, _ = model.layer(x, layer, [0] * model.heads)
    return error, work


def choose(error, work, multiplier):
    """The cheapest threshold for each head when errors cost so much."""
    best = (work + multiplier * error).argmin(axis=-1)
    return [[([0.0] + TAUS)[i] for i in row] for row in best]


def quality_of(model, texts, dense, plan):
    results = [model.embed(ids, plan) for ids in texts]
    cosines = [float(got @ want) for (got, _), want in zip(results, dense)]
    return min(cosines), max(work for _, work in results)


def solve(model, texts, quality, margin, report):
    dense = [model.embed(ids, model.dense())[0] for ids in texts]
    error, work = measure(model, texts)
    asked = 1 - (1 - quality) * margin
    low, high = 0.0, 9.0  # powers of ten of the multiplier
    best = model.dense()
    for _ in range(12):
        middle = (low + high) / 2
        plan = choose(error, work, 10**middle)
        got, cost = quality_of(model, texts, dense, plan)
        report(f"multiplier 1e{middle:.2f}: cosine {got:.5f}, work {cost:.3f}")
        if got >= asked:
            best, high = plan, middle
        else:
            low = middle
    return best


def write_plan(plan):
    layers = []
    for taus in plan:
        if not any(taus):
            layers.append({})
            continue
        layers.append({"selection": {"on": "keys", "tau": taus, "similarity": "signed"},
                       "attend": {"mode": "keys", "merge": "mean"}})
    return {"gist_plan": 1, "layers": layers}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", help="folder of the model")
    parser.add_argument("texts", nargs="+", help="texts to calibrate on")
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--quality", type=float, default=0.995,
                        help="cosine to the dense embedding that every text keeps")
    parser.add_argument("--margin", type=float, default=0.35,
                        help="share of the allowance that texts to calibrate on may use")
    options = parser.parse_args()
    if not 0 < options.quality < 1 or not 0 < options.margin <= 1:
        sys.exit("quality is between 0 and 1, margin above 0 and at most 1")
    torch.manual_seed(0)
    model = Encoder(options.model)
    texts = [model.tokenizer.encode(Path(text).read_text()).ids for text in options.texts]
    with torch.no_grad():
        plan = solve(model, texts, options.quality, options.margin,
                     lambda line: print(line, file=sys.stderr))
        dense = [model.embed(ids, model.dense())[0] for ids in texts]
        cosine, work = quality_of(model, texts, dense, plan)
    Path(options.output).write_text(json.dumps(write_plan(plan), indent=1) + "\n")
    print(f"cosine {cosine:.5f}, attention work {work:.3f} of dense (the worst of "
          f"{len(texts)} texts)")


if __name__ == "__main__":
    main()
