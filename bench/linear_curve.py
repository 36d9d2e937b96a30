#!/usr/bin/env python3
# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Weight bytes that decoding a token reads against what that costs in perplexity.

    bench/linear_curve.py --build build/release --model FILE.gguf --texts FOLDER -o NAME

measures the model as it is stored, all linear layers rounded to the nearest,
plans of `gist-plan auto --choices linears`, and gates, and writes NAME.json, for
gist-plan report, and NAME.svg. FOLDER is what samples/texts.py made: plans are found with its
calibration texts and judged by its held-out ones. Every weight that a product
reads counts, the output head and subspaces included; where a gate stays closed
its weight does not. A run that was stopped goes on where it was.
"""

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import results

GROUPS = ["qkv", "o", "gate_up", "down"]
EVALUATION = ["prose", "code", "licence"]
CALIBRATION = ["prose", "manual", "code", "code2", "licence", "licence2"]
#: Bytes of a number in 8 bits, with its share of the scale of 32.
BYTES_8 = 34 / 32


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.output = Path(f"{options.output}.json")
        self.results = json.loads(self.output.read_text())["results"] if self.output.exists() else []
        self.calibration = Path(options.calibration or f"{options.output}.linears").resolve()
        self.inputs = []

    def tool(self, name, *arguments):
        path = Path(self.options.build) / "bin" / name
        return subprocess.run([path, *map(str, arguments)], check=True, text=True,
                              stdout=subprocess.PIPE).stdout

    def text(self, kind, name):
        return Path(self.options.texts) / kind / f"{name}.txt"

    def compile(self, name, *more):
        module = self.folder / f"{name}.gist"
        self.tool("gist-compile", self.options.model, "-o", module, "--progress=off", *more)
        return module

    def search(self, quality, folder, *more):
        """A plan by calibration texts alone, and what was measured of the layers."""
        texts = [part for name in CALIBRATION
                 for part in ("--text", self.text("calibration", name))]
        self.tool("gist-plan", "auto", self.options.model, "--choices", "linears", "--least",
                  "memory", "--quality", quality, *texts, "--max-tokens",
                  self.options.calibration_tokens, "--seconds", 0, "-t", self.options.threads,
                  *more, "-o", folder)

    def calibrate(self):
        if not Path(f"{self.calibration}.json").exists():
            folder = self.folder / "bases"
            self.search(self.options.qualities[0], folder, "--max-k", self.options.max_k)
            shutil.copy(folder / "linears.json", f"{self.calibration}.json")
            shutil.copy(folder / "bases.safetensors", f"{self.calibration}.safetensors")
            shutil.rmtree(folder)
        found = json.loads(Path(f"{self.calibration}.json").read_text())
        self.inputs = found["inputs"]
        self.layers = 1 + max(int(i["name"].split(".")[0]) for i in self.inputs if "." in i["name"])

    def measure(self, kind, name, make):
        """An entry for the module that `make` compiles, unless there is one."""
        for entry in self.results:
            if (entry["kind"], entry["name"]) == (kind, name):
                return entry
        module = make()
        if module is None:
            return None
        entry = {"kind": kind, "name": name, "nll": {}, "texts": {}}
        gates = None
        for text in EVALUATION:
            found = json.loads(self.tool(
                "gist-run", "eval", module, "--text", self.text("held-out", text), "--window",
                self.options.window, "--stride", self.options.window, "--max-tokens",
                self.options.tokens, "-t", self.options.threads, "--json"))
            entry["bytes"] = found["weight_bytes"]
            entry["nll"][text] = found["windows"]["nll"]
            entry["tokens"] = found["windows"]["tokens"]
            levels = found.get("statistics", {}).get("gates")
            if levels:
                gates = [a + b for a, b in zip(gates or [0] * len(levels), levels)]
        if gates:
            self.count_gates(entry, gates)
        self.results.append(entry)
        self.compare(entry)
        print(f"{kind:8}{name:34}{entry['bytes'] / 1e6:8.2f} MB {entry['ratio']:10.4f} "
              f"{max(entry['texts'].values()):10.4f}", file=sys.stderr, flush=True)
        self.write()
        return entry

    def compare(self, entry):
        """Ratios to the model as it is stored: each text, and all of them."""
        dense = self.results[0]["nll"]
        entry["texts"] = {t: math.exp(entry["nll"][t] - dense[t]) for t in EVALUATION}
        entry["ratio"] = math.exp(sum(entry["nll"][t] - dense[t] for t in EVALUATION)
                                  / len(EVALUATION))

    def count_gates(self, entry, gates):
        """What a token reads on average: a module counts everything it has, but
        behind a closed gate W is not read, and behind an open one M is not."""
        k, saved, shares = entry["name"].split(",")[0].split()[1], 0, []
        for layer in self.inputs:
            if "." not in layer["name"]:
                continue
            number, group = layer["name"].split(".")
            at = (int(number) * len(GROUPS) + GROUPS.index(group)) * 3
            levels = gates[at : at + 3]
            closed = levels[0] / max(1, sum(levels))
            stored = sum(weight["bytes"] for weight in layer["weights"])
            image = sum(weight["rows"] for weight in layer["weights"]) * int(k) * BYTES_8
            saved += closed * stored + (1 - closed) * image
            shares.append(closed)
        entry["bytes"] -= round(saved)
        entry["closed"] = sum(shares) / len(shares)

    def compile_plan(self, plan):
        path = self.folder / "plan.json"
        path.write_text(json.dumps(plan))
        return self.compile("planned", "--plan", path)

    def plain(self, bits, head=None):
        linears = {group: {"bits": bits} for group in GROUPS} if bits else {}
        plan = {"gist_plan": 1, "block": 128, "layers": [{"linears": linears}] * self.layers}
        if head:
            plan["head"] = {"bits": head}
        name = (f"{bits} bits" if bits else "as stored") + (f", head {head}" if head else "")
        return self.measure("plain", name, lambda: self.compile_plan(plan))

    def promised(self, quality):
        """The plan for a quality, which sees calibration texts only."""
        def make():
            folder = Path(f"{self.options.output}.{quality}-plan")
            self.search(quality, folder)
            for name in "plan.json", "finding.json":
                if (folder / name).is_file():
                    return self.compile("planned", "--plan", folder / name)
            return None  # Nothing keeps it.
        return self.measure("graded", f"--quality {quality:g}", make)

    def gated(self, k, epsilon):
        linears = {group: {"k": k, "epsilon": epsilon} for group in GROUPS}
        plan = {"gist_plan": 1, "block": 128, "bases": f"{self.calibration}.safetensors",
                "layers": [{"linears": linears}] * self.layers}
        return self.measure("gated", f"k {k}, epsilon {epsilon:g}", lambda: self.compile_plan(plan))

    def write(self):
        found = {"model": Path(self.options.model).name, "tokens": self.options.tokens,
                 "window": self.options.window, "results": self.results,
                 "verdict": judge(self.results)}
        self.output.write_text(json.dumps(found, indent=1) + "\n")
        Path(f"{self.options.output}.svg").write_text(plot(self.results))


def judge(results):
    """Whether plans keep what the project promises of them: at the bytes of any
    plain rounding below four bits at most half of its loss, and within 1.01 a
    tenth fewer bytes than the best plain rounding within 1.01."""
    plain = [entry for entry in results if entry["kind"] in ("dense", "plain")]
    graded = [entry for entry in results if entry["kind"] == "graded"]
    verdict = {"below_4_bits": [], "at_1.01": None}
    for peer in plain:
        rivals = [entry for entry in graded if entry["bytes"] <= peer["bytes"]]
        if peer["bytes"] >= results[0]["bytes"] or peer["ratio"] <= 1:
            continue
        best = min(rivals, key=lambda entry: entry["ratio"], default=None)
        verdict["below_4_bits"].append(
            {"plain": peer["name"], "bytes": peer["bytes"], "plain_loss": peer["ratio"] - 1,
             "graded_loss": best and best["ratio"] - 1,
             "holds": bool(best) and best["ratio"] - 1 <= (peer["ratio"] - 1) / 2})
    holding = [entry for entry in plain if entry["ratio"] <= 1.01]
    ours = [entry for entry in graded if entry["ratio"] <= 1.01]
    if holding and ours:
        peer = min(holding, key=lambda entry: entry["bytes"])
        best = min(ours, key=lambda entry: entry["bytes"])
        verdict["at_1.01"] = {"plain": peer["name"], "plain_bytes": peer["bytes"],
                              "graded": best["name"], "graded_bytes": best["bytes"],
                              "graded_ratio": best["ratio"],
                              "saving": 1 - best["bytes"] / peer["bytes"],
                              "holds": best["bytes"] <= 0.9 * peer["bytes"]}
    return verdict


COLUMNS = dict.fromkeys(["kind", "what", "MB for a token", "perplexity ratio", *EVALUATION])
COLUMNS["MB for a token"] = 1


def row(entry):
    closed = f", {entry['closed']:.1%} of the gates closed" if "closed" in entry else ""
    return [entry["kind"], entry["name"] + closed, entry["bytes"] / 1e6,
            f"{entry['ratio']:.4g}", *(f"{entry['texts'][text]:.4g}" for text in EVALUATION)]


COLOURS = {"dense": "#444444", "plain": "#d1495b", "graded": "#00798c", "gated": "#edae49"}


def plot(results):
    """The curve as a picture: bytes to the right, loss upwards by powers of ten."""
    width, height, left, top, right, bottom = 760, 440, 64, 24, 150, 48
    points = [(e["bytes"] / 1e6, max(e["ratio"] - 1, 1e-4), e) for e in results]
    xs = [x for x, _, _ in points]
    low, high = 0.95 * min(xs), 1.03 * max(xs)
    bottom_power = -4
    top_power = max(0, math.ceil(math.log10(max(y for _, y, _ in points))))
    def at(x, y):
        return (left + (x - low) / (high - low) * (width - left - right),
                height - bottom - (math.log10(y) - bottom_power) / (top_power - bottom_power)
                * (height - top - bottom))
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
           'font-family="sans-serif" font-size="12">',
           f'<rect width="{width}" height="{height}" fill="white"/>']
    for power in range(bottom_power, top_power + 1):
        _, y = at(low, 10.0**power)
        label = f"+{10.0**power:.4g}" if power > bottom_power else "up to +0.0001"
        out.append(f'<path d="M{left} {y:.1f}H{width - right}" stroke="#dddddd"/>'
                   f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">'
                   f'{label if power > bottom_power else "&#8804; +0.0001"}</text>')
    _, limit = at(low, 0.01)
    out.append(f'<text x="{width - right + 6}" y="{limit + 4:.1f}">quality 1.01</text>')
    step = 10 ** math.floor(math.log10(high - low)) / 2
    for i in range(math.ceil(low / step), math.floor(high / step) + 1):
        x, y = at(i * step, 10.0**bottom_power)
        out.append(f'<path d="M{x:.1f} {y:.1f}v4" stroke="#444444"/>'
                   f'<text x="{x:.1f}" y="{y + 18:.1f}" text-anchor="middle">{i * step:g}</text>')
    out.append(f'<text x="{(left + width - right) / 2}" y="{height - 10}" text-anchor="middle">'
               'weight bytes read for a token, MB</text>'
               f'<text x="{left}" y="{top - 8}">perplexity over that of the stored model, minus 1'
               '</text>')
    for row, (kind, colour) in enumerate(COLOURS.items()):
        found = sorted(at(x, y) + (e["name"],) for x, y, e in points if e["kind"] == kind)
        if kind == "graded" and found:
            line = "L".join(f"{x:.1f} {y:.1f}" for x, y, _ in found)
            out.append(f'<path d="M{line}" fill="none" stroke="{colour}" stroke-opacity="0.5"/>')
        for x, y, name in found:
            out.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}">'
                       f'<title>{kind}: {name}</title></circle>')
        y = top + 16 + 20 * row
        out.append(f'<circle cx="{width - right + 12}" cy="{y}" r="4" fill="{colour}"/>'
                   f'<text x="{width - right + 22}" y="{y + 4}">{kind}</text>')
    return "\n".join(out) + "\n</svg>\n"


def numbers(kind):
    return lambda text: [kind(part) for part in text.split(",") if part]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, metavar="FOLDER")
    parser.add_argument("--model", required=True, metavar="PATH")
    parser.add_argument("--texts", required=True, metavar="FOLDER")
    parser.add_argument("-o", "--output", required=True, metavar="NAME")
    parser.add_argument("--json", metavar="FILE", help="the table, for docs/performance/data")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--tokens", type=int, default=2048, help="of each text, at most")
    parser.add_argument("--window", type=int, default=512)
    parser.add_argument("--calibration-tokens", type=int, default=12288)
    parser.add_argument("--max-k", type=int, default=128)
    parser.add_argument("--calibration", metavar="NAME",
                        help="keep and use NAME.json and NAME.safetensors")
    parser.add_argument("--bits", type=numbers(int), default=[0, 4, 3, 2], metavar="N,N",
                        help="of plain rounding; 0: layers as stored")
    parser.add_argument("--head-bits", type=numbers(int), default=[8, 4, 3], metavar="N,N",
                        help="of plain rounding; the stored head is always there")
    parser.add_argument("--qualities", type=numbers(float), metavar="X,X",
                        default=[1.01, 1.02, 1.05, 1.1, 1.2, 1.5])
    parser.add_argument("--gates", default=["64:0.1", "128:0.2"], metavar="K:EPSILON,...",
                        type=lambda text: [part for part in text.split(",") if part])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gist-bench-") as folder:
        bench = Bench(options, Path(folder))
        bench.measure("dense", "as stored", lambda: bench.compile("dense"))
        bench.calibrate()
        for bits in options.bits:
            for head in [None, *options.head_bits]:
                if bits or head:
                    bench.plain(bits, head)
        for quality in options.qualities:
            bench.promised(quality)
        for gate in options.gates:
            k, epsilon = gate.split(":")
            bench.gated(int(k), float(epsilon))
        bench.write()
    rows = list(map(row, bench.results))
    print(results.markdown(COLUMNS, rows))
    if options.json:
        results.write(options.json, COLUMNS, rows)
    print(json.dumps(judge(bench.results), indent=1))


if __name__ == "__main__":
    main()
