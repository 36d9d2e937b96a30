#!/usr/bin/env python3
# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tables of the cascade paper, with the models at hand.

    bench/papers.py --build build/dev --smollm2 FILE.gguf --minilm FOLDER \\
        --texts FOLDER -o FOLDER

Selections run in the compiled models: independent ones against all tokens at
every layer, and Algorithm 1 from layer to layer. Models stay dense but where a
table is about attention on representatives. Writes papers.md and papers.json;
figures of the paper (GPT-2, GPT-J, OPT at T = 512, tau = 0.30) stand beside
ours. TEXTS has prose.txt, code.txt and licence.txt. Needs NumPy.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

from results import about, markdown

TAU = 0.3
TEXTS = ["prose", "code", "licence"]
#: What the paper reports.
PAPER = {
    "GPT-2": dict(layers=12, d=768, r=278, jaccard=0.863, savings=0.22, turnover="13-30 %"),
    "GPT-J": dict(layers=28, d=4096, r=205, jaccard=0.940, savings=0.52, turnover="3-18 %"),
    "OPT": dict(layers=32, d=4096, r=142, jaccard=0.825, savings=0.63, turnover="2-7 %"),
}
PAPER_LENGTHS = {512: (240, 0.52), 1024: (280, 0.72), 2048: (320, 0.84), 4096: (380, 0.91),
                 8192: (450, 0.95)}

#: Tables by name, in the order in which they are measured.
PARTS = ["proposition4", "minilm", "smollm2", "joint", "copy", "embeddings", "adaptive", "lengths"]
#: Dimensions of the subspaces that bound cosines.
SUBSPACES = (16, 64, 128)

INDEPENDENT = {"on": "residual", "tau": TAU, "against": "all"}
ALGORITHM1 = {"on": "residual", "tau": TAU, "rule": "paper"}


class Tools:
    def __init__(self, options, folder):
        self.bin = pathlib.Path(options.build).resolve() / "bin"
        self.options, self.folder = options, folder

    def run(self, tool, *arguments):
        return subprocess.run([self.bin / tool, *map(str, arguments)], check=True, text=True,
                              stdout=subprocess.PIPE).stdout

    def compile(self, model, plan=None, *more):
        """A module for a plan; the same one twice is compiled once."""
        name = f"{pathlib.Path(model).stem}-{abs(hash((json.dumps(plan), more)))}"
        module = self.folder / f"{name}.gist"
        if not module.exists():
            arguments = [model, "-o", module, "--progress=off", *more]
            if plan:
                path = self.folder / f"{name}.json"
                path.write_text(json.dumps(plan))
                arguments.append(f"--plan={path}")
            self.run("gist-compile", *arguments)
        return module

    def text(self, name):
        return pathlib.Path(self.options.texts) / f"{name}.txt"

    def call(self, module, entry, text, tokens):
        out = self.run("gist-run", "call", module, entry, "--text", self.text(text),
                       "--max-tokens", tokens, "-o", self.folder)
        return {pathlib.Path(p).stem.removeprefix(entry + "."): np.load(p)
                for p in out.splitlines()}

    def eval(self, module, text, tokens, against=None):
        more = ["--against", against] if against else []
        return json.loads(self.run("gist-run", "eval", module, "--text", self.text(text),
                                   "--window", tokens, "--stride", tokens, "--max-tokens",
                                   tokens, "--json", *more))


def plan_of(layers, first, rest, attend=None, trace=False):
    made = [{"selection": rest if n else first} | ({"attend": attend} if attend else {})
            for n in range(layers)]
    return {"gist_plan": 1, "layers": made} | ({"trace": True} if trace else {})


def sets_of(outputs, layers):
    """The representatives of each layer: tokens that are their own nearest."""
    nearest = [outputs[f"selection.{n}.nearest"] for n in range(layers)]
    return [set(np.flatnonzero(each == np.arange(len(each))).tolist()) for each in nearest]


def jaccard(a, b):
    return len(a & b) / max(1, len(a | b))


def summarize(independent, cascade, total):
    """The figures of the paper for one model and text."""
    layers = len(independent)
    r = [len(s) for s in independent]
    steps = list(zip(cascade, cascade[1:]))
    turnover = [(len(old - new) + len(new - old)) / max(1, len(old)) for old, new in steps]
    gram_independent = layers * total**2
    gram_cascade = total**2 + sum(total * len(old) for old, _ in steps)
    pairs = list(zip(independent, cascade))[1:]
    return {
        "r_independent": r,
        "r_cascade": [len(s) for s in cascade],
        "jaccard_next_layer": [jaccard(a, b) for a, b in zip(independent, independent[1:])],
        "turnover": turnover,
        "cascade_vs_independent_jaccard": [jaccard(a, b) for a, b in pairs],
        "cascade_recall": [len(a & b) / len(a) for a, b in pairs],
        "missed": [len(a - b) for a, b in pairs],
        "gram_independent": gram_independent,
        "gram_cascade": gram_cascade,
        "savings": 1 - gram_cascade / gram_independent,
    }


def layers_table(name, result):
    chosen = sorted({round(i * (len(result["r_independent"]) - 1) / 9) for i in range(10)})
    rows = []
    for title, key, shift in (("r independent", "r_independent", 0),
                              ("r Algorithm 1", "r_cascade", 0),
                              ("Jaccard with the layer before", "jaccard_next_layer", 1),
                              ("turnover", "turnover", 1),
                              ("independent representatives missed", "missed", 1)):
        values = [result[key][n - shift] if n >= shift else "" for n in chosen]
        rows.append([title, *(f"{v:.2f}" if isinstance(v, float) else str(v) for v in values)])
    return markdown([f"{name}, layer", *map(str, chosen)], rows)


def measure_sets(tools, model, entry, layers, tokens, report):
    """Both selections of a model on every text."""
    modules = [tools.compile(model, plan_of(layers, INDEPENDENT, rest, trace=True),
                             *(("--context", 1024) if entry == "score" else ()))
               for rest in (INDEPENDENT, ALGORITHM1)]
    results = {}
    for text in TEXTS:
        report(f"{pathlib.Path(model).stem}: selections on {text}")
        sets, total = [], 0
        for module in modules:
            outputs = tools.call(module, entry, text, tokens)
            total = len(outputs["selection.0.rows"])
            sets.append(sets_of(outputs, layers))
        results[text] = summarize(*sets, total) | {"tokens": total}
    return results


def measure_lengths(tools, layers, lengths, report):
    """r and savings at longer sequences, from the modules' own counts."""
    results = {}
    for length in lengths:
        report(f"T = {length}")
        rows = {}
        for name, rest in (("independent", INDEPENDENT), ("cascade", ALGORITHM1)):
            module = tools.compile(tools.options.smollm2, plan_of(layers, INDEPENDENT, rest),
                                   "--context", max(lengths))
            rows[name] = tools.eval(module, "prose", length)["statistics"]["representatives"]
        inherited = rows["cascade"][:-1]
        independent = layers * length**2
        cascade = length**2 + sum(length * r for r in inherited)
        results[length] = {"r_independent": float(np.mean(rows["independent"])),
                           "r_cascade": float(np.mean(rows["cascade"])),
                           "savings": 1 - cascade / independent}
    return results


def measure_copy(tools, layers, report):
    """Perplexity ratios of the paper's attention, and of keys with a window."""
    smollm2 = tools.options.smollm2
    dense = tools.compile(smollm2, None, "--context", 1024)
    results = {}
    forms = {f"copy, tau {tau}": (tau, {"mode": "copy"}) for tau in (0.1, 0.3)}
    forms |= {f"copy + log-count, tau {tau}": (tau, {"mode": "copy", "log_count": True})
              for tau in (0.1, 0.3)}
    for name, (tau, attend) in forms.items():
        plan = plan_of(layers, INDEPENDENT | {"tau": tau}, ALGORITHM1 | {"tau": tau}, attend)
        results[name] = compare(tools, plan, dense, report, name)
    plan = plan_of(layers, {"on": "residual", "tau": TAU},
                   {"on": "residual", "tau": TAU, "rule": "covering"},
                   {"mode": "keys", "window": 64, "block": 64})
    name = "keys of a covering, means, window 64, tau 0.3"
    results[name] = compare(tools, plan, dense, report, name)
    return results


def compare(tools, plan, dense, report, name):
    report(name)
    module = tools.compile(tools.options.smollm2, plan, "--context", 1024)
    found = {text: tools.eval(module, text, 512, dense) for text in TEXTS}
    return {text: {"ratio": each["windows"]["perplexity_ratio"],
                   "top1": each["windows"]["top1_agreement"],
                   "r": float(np.mean(each["statistics"]["representatives"])),
                   "statistics": each["statistics"]}
            for text, each in found.items()}


def measure_embeddings(tools, layers, report):
    """Cosines of MiniLM's embeddings to dense, the worst of the texts."""
    minilm = tools.options.minilm
    dense = tools.compile(minilm)
    want = {text: tools.call(dense, "embed", text, 512)["embedding"].ravel() for text in TEXTS}
    results = {}
    for tau in (0.2, 0.3, 0.4):
        for name, against, attend in (
                ("copy", "all", {"mode": "copy"}),
                ("copy + log-count", "all", {"mode": "copy", "log_count": True}),
                ("keys of a covering, means", "kept", {"mode": "keys"})):
            report(f"MiniLM: {name}, tau {tau}")
            select = {"on": "residual", "tau": tau, "against": against}
            module = tools.compile(minilm, plan_of(layers, select, select, attend))
            got = {text: tools.call(module, "embed", text, 512)["embedding"].ravel()
                   for text in TEXTS}
            results.setdefault(name, {})[tau] = min(
                float(got[t] @ want[t] / np.linalg.norm(got[t]) / np.linalg.norm(want[t]))
                for t in TEXTS)
    return results


COUNTEREXAMPLE = """
func.func @independent(%x: tensor<?x4xf32>) -> (tensor<?xi32> {gist.name = "nearest"}) {
  %s = gist.gram_select %x, 3.0e-1 against all causal : tensor<?x4xf32>
  %i, %c, %n, %w = gist.unpack_selection %s : !gist.selection<?>
  return %n : tensor<?xi32>
}
func.func @algorithm1(%x: tensor<?x4xf32>, %oi: tensor<?xi32>, %oc: tensor<i32>,
    %on: tensor<?xi32>, %ow: tensor<?xi32>) -> (tensor<?xi32> {gist.name = "nearest"}) {
  %o = gist.pack_selection %oi, %oc, %on, %ow : tensor<?xi32>, tensor<i32>, tensor<?xi32>, tensor<?xi32>
  %s, %gone, %new = gist.cascade_update %x, %o, 3.0e-1 rule paper : tensor<?x4xf32>, !gist.selection<?>
  %i, %c, %n, %w = gist.unpack_selection %s : !gist.selection<?>
  return %n : tensor<?xi32>
}
"""


def counterexample(tools):
    """Proposition 4 says that Algorithm 1 finds all that independent selection
    finds. Three rows, of which 0 and 2 are inherited."""
    source = tools.folder / "proposition4.mlir"
    source.write_text(COUNTEREXAMPLE)
    module = tools.compile(source)
    x = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 1, 0.05, 0]], np.float32)
    inputs = {"argument0": x, "argument1": [0, 2, -1], "argument2": 2, "argument3": [0, 0, 2],
              "argument4": [2, 1, 0]}
    kept = {}
    for entry, names in (("independent", 1), ("algorithm1", 5)):
        arguments = []
        for name in list(inputs)[:names]:
            value = inputs[name]
            path = tools.folder / f"{name}.npy"
            np.save(path, value if name == "argument0" else np.array(value, np.int32))
            arguments += ["--input", f"{name}={path}"]
        out = tools.run("gist-run", "call", module, entry, "--symbol", "T=3", *arguments, "-o",
                        tools.folder).split()
        kept[entry] = np.load(out[0]).tolist()
    return {name: [t for t, n in enumerate(nearest) if n == t] for name, nearest in kept.items()}


def write_bases(path, bases):
    """Orthonormal rows by name, in the format of `gist-plan auto --choices linears`."""
    header, data = {}, b""
    for name, rows in bases.items():
        content = np.ascontiguousarray(rows, np.float32).tobytes()
        header[name] = {"dtype": "F32", "shape": list(rows.shape),
                        "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def principal(rows, k):
    """The k directions with most of the energy of rows, as rows."""
    return np.linalg.eigh(rows.T @ rows)[1][:, ::-1][:, :k].T


def count_scan(x, nearest, basis):
    """Pairs and tiles that the bound decides, and multiply-adds with it,
    projection included, relative to those without. Rows and candidates meet
    four by four, as in the scan of a covering: blocks of 32 rows against the
    representatives before them and themselves."""
    total, d = x.shape
    g = x @ basis.T
    norm = np.linalg.norm(x, axis=1)
    rho = np.sqrt(np.maximum(norm**2 - (g**2).sum(1), 0) + 2 * d * 2.0**-24 * norm**2)
    may = (np.abs(g @ g.T) + np.outer(rho, rho)) / np.outer(norm, norm) >= 1 - TAU**2
    kept = np.flatnonzero(nearest == np.arange(total))
    pairs = decided = tiles = closed = 0
    for first in range(0, total, 32):
        rows = np.arange(first, min(first + 32, total))
        for candidates in (kept[kept < first], rows):
            reached = may[np.ix_(rows, candidates)]
            pairs += reached.size
            decided += reached.size - int(reached.sum())
            reached = np.pad(reached, [(0, -n % 4) for n in reached.shape])
            height, width = (n // 4 for n in reached.shape)
            tiles += height * width
            closed += height * width - int(
                reached.reshape(height, 4, width, 4).any((1, 3)).sum())
    k = len(basis)
    work = 16 * (tiles * k + (tiles - closed) * d) + total * k * d
    return {"pairs": pairs, "decided": decided, "tiles": tiles, "closed": closed,
            "work": work, "plain": 16 * tiles * d}


def measure_joint(tools, report):
    """The joint cascade: selections whose pairs are bounded in the subspace of
    the linear layers that read the same rows. Sets with and without it, from
    compiled modules, and the multiply-adds of the scan. Bases are learnt from
    the first text and used on the others."""
    results = {}
    for name, model, entry, layers in (("SmolLM2", tools.options.smollm2, "score", 30),
                                       ("MiniLM", tools.options.minilm, "embed", 6)):
        more = ("--context", 1024) if entry == "score" else ()
        first = {"on": "normalised", "tau": TAU}
        rest = first | {"rule": "covering"}
        plain = tools.compile(model, plan_of(layers, first, rest, trace=True), *more)
        report(f"{name}: joint cascade, bases from {TEXTS[0]}")
        learnt = tools.call(plain, entry, TEXTS[0], 512)
        bases = {n: principal(learnt[f"selection.{n}.rows"].astype(np.float64), max(SUBSPACES))
                 for n in range(layers)}
        file = tools.folder / f"{name}.bases.safetensors"
        write_bases(file, {f"{n}.qkv.basis": rows for n, rows in bases.items()})
        without = {text: tools.call(plain, entry, text, 512) for text in TEXTS[1:]}
        for k in SUBSPACES:
            report(f"{name}: joint cascade, k = {k}")
            plan = plan_of(layers, first | {"k": k}, rest | {"k": k}, trace=True)
            module = tools.compile(model, plan | {"bases": file.name}, *more)
            for text in TEXTS[1:]:
                found = tools.call(module, entry, text, 512)
                equal, sums = 0, {}
                for n in range(layers):
                    nearest = without[text][f"selection.{n}.nearest"]
                    equal += int(np.array_equal(found[f"selection.{n}.nearest"], nearest))
                    rows = without[text][f"selection.{n}.rows"].astype(np.float64)
                    for key, value in count_scan(rows, nearest, bases[n][:k]).items():
                        sums[key] = sums.get(key, 0) + value
                results.setdefault(name, {}).setdefault(text, {})[k] = {
                    "equal_layers": equal, "layers": layers,
                    "decided": sums["decided"] / sums["pairs"],
                    "closed": sums["closed"] / sums["tiles"],
                    "multiply_adds": sums["work"] / sums["plain"]}
    results["random"] = measure_random_joint(tools, report)
    return results


RANDOM_SELECTIONS = """
func.func @plain(%x: tensor<?x{d}xf32>) -> (tensor<?xi32> {{gist.name = "nearest"}}) {{
  %s = gist.gram_select %x, 3.0e-1 causal : tensor<?x{d}xf32>
  %i, %c, %n, %w = gist.unpack_selection %s : !gist.selection<?>
  return %n : tensor<?xi32>
}}
func.func @bound(%x: tensor<?x{d}xf32>, %g: tensor<?x{k}xf32>, %rho: tensor<?xf32>)
    -> (tensor<?xi32> {{gist.name = "nearest"}}) {{
  %s = gist.gram_select %x, 3.0e-1 causal
      subspace(%g, %rho : tensor<?x{k}xf32>, tensor<?xf32>) : tensor<?x{d}xf32>
  %i, %c, %n, %w = gist.unpack_selection %s : !gist.selection<?>
  return %n : tensor<?xi32>
}}
"""


def measure_random_joint(tools, report):
    """The same on made-up rows of a low effective rank: 2048 rows of 576, which
    lie in 32 dimensions but for a tenth of their length."""
    d, k, total = 576, 32, 2048
    report("random rows: joint cascade")
    random = np.random.default_rng(1)
    centres = random.standard_normal((600, k))
    inside = centres[random.integers(600, size=total)] + 0.2 * random.standard_normal((total, k))
    basis = np.linalg.qr(random.standard_normal((d, k)))[0].T
    x = inside @ basis
    noise = random.standard_normal(x.shape)
    x += 0.1 * noise / np.linalg.norm(noise, axis=1)[:, None] * np.linalg.norm(x, axis=1)[:, None]
    x = x.astype(np.float32)
    g = (x @ basis.T).astype(np.float32)
    rho = np.linalg.norm(x - g @ basis, axis=1).astype(np.float32)
    source = tools.folder / "random.mlir"
    source.write_text(RANDOM_SELECTIONS.format(d=d, k=k))
    module = tools.compile(source)
    inputs = []
    for number, value in enumerate((x, g, rho)):
        path = tools.folder / f"random{number}.npy"
        np.save(path, value)
        inputs += ["--input", f"argument{number}={path}"]
    nearest = {}
    for entry, count in (("plain", 1), ("bound", 3)):
        out = tools.run("gist-run", "call", module, entry, "--symbol", f"T={total}",
                        *inputs[:2 * count], "-o", tools.folder).split()
        nearest[entry] = np.load(out[0])
    counts = count_scan(x.astype(np.float64), nearest["plain"], basis)
    return {"k": k, "equal": bool(np.array_equal(nearest["plain"], nearest["bound"])),
            "r": int((nearest["plain"] == np.arange(total)).sum()),
            "decided": counts["decided"] / counts["pairs"],
            "closed": counts["closed"] / counts["tiles"],
            "multiply_adds": counts["work"] / counts["plain"]}


def measure_adaptive(tools, layers, report):
    """A tau for each layer by turnover (section 8.1), against one for all:
    keys of a covering with means and a window of 64, perplexity at T = 512."""
    dense = tools.compile(tools.options.smollm2, None, "--context", 1024)

    def make(tau):
        return plan_of(layers, {"on": "residual", "tau": tau},
                       {"on": "residual", "tau": tau, "rule": "covering"},
                       {"mode": "keys", "window": 64, "block": 64})

    results = {f"tau {tau:g} everywhere": compare(tools, make(tau), dense, report, f"tau {tau:g}")
               for tau in (0.2, 0.25, 0.3, 0.35)}
    start = results[f"tau {TAU:g} everywhere"]
    counts = [np.sum([start[t]["statistics"][name] for t in TEXTS], 0)
              for name in ("removed", "added", "representatives")]
    turnover = (counts[0] + counts[1])[1:] / counts[2][:-1]
    target = float(np.median(turnover))
    for strength in (0.25, 0.5):
        adapted = make(TAU)
        for layer, changed in zip(adapted["layers"][1:], turnover):
            # Turnover at one tau says little about ones far from it.
            step = np.clip((target / max(changed, 1e-9)) ** strength, 0.5, 2)
            layer["selection"] = layer["selection"] | {"tau": float(np.clip(TAU * step, 0.05, 0.6))}
        name = f"by turnover, strength {strength:g}"
        results[name] = compare(tools, adapted, dense, report, name)
        results[name]["taus"] = [layer["selection"]["tau"] for layer in adapted["layers"]]
    return results


def copy_table(copy):
    return markdown(["perplexity ratio to dense / top-1, T = 512", *TEXTS], [
        [name, *(f"{found[t]['ratio']:.2f} / {found[t]['top1']:.2f}" for t in TEXTS)]
        for name, found in copy.items()])


def embeddings_table(embeddings):
    columns = ["MiniLM, cosine to dense, the worst text", "tau 0.2", "0.3", "0.4"]
    return markdown(dict(zip(columns, (None, 3, 3, 3))),
                    [[name, *found.values()] for name, found in embeddings.items()])


def joint_table(joint):
    found = [(f"{name}, {text}", k, f"{each['equal_layers']} of {each['layers']}", each)
             for name in ("SmolLM2", "MiniLM") for text, ks in joint[name].items()
             for k, each in ks.items()]
    each = joint["random"]
    found.append((f"random, T = 2048, r = {each['r']}", each["k"],
                  "the same" if each["equal"] else "another", each))
    return markdown(["joint cascade", "k", "layers with the same selection", "pairs decided",
                     "tiles decided", "multiply-adds, projection included"],
                    [[name, str(k), equal, f"{each['decided']:.1%}", f"{each['closed']:.1%}",
                      f"{each['multiply_adds']:.2f}"] for name, k, equal, each in found])


def adaptive_table(adaptive):
    columns = {"a tau for each layer, T = 512": None, "mean r": 0} | dict.fromkeys(TEXTS, 4)
    return markdown(columns, [[name, float(np.mean([found[t]["r"] for t in TEXTS])),
                               *(found[t]["ratio"] for t in TEXTS)]
                              for name, found in adaptive.items()])


def combined_table(found):
    """What both cascades would save together, the paper's way of counting."""
    rows = [["GPT-J (the paper)", "2.1", "6.2", "not measured"]]
    for name, key in (("SmolLM2", "smollm2"), ("MiniLM", "minilm")):
        for text in TEXTS:
            each = found[key][text]
            speed = each["gram_independent"] / each["gram_cascade"]
            work = (each["tokens"] / np.mean(each["r_cascade"]))**2
            if key == "smollm2":
                cost = f"perplexity x {found['copy']['copy, tau 0.3'][text]['ratio']:.1f}"
            else:
                cost = f"cosine {found['embeddings']['copy']['0.3']:.3f} at worst"
            rows.append([f"{name}, {text}", f"{speed:.2f}", f"{work:.2f}", cost])
    return markdown(["both axes, T = 512", "selection: independent over cascade",
                     "attention: (T/r)^2", "what copying costs"], rows)


def sets_table(models, found):
    rows = [[f"{name} (the paper)", paper["layers"], paper["r"], f"{paper['jaccard']:.2f}",
             f"{paper['savings']:.0%}", paper["turnover"], "all of it, by Proposition 4"]
            for name, paper in PAPER.items()]
    for name, key in models:
        for text in TEXTS:
            each = found[key][text]
            deep = each["turnover"][-max(1, len(each["turnover"]) // 3):]
            rows.append([f"{name}, {text}", len(each["r_independent"]),
                         round(np.mean(each["r_independent"])),
                         f"{np.mean(each['jaccard_next_layer']):.2f}", f"{each['savings']:.0%}",
                         f"{min(deep):.0%}-{max(deep):.0%}", f"{np.mean(each['cascade_recall']):.3f}"])
    return markdown(["model", "layers", "mean r independent", "Jaccard, next layer", "Gram savings",
                     "turnover, last third", "of the independent set found"], rows)


def lengths_table(lengths):
    rows = []
    for length, each in lengths.items():
        r, savings = PAPER_LENGTHS[int(length)]
        rows.append([length, r, f"{savings:.0%}", f"{each['r_independent']:.0f} / "
                     f"{each['r_cascade']:.0f}", f"{each['savings']:.0%}"])
    return markdown(["T", "mean r assumed by the paper", "savings predicted there", "mean r, "
                     "SmolLM2, prose: independent / Algorithm 1", "savings measured"], rows)


def write(found, file):
    models = [(name, key) for name, key in (("SmolLM2", "smollm2"), ("MiniLM", "minilm"))
              if key in found]
    parts = ["# The cascade paper's tables, measured"]
    parts += [layers_table(f"{name}, {text}, T = {found[key][text]['tokens']}", found[key][text])
              for name, key in models for text in TEXTS]
    parts.append(sets_table(models, found))
    parts += [table(found[key]) for key, table in (
        ("lengths", lengths_table), ("copy", copy_table), ("embeddings", embeddings_table),
        ("joint", joint_table), ("adaptive", adaptive_table)) if key in found]
    if {"smollm2", "minilm", "copy", "embeddings"} <= set(found):
        parts.append(combined_table(found))
    if "proposition4" in found:
        four = found["proposition4"]
        parts.append("Proposition 4, executed: rows e1, e2, e2 + 0.05 e3 with {0, 2} inherited. "
                     f"Independent selection keeps {four['independent']}, Algorithm 1 "
                     f"{four['algorithm1']}: it misses a representative.")
    file.write_text("\n\n".join(parts) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True)
    parser.add_argument("--smollm2")
    parser.add_argument("--minilm")
    parser.add_argument("--texts", required=True)
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--lengths", type=int, nargs="*", default=list(PAPER_LENGTHS),
                        choices=PAPER_LENGTHS, help="sequences for the table of lengths")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS,
                        help="tables to measure; those measured before are kept")
    options = parser.parse_args()
    for name, parts in (("smollm2", {"smollm2", "joint", "copy", "adaptive", "lengths"}),
                        ("minilm", {"minilm", "joint", "embeddings"})):
        if parts & set(options.parts) and not getattr(options, name):
            parser.error(f"--{name} is needed")
    report = lambda line: print(line, file=sys.stderr, flush=True)
    output = pathlib.Path(options.output)
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        tools = Tools(options, pathlib.Path(folder))
        parts = {
            "proposition4": lambda: counterexample(tools),
            "minilm": lambda: measure_sets(tools, options.minilm, "embed", 6, 512, report),
            "smollm2": lambda: measure_sets(tools, options.smollm2, "score", 30, 512, report),
            "joint": lambda: measure_joint(tools, report),
            "copy": lambda: measure_copy(tools, 30, report),
            "embeddings": lambda: measure_embeddings(tools, 6, report),
            "adaptive": lambda: measure_adaptive(tools, 30, report),
            "lengths": lambda: measure_lengths(tools, 30, options.lengths, report),
        }
        # What a run that was stopped has measured need not be measured again.
        file = output / "papers.json"
        results = json.loads(file.read_text()) if file.exists() else {}
        for name, part in parts.items():
            if name not in results and name in options.parts:
                results[name] = json.loads(json.dumps(part()))
                file.write_text(json.dumps({"about": about(), **results}, indent=1) + "\n")
    write(results, output / "papers.md")
    print((output / "papers.md").read_text())


if __name__ == "__main__":
    main()
