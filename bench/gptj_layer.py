#!/usr/bin/env python3
# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One GPT-J block with random weights: bytes read for a token against the error.

    bench/gptj_layer.py --build build/release -o NAME

Writes a model of one layer of GPT-J 6B's size, its weights random in f16, whose
tokens give activations of a low effective rank, which is what gated projections
are for: decaying energy in 256 directions, and outside of them a twentieth of a
row's length, or for one token in five a quarter. Plans for it are compiled like
those of any model. Bases are learnt from other tokens than those measured, and
so is what a graded layer does: where most rows that it read would close a gate
it is one of three levels, elsewhere the rounded weight is always read and what
rounding changes in the subspace is added again. The error is that of the rows
after the block and the last norm, relative to the model without a plan (the
block is all that they come from: the embeddings are small). Bytes are those of V
(read twice by gates), M, W_low and W of the six linear layers, as far as gates
ask for them. Writes NAME.json, for gist-plan report. Needs NumPy.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import results

VOCABULARY = 1536
#: The first tokens are those that bases are learnt from.
LEARNT = 1024
RANK = 256
#: bits -> bytes of a block of 32
BLOCKS = {4: 20, 3: 16, 2: 12}
#: Bytes of a number in 8 bits, with its share of the scale of 32.
BYTES_8 = 34 / 32
#: Rows nearer to the subspace than this close a gate; none is farther than FAR.
NEAR, FAR = 0.1, 0.95
FORMS = {"f16": None}
FORMS |= {f"plain, {bits} bits": {"bits": bits} for bits in BLOCKS}
FORMS |= {f"gated, k {k}, epsilon {e}": {"k": k, "epsilon": e}
          for k, e in ((256, 0.1), (256, 0.5))}
FORMS |= {f"graded, k {k}, {bits} bits": {"k": k, "bits": bits, "graded": True}
          for k, bits in ((256, 4), (256, 3), (256, 2), (64, 3), (64, 2))}


def write_safetensors(path, tensors):
    header, offset = {}, 0
    kinds = {np.dtype(np.float16): "F16", np.dtype(np.float32): "F32"}
    for name, value in tensors.items():
        header[name] = {"dtype": kinds[value.dtype], "shape": list(value.shape),
                        "data_offsets": [offset, offset + value.nbytes]}
        offset += value.nbytes
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for value in tensors.values():
            file.write(np.ascontiguousarray(value).tobytes())


def make_model(folder, size, inner, heads):
    random = np.random.default_rng(7)
    rank = min(RANK, size // 4)
    directions = np.linalg.qr(random.standard_normal((size, rank)))[0].T
    energy = np.exp(-np.arange(rank) / 48)
    x = (random.standard_normal((VOCABULARY, rank)) * np.sqrt(energy)) @ directions
    outside = random.standard_normal((VOCABULARY, size))
    share = np.where(np.arange(VOCABULARY) % 5 == 0, 0.25, 0.05)
    scale = share * np.linalg.norm(x, axis=1) / np.linalg.norm(outside, axis=1)
    x = 1e-3 * (x + scale[:, None] * outside)

    def weight(rows, columns):
        return (0.02 * random.standard_normal((rows, columns), np.float32)).astype(np.float16)

    block = "transformer.h.0."
    tensors = {"transformer.wte.weight": x.astype(np.float32)}
    for name in "qkv":
        tensors[f"{block}attn.{name}_proj.weight"] = weight(size, size)
    tensors |= {f"{block}attn.out_proj.weight": weight(size, size),
                f"{block}mlp.fc_in.weight": weight(inner, size),
                f"{block}mlp.fc_in.bias": np.zeros(inner, np.float32),
                f"{block}mlp.fc_out.weight": weight(size, inner),
                f"{block}mlp.fc_out.bias": np.zeros(size, np.float32),
                "lm_head.weight": weight(VOCABULARY, size),
                "lm_head.bias": np.zeros(VOCABULARY, np.float32)}
    for name in (f"{block}ln_1", "transformer.ln_f"):
        tensors |= {f"{name}.weight": np.ones(size, np.float32),
                    f"{name}.bias": np.zeros(size, np.float32)}
    folder.mkdir()
    write_safetensors(folder / "model.safetensors", tensors)
    (folder / "config.json").write_text(json.dumps({
        "model_type": "gptj", "architectures": ["GPTJForCausalLM"],
        "activation_function": "gelu_new", "layer_norm_epsilon": 1e-12, "n_embd": size,
        "n_head": heads, "n_inner": inner, "n_layer": 1, "n_positions": 2048, "rotary_dim": 64,
        "tie_word_embeddings": False, "vocab_size": VOCABULARY}))


class Bench:
    def __init__(self, options, folder):
        self.tools = pathlib.Path(options.build).resolve() / "bin"
        self.folder = folder
        size, inner = 4096 // options.shrink, 16384 // options.shrink
        self.rows = {"qkv": (size, 3 * size + inner), "o": (size, size), "down": (inner, size)}
        make_model(folder / "model", size, inner, 16 // min(4, options.shrink))
        # Attention mixes tokens, so they come in a random order.
        order = np.random.default_rng(3).permutation(LEARNT)
        self.learnt = order.astype(np.int32)
        measured = LEARNT + np.random.default_rng(5).permutation(VOCABULARY - LEARNT)
        self.measured = measured[:options.tokens].astype(np.int32)

    def run(self, tool, *arguments):
        return subprocess.run([self.tools / tool, *map(str, arguments)], check=True, text=True,
                              stdout=subprocess.PIPE).stdout

    def choices(self, form):
        """The choice of each group: the form itself or, if it is graded, a gate where
        most learnt rows close it."""
        if not form or "graded" not in form:
            return {group: form for group in self.rows} if form else {}
        found = {}
        for group in self.rows:
            choice = {"k": form["k"], "bits": form["bits"]}
            gate = choice | {"epsilon_low": NEAR, "epsilon": FAR}
            closed, _, _ = self.levels(gate, group, self.seen[group])
            found[group] = gate if closed > 0.5 else choice
        return found

    def compile(self, choices):
        module = self.folder / "layer.gist"
        more = []
        if choices:
            plan = self.folder / "plan.json"
            plan.write_text(json.dumps({
                "gist_plan": 1, "block": 128, "bases": "bases.safetensors",
                "layers": [{"linears": choices}]}))
            more = ["--plan", plan]
        self.run("gist-compile", self.folder / "model", "-o", module, "--progress=off",
                 "--observe", *more)
        return module

    def observe(self, module, tokens):
        """The inputs of the linear layers, and the block's result (`head`)."""
        path = self.folder / "tokens.npy"
        np.save(path, tokens)
        out = self.run("gist-run", "call", module, "observe", "--symbol", f"T={len(tokens)}",
                       "--symbol", "P=0", "--input", f"tokens={path}", "-o", self.folder)
        found = {}
        for line in out.splitlines():
            name = pathlib.Path(line).name.removeprefix("observe.").split(":")[0]
            found[name.removeprefix("0.")] = np.load(line)
        return found

    def learn(self, module):
        """Bases from the Gram matrix of the rows: there are fewer rows than columns."""
        seen, bases = self.observe(module, self.learnt), {}
        self.seen = {group: seen[group].astype(np.float64) for group in self.rows}
        for group in self.rows:
            x = self.seen[group]
            k = min(RANK, x.shape[1] // 4)
            values, vectors = np.linalg.eigh(x @ x.T)
            v = x.T @ vectors[:, ::-1][:, :k] / np.sqrt(values[::-1][:k])
            bases[f"0.{group}.basis"] = np.linalg.qr(v)[0].T.astype(np.float32)
        self.bases = bases
        write_safetensors(self.folder / "bases.safetensors", bases)

    def levels(self, choice, group, rows):
        """The shares of rows that read no weight, W, and W_low."""
        v = self.bases[f"0.{group}.basis"][:choice["k"]].astype(np.float64)
        rho = np.linalg.norm(rows - rows @ v.T @ v, axis=1) / np.linalg.norm(rows, axis=1)
        opened = rho > choice["epsilon"]
        closed = rho <= choice.get("epsilon_low", choice["epsilon"])
        return [float(np.mean(part)) for part in (closed, opened, ~closed & ~opened)]

    def count(self, choices, seen):
        """Mean bytes read for a token, and levels by group."""
        total, levels = 0.0, {}
        for group, (size, outputs) in self.rows.items():
            choice, full = choices.get(group), 2 * outputs * size
            low = outputs * size // 32 * BLOCKS[choice["bits"]] if "bits" in (choice or {}) else 0
            if not choice or "k" not in choice:
                total += low or full
                continue
            if "epsilon" not in choice:
                total += low + BYTES_8 * choice["k"] * (size + outputs)
                continue
            levels[group] = self.levels(choice, group, seen[group].astype(np.float64))
            closed, opened, between = levels[group]
            image = BYTES_8 * outputs * choice["k"]
            total += (2 * BYTES_8 * size * choice["k"] + closed * image + opened * full
                      + between * (image + low))
        return total, levels


COLUMNS = {"weights": None, "MB for a token": 1, "relative error": 4, "q, k, v, fc_in": None,
           "out": None, "fc_out": None}


def row(entry):
    """The last three are the shares of rows that read no W / W_low / W."""
    levels = entry["levels"]
    shares = [f"{a:.0%} / {c:.0%} / {b:.0%}" if group in levels else "all W_low"
              for group in ("qkv", "o", "down") for a, b, c in [levels.get(group, (0, 0, 0))]]
    return [entry["name"], entry["bytes"] / 1e6, entry["error"],
            *(shares if levels else [None] * 3)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True)
    parser.add_argument("-o", "--output", required=True, metavar="NAME")
    parser.add_argument("--json", metavar="FILE", help="the table, for docs/performance/data")
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--shrink", type=int, default=1, help="divides all sizes, to try it out")
    parser.add_argument("--forms", nargs="+", metavar="TEXT", default=[""],
                        help="those whose names begin so, beside f16; by default all")
    options = parser.parse_args()
    wanted = ("f16", *options.forms)
    found = []
    with tempfile.TemporaryDirectory(prefix="gist-bench-") as folder:
        bench = Bench(options, pathlib.Path(folder))
        dense = None
        for name, form in FORMS.items():
            if not name.startswith(wanted):
                continue
            if form and "k" in form:
                form["k"] = min(form["k"], bench.rows["o"][0] // 4)
            choices = bench.choices(form)
            module = bench.compile(choices)
            if dense is None:
                bench.learn(module)
            seen = bench.observe(module, bench.measured)
            dense = seen["head"] if dense is None else dense
            error = np.linalg.norm(seen["head"] - dense) / np.linalg.norm(dense)
            size, levels = bench.count(choices, seen)
            found.append({"name": name, "bytes": size, "error": float(error), "levels": levels,
                          "choices": choices})
            print(f"{name:45}{size / 1e6:9.1f} MB {error:9.4f}", file=sys.stderr, flush=True)
            pathlib.Path(f"{options.output}.json").write_text(json.dumps(found, indent=1) + "\n")
    rows = list(map(row, found))
    print(results.markdown(COLUMNS, rows))
    if options.json:
        results.write(options.json, COLUMNS, rows)


if __name__ == "__main__":
    main()
