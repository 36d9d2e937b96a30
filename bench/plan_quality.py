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

    def time(self, modules, text, tokens, decode):
        """Tokens per second of each module, the median of turns about."""
        rows = {name: ([], []) for name in modules}
        for _ in range(self.options.rounds):
            for name, module in modules.items():
                tests = self.run("bench", module, "--text", text, "-p", tokens, "-n", 0,
                                 "-r", 1, "-o", "json")["tests"]
                rows[name][0].append(tests[0]["tokens_per_second"])
                tests = self.run("bench", module, "--text", text, "-p", 0, "-n", decode, "-d",
                                 tokens - decode, "-r", 1, "-o", "json")["tests"]
                rows[name][1].append(tests[0]["tokens_per_second"])
        return {name: tuple(map(statistics.median, both)) for name, both in rows.items()}


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
            for plan in plans:
                for place, test in enumerate(("prefill", "decode")):
                    ours, base = times[plan["name"]][place], times["dense"][place]
                    say(f"  {plan['name']}, {test} at {tokens}: {ours / base:.3f} of dense")
                    plan["speed"].append({"test": test, "tokens": tokens, "dense": base,
                                          "plan": ours})
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
