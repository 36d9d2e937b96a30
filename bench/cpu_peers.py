#!/usr/bin/env python3
# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gist beside llama.cpp and PyTorch on this machine's CPU: the same model files and
number of threads, every engine in turn in every round, so that whatever else the
machine does is felt by all. See bench/README.md."""

import argparse
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import results
from engines import Gist, Missing, Worker

# The continuations are compared. Words, code, a licence, numbers.
PROMPTS = [
    "The capital of France is",
    "def fibonacci(n):\n    ",
    "Once upon a time, in a village by the sea,",
    "Licensed under the Apache License, Version 2.0 (the",
    "1, 1, 2, 3, 5, 8,",
]
SAID = 16  # Tokens compared after each prompt.
CHECKED = 512  # Tokens of the text whose likelihood is compared.


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gist-run", required=True, metavar="PATH",
                        help="of a release build")
    parser.add_argument("--gist-compile", required=True, metavar="PATH")
    parser.add_argument("--model", required=True, action="append", metavar="TITLE=GGUF",
                        help="may be given several times; without a title the file's name is one")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--prefill", default="128,512,2048", metavar="N,...")
    parser.add_argument("--decode", default="128", metavar="N,...")
    parser.add_argument("--text", default=Path(__file__).parents[1] / "LICENSE",
                        help="whose likelihood the engines must agree on")
    parser.add_argument("--engines", metavar="NAME,...",
                        help="only these, and gist, of: " + ", ".join(PEERS))
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write JSON")
    parser.add_argument("--log", type=Path, default=os.devnull, metavar="FILE",
                        help="what the peers print")
    return parser.parse_args()


TITLES = {"gist": "Gist", "llama.cpp": "llama.cpp, the same file",
          "llama.cpp Q4_0": "llama.cpp, requantised to Q4_0, its fastest format"}
# Name: the kind of worker, the format of its weights, its own options, and how
# far its perplexity may be from gist's. 8-bit activations differ by parts in a
# thousand; requantised weights are other weights, so that is a sanity check.
# llama.cpp's fused ("flash") attention is faster at most lengths, not at all.
PEERS = {
    "llama.cpp": ("llama.cpp", "as stored", {"flash": True}, 0.03),
    "llama.cpp Q4_0": ("llama.cpp", "Q4_0", {"flash": True}, 0.5),
    "PyTorch f32": ("torch", "f32", {"dtype": "float32"}, 0.03),
    "PyTorch bf16": ("torch", "bf16", {"dtype": "bfloat16"}, 0.03),
    "llama.cpp unfused": ("llama.cpp", "as stored", {"flash": False}, 0.03),
    "llama.cpp Q4_0 unfused": ("llama.cpp", "Q4_0", {"flash": False}, 0.5),
}


class Comparison:
    """The engines that can run here, and their measurements."""

    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.tests = [(kind, int(n))
                      for kind, counts in (("pp", options.prefill), ("tg", options.decode))
                      for n in counts.split(",") if int(n)]
        self.context = max(n for _, n in self.tests)
        self.log = open(options.log, "ab")  # noqa: SIM115 (open until the program ends)
        self.gist = Gist(options.gist_run, options.gist_compile, options.model,
                         options.threads, self.context, folder)
        self.engines = {"gist": self.gist}
        self.times = {}

    def worker(self, name, context):
        kind, weights, own, _ = PEERS[name]
        model = self.options.model
        if weights == "Q4_0":
            model = self.folder / "q4_0.gguf"
            if not model.exists():
                Worker("requantize", {"source": str(self.options.model),
                                      "destination": str(model),
                                      "threads": self.options.threads}, self.log).close()
        return Worker(kind, {"model": str(model), "threads": self.options.threads,
                             "context": context, **own}, self.log)

    def check(self):
        """Leaves out engines that are missing, and exits if an engine does not
        compute the same model. Runs in separate processes: the logits of a text are
        large and would count as the engine's memory."""
        asked = (self.options.text, CHECKED, PROMPTS, SAID)
        ours = self.gist.check(*asked)
        print(f"agreement on {CHECKED} tokens of {Path(self.options.text).name} and "
              f"{SAID} tokens after each of {len(PROMPTS)} prompts:")
        row = "  {:24} perplexity {:9.4f}  ratio {:7.4f}  equal tokens {:3} of {}"
        total = SAID * len(PROMPTS)
        print(row.format("gist", math.exp(ours["nll"]), 1, total, total))
        chosen = self.options.engines.split(",") if self.options.engines else PEERS
        self.agreement = {}
        for name in chosen:
            try:
                peer = self.worker(name, 2 * CHECKED)
            except Missing as why:
                print(f"  {name}: left out, {why}")
                continue
            theirs = peer.check(*asked)
            peer.close()
            ratio = math.exp(theirs["nll"] - ours["nll"])
            same = sum(common_start(a, b) for a, b in zip(ours["said"], theirs["said"]))
            first = sum(a[0] == b[0] for a, b in zip(ours["said"], theirs["said"]))
            print(row.format(name, math.exp(theirs["nll"]), ratio, same, total))
            self.agreement[name] = {"perplexity_ratio": ratio, "equal_tokens": same / total}
            if abs(ratio - 1) > PEERS[name][3]:
                sys.exit(f"{name} does not compute the same model: its perplexity is "
                         f"{ratio:.3f} times gist's")
            # Rounding may decide a few near ties, but not most of them.
            if PEERS[name][1] != "Q4_0" and 2 * first < len(PROMPTS):
                sys.exit(f"{name} does not compute the same model: the first tokens after "
                         f"{len(PROMPTS) - first} of {len(PROMPTS)} prompts differ")
            self.engines[name] = None

    def measure(self):
        for name in self.engines:
            if name != "gist":
                self.engines[name] = self.worker(name, self.context)
        self.load = [os.getloadavg()[0]]
        for number in range(self.options.rounds):
            for test in self.tests:
                for name, engine in self.engines.items():
                    seconds = engine.time(*test)
                    self.times.setdefault((name, test), []).append(seconds)
            print(f"round {number + 1} of {self.options.rounds} done", file=sys.stderr)
        self.load.append(os.getloadavg()[0])
        self.memory = {name: engine.memory() for name, engine in self.engines.items()}
        self.versions = {name: engine.version() for name, engine in self.engines.items()}
        for engine in self.engines.values():
            engine.close()

    def rates(self, name, test):
        return [test[1] / seconds for seconds in self.times[name, test]]

    def rate(self, name, test):
        return statistics.median(self.rates(name, test))


def common_start(ours, theirs):
    """How many tokens are equal before the first that is not."""
    count = 0
    for a, b in zip(ours, theirs):
        if a != b:
            break
        count += 1
    return count


def build_roofline(folder):
    program = folder / "gist-roofline"
    native = "-march=native" if platform.machine() == "x86_64" else "-mcpu=native"
    subprocess.run([os.environ.get("CXX", "c++"), "-std=c++20", "-O2", native, "-pthread",
                    Path(__file__).with_name("roofline.cpp"), "-o", program], check=True)
    return program


def roofline(folder, threads):
    try:
        done = subprocess.run([build_roofline(folder), "--threads", str(threads)],
                              stdout=subprocess.PIPE, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"no roofline: {error}")
        return None
    return json.loads(done.stdout)


def work(model):
    """The work of one token: operations of the products in layers and in the head,
    bytes of weights, and operations of attention for each earlier token."""
    try:
        import gguf
    except ImportError:
        print("no roofline: the package gguf is not installed")
        return None
    reader = gguf.GGUFReader(model)
    matrices = {t.name: t for t in reader.tensors if len(t.shape) == 2}
    head = matrices.get("output.weight", matrices["token_embd.weight"])
    layers = [t for name, t in matrices.items()
              if name not in ("output.weight", "token_embd.weight")]
    architecture = reader.fields["general.architecture"].contents()
    width = reader.fields[f"{architecture}.embedding_length"].contents()
    depth = reader.fields[f"{architecture}.block_count"].contents()
    return {"layer_operations": 2 * sum(int(t.n_elements) for t in layers),
            "head_operations": 2 * int(head.n_elements),
            "weight_bytes": sum(int(t.n_bytes) for t in [*layers, head]),
            "attention_operations": 4 * width * depth}


def bounds(test, peaks, done):
    """Upper bounds on tokens per second: by compute (int8 products, then f32
    attention) and by memory (the weights are read once per call)."""
    kind, count = test
    calls = 1 if kind == "pp" else count
    compute = ((count * done["layer_operations"] + calls * done["head_operations"])
               / peaks["int8"]["per_second"]
               + done["attention_operations"] * count * (count + 1) / 2
               / peaks["f32"]["per_second"])
    memory = calls * done["weight_bytes"] / peaks["read_bytes_per_second"]
    return {"compute": count / compute, "memory": count / memory}


def table(found):
    """Columns and rows, an engine each."""
    columns = {"model": None, "engine": None}
    for kind, count in found.tests:
        name = f"{'prefill' if kind == 'pp' else 'decode'} {count}"
        columns |= {f"{name}, tokens/s": 1, f"± {name}": 1, f"Gist times as fast, {name}": 2}
    columns |= {"peak memory, MiB": 1, "(peak - KV) / file": 2}
    size, rows = found.options.model.stat().st_size, []
    for name in found.engines:
        row = [found.options.title, TITLES.get(name, name)]
        for test in found.tests:
            rates = found.rates(name, test)
            row += [found.rate(name, test), statistics.stdev(rates) if len(rates) > 1 else None,
                    None if name == "gist" else found.rate("gist", test) / found.rate(name, test)]
        use = found.memory[name]
        rows.append(row + [use["peak"] / 2**20, (use["peak"] - use["kv"]) / size])
    return columns, rows


def print_bounds(found, peaks, done):
    print(f"\nroofline, {peaks['threads']} threads: {peaks['int8']['per_second'] / 1e9:.0f} GOP/s "
          f"int8 ({peaks['int8']['instruction']}), {peaks['f32']['per_second'] / 1e9:.0f} GFLOP/s "
          f"f32 ({peaks['f32']['instruction']}), {peaks['read_bytes_per_second'] / 1e9:.1f} GB/s read")
    for test in found.tests:
        limit = bounds(test, peaks, done)
        least = min(limit.values())
        print(f"  {test[0]}{test[1]:<6} at most {limit['compute']:8.0f} tokens/s by arithmetic, "
              f"{limit['memory']:8.0f} by weights read; gist reaches "
              f"{100 * found.rate('gist', test) / least:.0f} % of the lower")


def compare(options, peaks):
    """Measures one model; columns and rows."""
    with tempfile.TemporaryDirectory(prefix="gist-bench-") as name:
        found = Comparison(options, Path(name))
        found.check()
        found.measure()
    print(f"\n{results.machine()}, {options.threads} threads, {options.rounds} rounds, load average "
          f"{found.load[0]:.2f} before and {found.load[1]:.2f} after")
    for name, version in found.versions.items():
        print(f"  {name:24}{version}")
    columns, rows = table(found)
    print("\n" + results.markdown(columns, rows))
    ours = found.memory["gist"]
    print(f"\ngist: module file {ours['module'] / 2**20:.1f} MiB, compiled in "
          f"{found.gist.compile_seconds:.1f} s, loaded in {ours['load_seconds'] * 1e3:.0f} ms")
    if peaks and (done := work(options.model)):
        print_bounds(found, peaks, done)
    return found, columns, rows


def main():
    options = arguments()
    models = [(title or Path(path).name, Path(path))
              for title, _, path in (model.rpartition("=") for model in options.model)]
    for path in options.gist_run, options.gist_compile, options.text, *(path for _, path in models):
        if not Path(path).exists():
            sys.exit(f"{path}: no such file")
    with tempfile.TemporaryDirectory(prefix="gist-bench-") as name:
        peaks = roofline(Path(name), options.threads)
    all_rows, load, agreement = [], {}, {}
    for title, path in models:
        one = argparse.Namespace(**vars(options) | {"model": path, "title": title})
        found, columns, rows = compare(one, peaks)
        all_rows += rows
        load[title], agreement[title] = found.load, found.agreement
        # After each model: a run takes long.
        if options.json:
            results.write(options.json, columns, all_rows, threads=options.threads,
                          rounds=options.rounds, load=load, versions=found.versions,
                          agreement=agreement, roofline=peaks)


if __name__ == "__main__":
    main()
