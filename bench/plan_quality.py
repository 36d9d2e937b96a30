#!/usr/bin/env python3
# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What plans keep and save: perplexity, recall, work, memory and time of a model
with each plan beside the model without one, on texts and at lengths of your choice.

    bench/plan_quality.py --gist-run … --gist-compile … --model model.gguf \\
        --plan "quality 1.01=plan.json" --text prose=prose.txt -o evaluation.json
    gist-plan report evaluation.json -o report.html

With --baselines the first plan is also measured against what can be made of it:
as many representatives drawn at random, sinks and a window of the same work in
every head, clusters in every head with a selection in every layer and with the
first layer's selection inherited by all without validation; and, with what
`gist-plan calibrate` wrote, the plan of a planner that knows windows alone.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import baselines
import results


def say(text):
    print(text, file=sys.stderr, flush=True)


def named(text):
    """NAME=FILE, or a file named after itself."""
    name, equals, path = text.partition("=")
    return (name, Path(path)) if equals else (Path(text).stem, Path(text))


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.plans = 0

    def compile(self, name, plan=None):
        module = self.folder / f"{name}.gist"
        command = [self.options.gist_compile, self.options.model, "-o", module,
                   f"--context={max(self.options.tokens)}", "--progress=off"]
        if plan:
            # What a plan costs is measured too, so that nothing of it may be left out.
            command += ["--plan", plan, "--follow-plan"]
        if self.options.layers:
            command += ["--observe"]
        subprocess.run(command, check=True)
        return module

    def write(self, name, plan):
        path = self.folder / f"{name}.json"
        path.write_text(json.dumps(plan) + "\n")
        return path

    def run(self, *arguments):
        done = subprocess.run([self.options.gist_run, *map(str, arguments),
                               "-t", str(self.options.threads), "--device", self.options.device],
                              stdout=subprocess.PIPE, check=True)
        return json.loads(done.stdout)

    def evaluate(self, module, dense, name, text, tokens):
        result = self.run("eval", module, "--against", dense, "--text", text, "--window", tokens,
                          "--stride", tokens, "--max-tokens", tokens * self.options.windows,
                          "--recall", tokens // 2, "--json",
                          *(["--layers"] if self.options.layers else []))
        windows, recall = result["windows"], result["recall"]
        work = result.get("work", {}).get("attention")
        say(f"  {name:10} {tokens:6} tokens: perplexity {windows['perplexity_ratio']:.4f}, "
            f"recall {recall['perplexity_ratio']:.4f}" + (f", work {work:.3f}" if work else ""))
        kept = ("windows", "recall", "variation", "work", "layers", "selections", "weight_bytes",
                "kv_bytes", "against_kv_bytes", "flops_of_token", "against_flops_of_token",
                "seconds", "against_seconds")
        return {"text": name, "tokens": tokens} | {key: result[key] for key in kept
                                                   if key in result}

    def representatives(self, module, text, tokens, layers):
        """Which tokens of each layer's heads are representatives, and how many
        numbers their keys have."""
        import numpy as np
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            out = subprocess.run([self.options.gist_run, "call", module, "score", "--text", text,
                                  "--max-tokens", str(tokens), "-o", folder],
                                 stdout=subprocess.PIPE, check=True, text=True).stdout
            found = {Path(path).stem.removeprefix("score."): path for path in out.splitlines()}
            kept, size = [], 0
            for layer in range(layers):
                name = f"selection.{layer}.nearest"
                if name in found:  # an inherited selection is only in the layer that made it
                    nearest = np.load(found[name])
                    kept.append(nearest == np.arange(nearest.shape[-1]))
                    size = np.load(found[f"selection.{layer}.rows"]).shape[-1]
                else:
                    kept.append(kept[-1])
        return kept, size

    def measure(self, title, plan, dense, tokens, path=None):
        """Measures a plan on every text; also returns its module. Files that a plan names
        are next to its own file, `path`."""
        say(title)
        module = self.compile(f"plan{self.plans}",
                              path or self.write(f"plan{self.plans}", plan))
        self.plans += 1
        return {"name": title, "plan": plan, "speed": [],
                "texts": [self.evaluate(module, dense, text, file, count)
                          for count in tokens for text, file in self.options.text]}, module

    def measure_selections(self, title, plan, is_inherited, dense, tokens, group):
        """A plan of selections, whose work follows from what it traces."""
        made = baselines.selections(plan, is_inherited)
        found, module = self.measure(title, made, dense, tokens)
        module.unlink()
        traced = self.compile("traced", self.write(
            "traced", baselines.selections(plan, is_inherited, is_traced=True)))
        files = dict(self.options.text)
        for run in found["texts"]:
            kept, size = self.representatives(traced, files[run["text"]], run["tokens"],
                                              len(made["layers"]))
            run["work"] = {"attention": baselines.selection_work(made, kept, group, size)}
        traced.unlink()
        return found

    def baselines(self, first, dense):
        """What the first plan is compared with."""
        plan, tokens = first["plan"], self.options.tokens
        longest = [run for run in first["texts"] if run["tokens"] == max(tokens)]
        work = statistics.mean(run["work"]["attention"] for run in longest)
        layers = range(len(plan["layers"]))
        clusters = [[statistics.mean(counts) for counts in
                     zip(*(run["layers"][n]["clusters_of_heads"] for run in longest))]
                    for n in layers]
        found = []

        def add(title, what, made):
            result, module = self.measure(title, made, dense, tokens)
            module.unlink()
            found.append(result | {"baseline": what})

        add("random representatives",
            f"As many representatives in each head as “{first['name']}” has, drawn at random; "
            "other tokens join the nearest.",
            baselines.random_representatives(plan, clusters, max(tokens)))
        made = baselines.windows_everywhere(plan, work, max(tokens))
        window = made["layers"][0]["heads"][0]["window"]
        add("sinks + window everywhere",
            f"Every head sees {baselines.SINKS} first tokens and a window of {window}: the same "
            f"work at {max(tokens)} tokens.", made)
        if self.options.calibration:
            folder = self.folder / "windows"
            subprocess.run([self.options.gist_plan, "auto", self.options.model, "--choices",
                            "heads", "--heads", "windows", "--least", "work", "--seconds", "0",
                            "--calibration", self.options.calibration, "--context",
                            str(max(tokens)), "--quality", str(first.get("quality", 1.01)),
                            "--lengths", ",".join(map(str, tokens)), "-t",
                            str(self.options.threads), "-o", folder],
                           check=True, stdout=subprocess.DEVNULL)
            [path] = [*folder.glob("plan.json"), *folder.glob("finding.json")]
            add("planner of windows", "The same planner, restricted to dense heads and to sinks "
                "with a window.", json.loads(path.read_text()))
        if not baselines.cluster_heads(plan):
            return found
        # All logits of a sequence are in memory at once.
        short = [count for count in tokens if count <= self.options.whole]
        shape = first["texts"][0]["work"]
        for title, is_inherited, what in (
                ("fresh selection in every layer", False, "All heads of all layers attend to "
                 "clusters of one threshold, the plan's median, selected in every layer."),
                ("inherited without validation", True, "The same, with the first layer's "
                 "selection in all layers, whatever their keys look like.")):
            if not short:
                continue
            found.append(self.measure_selections(title, plan, is_inherited, dense, short,
                                                 shape["query_heads"] // shape["kv_heads"])
                         | {"baseline": what})
        return found

    def seconds(self, module, text, tokens, decode):
        """Seconds of a prefill of `tokens` tokens, and of one token of decode after them."""
        prefill = self.run("bench", module, "--text", text, "-p", tokens, "-n", 0,
                           "-r", 1, "-o", "json")["tests"][0]
        one = self.run("bench", module, "--text", text, "-p", 0, "-n", decode, "-d",
                       tokens - decode, "-r", 1, "-o", "json")["tests"][0]
        return tokens / prefill["tokens_per_second"], 1 / one["tokens_per_second"]

    def time(self, modules, text, tokens, decode):
        """The median seconds() of each module; modules take turns."""
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
        """Dense time relative to the plan's, for prefill and decode."""
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
            # Tokens leave the window in whole blocks: on average half a block more is kept.
            exact = tokens if head == "dense" else head["window"] + plan["block"] / 2
            total += min(tokens, exact + (0 if head == "dense" else clusters))
            count += 1
    return total / count / tokens


def measure(options):
    with tempfile.TemporaryDirectory(prefix="gist-plan-") as name:
        bench = Bench(options, Path(name))
        dense = bench.compile("dense")
        plans, modules = [], {}
        for title, path in options.plan:
            content = json.loads(path.read_text())
            result, modules[title] = bench.measure(title, content, dense, options.tokens,
                                                   path)
            plans.append(result)
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
        if options.baselines:
            plans += bench.baselines(plans[0], dense)
    return {"gist_evaluation": 1, "model": options.model.name,
            **results.about(threads=options.threads, device=options.device), "plans": plans}


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
    parser.add_argument("--windows", type=int, default=1, metavar="N",
                        help="windows of each text and length: their spread is reported")
    parser.add_argument("--layers", action="store_true",
                        help="also the errors of attention and linears in every layer")
    parser.add_argument("--baselines", action="store_true",
                        help="also what the first plan can be compared with")
    parser.add_argument("--calibration", type=Path, metavar="FILE",
                        help="of gist-plan calibrate: for the baseline of a planner of windows")
    parser.add_argument("--gist-plan", metavar="PATH", help="needed with --calibration")
    parser.add_argument("--whole", type=int, default=2048, metavar="N",
                        help="longest sequence of baselines that see a text at once")
    parser.add_argument("--decode", type=int, default=64, help="tokens to time in decode")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--device", default="cpu")
    parser.add_argument("-o", "--output", required=True, type=Path)
    options = parser.parse_args()
    if options.calibration and not options.gist_plan:
        parser.error("--calibration needs --gist-plan")
    result = measure(options)
    options.output.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
