#!/usr/bin/env python3
# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How many tokens selections would keep in each layer of a model, by tau.

    bench/selection_curves.py --build build/dev --text prose.txt --text code.py \\
        --window 512 -o curves.json MODEL
    gist-plan report curves.json -o page.html

A module that shows its rows (`gist-compile --observe`) reads the first window of each
text. Of residual stream, normalised rows and keys, NumPy then makes the sets that
gist.gram_select would make, for a ladder of taus: representatives over tokens, and
Jaccard and turnover against the layer before with the same tau. Means over texts and
heads; `curves` in the file has all layers, `selections` what a page shows. Needs NumPy.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "test"))
from reference.selection import gram_select

TAUS = [n / 10 for n in range(1, 10)]
#: Rows, the tokens that each is compared with, and how.
KINDS = {"residual stream, coverings": ("residual", "kept", "absolute"),
         "residual stream, against all tokens": ("residual", "all", "absolute"),
         "normalised rows, coverings": ("normalised", "kept", "absolute"),
         "keys, coverings, means of heads": ("keys", "kept", "signed")}


def observe(options, folder):
    """What the module shows of each text, by name."""
    tool = lambda name, *words: subprocess.run(
        [pathlib.Path(options.build).resolve() / "bin" / name, *map(str, words)], check=True,
        text=True, stdout=subprocess.PIPE).stdout
    module = folder / "observed.gist"
    tool("gist-compile", options.model, "-o", module, "--progress=off", "--observe")
    for text in options.text:
        out = tool("gist-run", "call", module, "observe", "--text", text, "--max-tokens",
                   options.window, "-o", folder)
        yield {pathlib.Path(line).stem.removeprefix("observe."): np.load(line)
               for line in out.splitlines()}


def sets_of(shown, kind, layer):
    """For each head and tau the representatives."""
    on, against, similarity = kind
    if on == "normalised":
        heads = [next(rows for name, rows in shown.items() if name.startswith(f"{layer}.qkv:"))]
    else:
        rows = shown[f"{layer}@{on}"]
        heads = [rows[:, head] for head in range(rows.shape[1])] if on == "keys" else [rows]
    return [[set(gram_select(rows, tau, against, similarity, causal=True).kept.tolist())
             for tau in TAUS] for rows in heads]


def curves_of(shown, kind, layers):
    """By layer and tau: representatives over tokens, Jaccard, turnover."""
    tokens = len(shown["0@residual"])
    curves, before = [], None
    for layer in range(layers):
        now = sets_of(shown, kind, layer)
        kept = np.mean([[len(each) / tokens for each in head] for head in now], 0)
        pairs = [list(zip(*heads)) for heads in zip(before or [], now)]
        change = [[(len(a & b) / len(a | b), len(a ^ b) / len(a)) for a, b in head]
                  for head in pairs]
        curves.append([kept, *(np.mean(change, 0).T if change else [kept * np.nan] * 2)])
        before = now
    return np.array(curves)


def page(title, mean, name):
    """The plots of one kind: some layers by tau, some taus by layer."""
    number = lambda value: None if np.isnan(value) else float(value)
    some = lambda count: sorted({round(i * (count - 1) / 4) for i in range(5)})
    yield {"model": name, "text": title, "unit": "representatives, of tokens",
           "by": {"name": "tau", "values": TAUS},
           "series": {f"layer {layer:2}": list(map(number, mean[layer][0]))
                      for layer in some(len(mean))}}
    for place, unit in (1, "Jaccard, layer before"), (2, "turnover, layer before"):
        yield {"model": name, "text": title, "unit": unit,
               "series": {f"tau {TAUS[i]:g}": [number(layer[place][i]) for layer in mean]
                          for i in some(len(TAUS))}}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("--build", required=True)
    parser.add_argument("--text", action="append", required=True)
    parser.add_argument("--window", type=int, default=512, help="tokens of each text")
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        texts = list(observe(options, pathlib.Path(folder)))
    layers = 1 + max(int(name.split("@")[0]) for name in texts[0] if name.endswith("@residual"))
    name, selections, curves = pathlib.Path(options.model).stem, [], {}
    for title, kind in KINDS.items():
        mean = np.mean([curves_of(shown, kind, layers) for shown in texts], 0)
        curves[title] = np.where(np.isnan(mean), None, mean.round(6)).tolist()
        selections += page(title, mean, name)
    options.output.write_text(json.dumps({"gist_evaluation": 1, "model": name, "taus": TAUS,
                                          "curves": curves, "selections": selections}) + "\n")


if __name__ == "__main__":
    main()
