#!/usr/bin/env python3
# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What plans keep and save: perplexity, recall, work, memory and time of a model
with each plan beside the model without one, on texts and at lengths of your choice.

    bench/plan_quality.py --gist-run … --gist-compile … --model model.gguf \\
        --plan "quality 1.01=plan.json" --text prose=prose.txt -o evaluation.json
    gist-plan report evaluation.json -o report.html
"""

import argparse
import json
import os
import platform
import shlex
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path


def say(text):
    print(text, file=sys.stderr, flush=True)


def named(text):
    """NAME=FILE, or a file named after itself."""
    name, equals, path = text.partition("=")
    return (name, Path(path)) if equals else (Path(text).stem, Path(text))


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder

    def compile(self, name, plan=None):
        module = self.folder / f"{name}.gist"
        command = [self.options.gist_compile, self.options.model, "-o", module,
                   f"--context={max(self.options.tokens)}", "--progress=off"]
        if plan:
            command += ["--plan", plan]
        subprocess.run(command, check=True)
        return module

    def run(self, *arguments):
        done = subprocess.run([self.options.gist_run, *map(str, arguments),
                               "-t", str(self.options.threads), "--device", self.options.device],
                              stdout=subprocess.PIPE, check=True)
        return json.loads(done.stdout)

    def evaluate(self, module, dense, name, text, tokens):
        result = self.run("eval", module, "--against", dense, "--text", text, "--window", tokens,
                          "--stride", tokens, "--max-tokens", tokens, "--recall", tokens // 2,
                          "--json")
        windows, recall = result["windows"], result["recall"]
        say(f"  {name:10} {tokens:6} tokens: perplexity {windows['perplexity_ratio']:.4f}, "
            f"recall {recall['perplexity_ratio']:.4f}, work "
            f"{result.get('work', {}).get('attention', float('nan')):.3f}")
        return {"text": name, "tokens": tokens, "windows": windows, "recall": recall,
                "work": result.get("work", {}), "layers": result.get("layers", [])}

    def seconds(self, module, text, tokens, decode):
        """Of a prefill of so many tokens and of one token of decode after them."""
        prefill = self.run("bench", module, "--text", text, "-p", tokens, "-n", 0,
                           "-r", 1, "-o", "json")["tests"][0]
        one = self.run("bench", module, "--text", text, "-p", 0, "-n", decode, "-d",
                       tokens - decode, "-r", 1, "-o", "json")["tests"][0]
        return tokens / prefill["tokens_per_second"], 1 / one["tokens_per_second"]

    def time(self, modules, text, tokens, decode):
        """Medians of seconds() of each module, turns about."""
        rows = {name: [] for name in modules}
        for _ in range(self.options.rounds):
            for name, module in modules.items():
                rows[name].append(self.seconds(module, text, tokens, decode))
        return {name: tuple(map(statistics.median, zip(*runs))) for name, runs in rows.items()}


class CostModel:
    """Time as linear layers and attention, from the model as it is at two lengths.

    Prefill takes a T + b T^2 and a token of decode c + e T: what grows with T is
    attention, and a plan changes that alone, by its share of the work or of the rows
    that one query reads."""

    def __init__(self, short, long):
        (t1, (prefill1, decode1)), (t2, (prefill2, decode2)) = short, long
        quadratic = (prefill2 / t2 - prefill1 / t1) / (t2 - t1)
        self.prefill = (prefill2 / t2 - quadratic * t2, quadratic)
        slope = (decode2 - decode1) / (t2 - t1)
        self.decode = (decode2 - slope * t2, slope)

    def ratios(self, tokens, work, rows):
        """Dense time over the plan's, prefill and decode."""
        linear, quadratic = (self.prefill[0] * tokens, self.prefill[1] * tokens ** 2)
        rest, reading = self.decode[0], self.decode[1] * tokens
        return ((linear + quadratic) / (linear + quadratic * work),
                (rest + reading) / (rest + reading * rows))


def rows_read(plan, layers, tokens):
    """Keys that one query sees after so many tokens, as a share of all."""
    total = count = 0
    for heads, layer in zip(plan["layers"], layers):
        for head, clusters in zip(heads["heads"] if isinstance(heads, dict) else heads,
                                  layer["clusters_of_heads"]):
            # A block leaves the window at once, so half of one is there beside it.
            exact = tokens if head == "dense" else head["window"] + plan["block"] / 2
            total += min(tokens, exact + (0 if head == "dense" else clusters))
            count += 1
    return total / count / tokens


def measure(options):
    with tempfile.TemporaryDirectory(prefix="gist-plan-") as name:
        bench = Bench(options, Path(name))
        dense = bench.compile("dense")
        plans, modules = [], {}
        for number, (title, path) in enumerate(options.plan):
            content = json.loads(path.read_text())
            module = modules[title] = bench.compile(f"plan{number}", path)
            say(title)
            plans.append({
                "name": title, "plan": content,
                "texts": [bench.evaluate(module, dense, text, file, tokens)
                          for tokens in options.tokens for text, file in options.text],
                "speed": []})
            if quality := content.get("contract", {}).get("quality"):
                plans[-1]["quality"] = quality
        for tokens in options.speed:
            text = options.text[0][1]
            times = bench.time({"dense": dense, **modules}, text, tokens, options.decode)
            short = tokens // 4
            model = CostModel((short, bench.time({"dense": dense}, text, short,
                                                 options.decode)["dense"]),
                              (tokens, times["dense"]))
            for plan in plans:
                module = modules[plan["name"]]
                run = bench.evaluate(module, dense, options.text[0][0], text, tokens)
                predicted = model.ratios(tokens, run["work"]["attention"],
                                         rows_read(plan["plan"], run["layers"], tokens))
                for place, (test, amount) in enumerate((("prefill", tokens), ("decode", 1))):
                    base, ours = times["dense"][place], times[plan["name"]][place]
                    say(f"  {plan['name']}, {test} at {tokens}: {base / ours:.3f} times as fast "
                        f"as dense, predicted {predicted[place]:.3f}")
                    plan["speed"].append({"test": test, "tokens": tokens, "dense": amount / base,
                                          "plan": amount / ours, "predicted": predicted[place]})
    return {"gist_evaluation": 1, "model": options.model.name,
            "machine": f"{platform.machine()}, {options.threads} threads, {options.device}",
            "command": shlex.join(["bench/plan_quality.py"] + [
                part for title, _ in options.plan for part in ("--plan", title)]),
            "plans": plans}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gist-run", required=True, metavar="PATH")
    parser.add_argument("--gist-compile", required=True, metavar="PATH")
    parser.add_argument("--model", required=True, type=Path)
    parser.add_argument("--plan", required=True, action="append", type=named, metavar="NAME=FILE")
    parser.add_argument("--text", required=True, action="append", type=named, metavar="NAME=FILE")
    parser.add_argument("--tokens", type=lambda text: [int(n) for n in text.split(",")],
                        default=[512, 2048, 4096, 8192], metavar="N,…")
    parser.add_argument("--speed", type=lambda text: [int(n) for n in text.split(",") if n],
                        default=[], metavar="N,…", help="lengths to time, prefill and decode")
    parser.add_argument("--decode", type=int, default=64, help="tokens to time in decode")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--device", default="cpu")
    parser.add_argument("-o", "--output", required=True, type=Path)
    options = parser.parse_args()
    result = measure(options)
    options.output.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
