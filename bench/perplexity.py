#!/usr/bin/env python3
# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What 8-bit activations cost: the perplexity of texts by a model with int8
products, relative to f32 products of the same weights. The texts are on every
machine with Python: a licence, a program, and prose (Python's own manual)."""

import argparse
import json
import math
import os
import subprocess
import tempfile
from pathlib import Path

import results


def texts():
    """Name: content."""
    import argparse as program
    from pydoc_data.topics import topics
    return {"licence": (Path(__file__).parents[1] / "LICENSE").read_text(),
            "program": Path(program.__file__).read_text(),
            "prose": "\n".join(topics[key] for key in sorted(topics))}


def compare(gist_run, gist_compile, model, threads, tokens, window=512):
    """For each text the result of `gist-run eval`, and under "all" the ratio over
    all tokens."""
    measured = {}
    with tempfile.TemporaryDirectory(prefix="gist-bench-") as name:
        folder = Path(name)
        for compute in "int8", "f32":
            subprocess.run([gist_compile, model, "-o", folder / f"{compute}.gist",
                            f"--compute={compute}", "--logits=all", "--progress=off"],
                           check=True)
        for title, content in texts().items():
            text = folder / f"{title}.txt"
            text.write_text(content)
            done = subprocess.run(
                [gist_run, "eval", folder / "int8.gist", "--against", folder / "f32.gist",
                 "--text", text, "--window", str(window), "--stride", str(window),
                 "--max-tokens", str(tokens), "-t", str(threads), "--json"],
                stdout=subprocess.PIPE, check=True)
            measured[title] = json.loads(done.stdout)["windows"]
    count = sum(result["tokens"] for result in measured.values())
    difference = sum(result["tokens"] * math.log(result["perplexity_ratio"])
                     for result in measured.values())
    measured["all"] = {"tokens": count, "perplexity_ratio": math.exp(difference / count)}
    return measured


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gist-run", required=True, metavar="PATH")
    parser.add_argument("--gist-compile", required=True, metavar="PATH")
    parser.add_argument("--model", required=True, metavar="GGUF")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--tokens", type=int, default=4096, help="of each text, at most")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write JSON")
    options = parser.parse_args()
    path = vars(options).pop("json")
    found = compare(**vars(options))
    together = found.pop("all")
    columns = {"text": None, "tokens": None, "perplexity, f32": 4, "perplexity, default": 4,
               "ratio": 4, "same top-1": 3, "mean KL": 6}
    rows = [[title, *(each[key] for key in (
        "tokens", "against_perplexity", "perplexity", "perplexity_ratio", "top1_agreement",
        "kl_mean"))] for title, each in found.items()]
    print(results.markdown(columns, rows))
    print(f"all {together['tokens']} tokens: ratio {together['perplexity_ratio']:.5f}")
    if path:
        results.write(path, columns, rows)


if __name__ == "__main__":
    main()
