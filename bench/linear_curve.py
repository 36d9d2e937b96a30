#!/usr/bin/env python3
# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Weight bytes that decoding a token reads against what that costs in perplexity:
the model as it is stored, all linear layers rounded to the nearest, plans of
`gist-plan solve-linears`, and gates. Calibration and evaluation take different
texts, all of them on every machine with Python. Every weight that a product
reads counts, the output head and subspaces included; where a gate stays closed
its weight does not."""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

GROUPS = ["qkv", "o", "gate_up", "down"]


def evaluation_texts():
    import argparse as program
    from pydoc_data.topics import topics
    names = sorted(topics)
    return {"licence": (Path(__file__).parents[1] / "LICENSE").read_text(),
            "program": Path(program.__file__).read_text(),
            "prose": "\n".join(topics[name] for name in names[: len(names) // 2])}


def calibration_texts():
    import difflib
    import typing
    from pydoc_data.topics import topics
    names = sorted(topics)
    return {"prose": "\n".join(topics[name] for name in names[len(names) // 2 :]),
            "program": Path(difflib.__file__).read_text(),
            "types": Path(typing.__file__).read_text()}


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.results = []
        for kind, texts in ("evaluate", evaluation_texts()), ("calibrate", calibration_texts()):
            for title, content in texts.items():
                (folder / f"{kind}-{title}.txt").write_text(content)
        self.dense = self.compile("dense")
        self.layers = None

    def compile(self, name, *more):
        module = self.folder / f"{name}.gist"
        subprocess.run([self.options.gist_compile, self.options.model, "-o", module,
                        "--progress=off", *more], check=True)
        return module

    def calibrate(self):
        observed = self.compile("observed", "--observe")
        texts = [part for title in calibration_texts()
                 for part in ("--text", self.folder / f"calibrate-{title}.txt")]
        self.calibration = self.options.calibration or self.folder / "linears"
        if not Path(f"{self.calibration}.json").exists():
            subprocess.run([self.options.gist_plan, "linears", observed,
                            "--model", self.options.model, *texts,
                            "--max-tokens", str(self.options.calibration_tokens),
                            "--max-k", str(self.options.max_k), "-o", self.calibration], check=True)
        observed.unlink()
        self.inputs = json.loads(Path(f"{self.calibration}.json").read_text())["inputs"]
        self.layers = max(int(i["name"].split(".")[0]) for i in self.inputs if "." in i["name"]) + 1

    def evaluate(self, kind, name, module):
        """Perplexity over all texts, relative to the dense module."""
        tokens = loss = 0
        texts, gates, weights = {}, None, 0
        for title in evaluation_texts():
            done = subprocess.run(
                [self.options.gist_run, "eval", module, "--against", self.dense,
                 "--text", self.folder / f"evaluate-{title}.txt", "--window", "512",
                 "--stride", "512", "--max-tokens", str(self.options.tokens),
                 "-t", str(self.options.threads), "--json"],
                stdout=subprocess.PIPE, check=True)
            result = json.loads(done.stdout)
            found = result["windows"]
            weights = result["weight_bytes"]
            gates = result.get("statistics", {}).get("gates", gates)
            texts[title] = found["perplexity_ratio"]
            tokens += found["tokens"]
            loss += found["tokens"] * math.log(found["perplexity_ratio"])
        entry = {"kind": kind, "name": name, "bytes": weights, "gates": gates,
                 "ratio": math.exp(loss / tokens), "texts": texts}
        self.results.append(entry)
        print(f"{kind:10}{name:32}{weights / 1e6:9.2f} MB {entry['ratio']:10.4f}",
              file=sys.stderr, flush=True)
        return entry

    def run_plan(self, kind, name, plan):
        path = self.folder / "plan.json"
        path.write_text(json.dumps(plan))
        module = self.compile("planned", "--plan", path)
        return self.evaluate(kind, name, module)

    def plain(self, bits, head=None):
        linears = {group: {"bits": bits} for group in GROUPS}
        plan = {"gist_plan": 1, "block": 128, "layers": [{"linears": linears}] * self.layers}
        if head:
            plan["head"] = {"bits": head}
        return self.run_plan("plain", f"{bits} bits" + (f", head {head}" if head else ""), plan)

    def graded(self, share):
        path = self.folder / "graded.json"
        done = subprocess.run([self.options.gist_plan, "solve-linears", f"{self.calibration}.json",
                               "--bytes", str(share), "-o", path], stderr=subprocess.PIPE)
        if done.returncode != 0:
            return None
        return self.evaluate("graded", f"{share:.3f} of the bytes",
                             self.compile("planned", "--plan", path))

    def gated(self, k, epsilon):
        linears = {group: {"k": k, "epsilon": epsilon} for group in GROUPS}
        entry = self.run_plan("gated", f"k {k}, epsilon {epsilon}",
                              {"gist_plan": 1, "block": 128, "bases": f"{self.calibration}.safetensors",
                               "layers": [{"linears": linears}] * self.layers})
        # Rows of a closed gate read V twice and M, those of an open one V twice and W.
        saved = 0
        for layer in self.inputs:
            if "." not in layer["name"]:
                continue
            number, group = layer["name"].split(".")
            at = (int(number) * len(GROUPS) + GROUPS.index(group)) * 3
            levels = entry["gates"][at : at + 3]
            closed = levels[0] / max(1, sum(levels))
            stored = sum(weight["bytes"] for weight in layer["weights"])
            image = sum(weight["rows"] for weight in layer["weights"]) * k * 34 // 32
            saved += closed * stored + (1 - closed) * image
            entry.setdefault("closed", []).append(closed)
        entry["bytes"] -= round(saved)
        return entry


def judge(results):
    """Whether plans keep what the project promises of them."""
    plain = [entry for entry in results if entry["kind"] in ("dense", "plain")]
    graded = [entry for entry in results if entry["kind"] == "graded"]
    verdict = {"below_4_bits": [], "at_1.01": None}
    dense = next(entry for entry in results if entry["kind"] == "dense")
    for peer in plain:
        rivals = [entry for entry in graded if entry["bytes"] <= peer["bytes"]]
        if peer["bytes"] >= dense["bytes"] or peer["ratio"] <= 1 or not rivals:
            continue
        best = min(rivals, key=lambda entry: entry["ratio"])
        verdict["below_4_bits"].append(
            {"plain": peer["name"], "plain_loss": peer["ratio"] - 1,
             "graded_loss": best["ratio"] - 1,
             "holds": best["ratio"] - 1 <= (peer["ratio"] - 1) / 2})
    holding = [entry for entry in plain if entry["ratio"] <= 1.01]
    ours = [entry for entry in graded if entry["ratio"] <= 1.01]
    if holding and ours:
        peer = min(holding, key=lambda entry: entry["bytes"])
        best = min(ours, key=lambda entry: entry["bytes"])
        verdict["at_1.01"] = {"plain": peer["name"], "plain_bytes": peer["bytes"],
                              "graded_bytes": best["bytes"], "graded_ratio": best["ratio"],
                              "saving": 1 - best["bytes"] / peer["bytes"],
                              "holds": best["bytes"] <= 0.9 * peer["bytes"]}
    return verdict


def table(results):
    lines = ["| | weights for a token, MB | perplexity ratio | licence / program / prose |",
             "|---|---|---|---|"]
    for entry in results:
        texts = " / ".join(f"{entry['texts'][t]:.4f}" for t in ("licence", "program", "prose"))
        lines.append(f"| {entry['kind']}: {entry['name']} | {entry['bytes'] / 1e6:.1f} | "
                     f"{entry['ratio']:.4f} | {texts} |")
    return "\n".join(lines)


def numbers(kind):
    return lambda text: [kind(part) for part in text.split(",") if part]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gist-run", required=True, metavar="PATH")
    parser.add_argument("--gist-compile", required=True, metavar="PATH")
    parser.add_argument("--gist-plan", required=True, metavar="PATH")
    parser.add_argument("--model", required=True, metavar="PATH")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--tokens", type=int, default=2048, help="of each text, at most")
    parser.add_argument("--calibration-tokens", type=int, default=12288)
    parser.add_argument("--max-k", type=int, default=128)
    parser.add_argument("--calibration", metavar="NAME",
                        help="keep and use NAME.json and NAME.safetensors")
    parser.add_argument("--bits", type=numbers(int), default=[4, 3, 2], metavar="N,N")
    parser.add_argument("--head-bits", type=numbers(int), default=[8, 4], metavar="N,N",
                        help="of plain rounding; the stored head is always there")
    parser.add_argument("--shares", type=numbers(float), metavar="X,X",
                        default=[0.92, 0.89, 0.88, 0.86, 0.82, 0.78, 0.72, 0.66])
    parser.add_argument("--gates", default=["64:0.1", "128:0.2"], metavar="K:EPSILON,...",
                        type=lambda text: [part for part in text.split(",") if part])
    parser.add_argument("--output", metavar="FILE", help="results as JSON")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gist-bench-") as folder:
        bench = Bench(options, Path(folder))
        bench.calibrate()
        bench.evaluate("dense", "as stored", bench.dense)
        for bits in options.bits:
            bench.plain(bits)
            for head in options.head_bits:
                bench.plain(bits, head)
        for share in options.shares:
            bench.graded(share)
        for gate in options.gates:
            k, epsilon = gate.split(":")
            bench.gated(int(k), float(epsilon))
        verdict = judge(bench.results)
    if options.output:
        Path(options.output).write_text(json.dumps(
            {"model": Path(options.model).name, "results": bench.results, "verdict": verdict},
            indent=1))
    print(table(bench.results))
    print(json.dumps(verdict, indent=1))


if __name__ == "__main__":
    main()
