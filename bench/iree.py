#!/usr/bin/env python3
# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One model three ways on this machine's CPU: IREE with its own code, IREE with
our kernels embedded, and our runtime. Everything is computed in f32: IREE's own
code has weights in f32, our kernels read blocks. With --stored weights are as the
model stores them everywhere: our kernels multiply in 8 bits, and IREE expands
weights. --expanded gives f32 weights to all.
Checks that all forms that compute alike say the same tokens, and prints one table
of times, which iree-benchmark-module and gist-run bench measure. See docs/iree.md.

    bench/iree.py MODEL.gguf --build build/dev --iree build/python-iree
"""

import argparse
import json
import operator
import os
import statistics
import struct
import subprocess
import sys
from pathlib import Path

import results

ROOT = Path(__file__).resolve().parent.parent
PROMPT = "Once upon a time"


def run(words, **options):
    return subprocess.run([str(word) for word in words], check=True, text=True,
                          stdout=subprocess.PIPE, **options).stdout


def read_vocabulary(path):
    """The tokens of a GGUF file, by their number."""
    data = memoryview(path.read_bytes())
    place = 8

    def take(form):
        nonlocal place
        value, = struct.unpack_from("<" + form, data, place)
        place += struct.calcsize("<" + form)
        return value

    def text():
        nonlocal place
        size = take("Q")
        place += size
        return bytes(data[place - size:place]).decode()

    def value(kind):
        if kind == 8:
            return text()
        if kind == 9:
            inner = take("I")
            return [value(inner) for _ in range(take("Q"))]
        return take("BbHhIif?__Qqd"[kind])

    take("Q")  # tensors
    for _ in range(take("Q")):
        name = text()
        content = value(take("I"))
        if name == "tokenizer.ggml.tokens":
            return content
    raise ValueError(f"{path}: has no vocabulary")


def tokenize(path, text):
    """Words that are tokens of their own: enough for a prompt."""
    numbers = {token: i for i, token in enumerate(read_vocabulary(path))}
    first, *rest = text.split(" ")
    return [numbers[first]] + [numbers["\u0120" + word] for word in rest]


class Forms:
    """The compiled programs, kept in a folder."""

    def __init__(self, args):
        self.args = args
        self.bin = Path(args.build).resolve() / "bin"
        self.iree = Path(args.iree).resolve() / "bin"
        self.folder = Path(args.folder).resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.options = ["--kv-type=f32", "--logits=last", "--context",
                        args.context, "--progress=off"]
        if not args.stored:
            self.options += ["--compute=f32"]
        if args.plan:
            self.options += ["--plan", args.plan]

    def name(self, form):
        return self.folder / (form + ("-stored" if self.args.stored else "") +
                              ("-expanded" if self.args.expanded else "") +
                              ("-plan" if self.args.plan else ""))

    def compile(self, form):
        """The file of a form, compiled again if it is older than the compiler."""
        words = [self.bin / "gist-compile", self.args.model, *self.options]
        if not self.args.stored and (form == "plain" or self.args.expanded):
            words.append("--expand-weights")
        output = Path(str(self.name(form)) +
                      (".gist" if form == "ours" else ".vmfb"))
        if form != "ours":
            words += ["--via=iree", f"--kernels={form}",
                      f"--iree-compile={self.iree / 'iree-compile'}"]
        compiler = self.bin / "gist-compile"
        if (not output.exists() or
                output.stat().st_mtime < compiler.stat().st_mtime):
            run([*words, "-o", output])
        return output

    def tokens(self, form, prompt, count):
        file = self.compile(form)
        if form == "ours":
            text = run([self.bin / "gist-run", "generate", file, "-p", PROMPT,
                        "-n", count, "--print-tokens", "--ignore-end"])
        else:
            words = [self.iree / "python3",
                     ROOT / "samples/iree/generate.py", file, "--parameters",
                     file.with_suffix(".irpa"), "--tokens",
                     ",".join(map(str, prompt)), "-n", count]
            if self.args.plan:
                words += ["--block", 128]
            text = run(words)
        return [int(token) for token in text.split()]

    def measure(self, form, rows, past):
        """Milliseconds of a call of `rows` tokens with `past` before it."""
        file = self.compile(form)
        if form == "ours":
            kind = f"tg8@{past}" if rows == 1 else f"pp{rows}@{past}"
            text = run([self.bin / "gist-run", "bench", file, "--tests", kind,
                        "-r", 1, "-o", "json", "-t", self.args.threads])
            return 1000 * rows / json.loads(text)["tests"][0]["tokens_per_second"]
        entry = "decode" if rows == 1 else "prefill"
        # Work on the calling thread is measured in CPU time, which other programs
        # on the machine disturb less.
        device = ["--device=local-sync"] if self.args.cpu_time else [
            "--device=local-task",
            f"--task_topology_max_group_count={self.args.threads}"]
        text = run([self.iree / "iree-benchmark-module", f"--module={file}",
                    f"--parameters=model={file.with_suffix('.irpa')}", *device,
                    f"--function={entry}", f"--input={rows}xi32=7",
                    f"--input={past}", "--benchmark_min_time=0.5s",
                    "--benchmark_format=json"],
                   stderr=subprocess.DEVNULL)
        row = json.loads(text)["benchmarks"][0]
        scale = {"ns": 1e-6, "us": 1e-3, "ms": 1}[row["time_unit"]]
        return row["cpu_time" if self.args.cpu_time else "real_time"] * scale


def print_table(forms, names, args):
    """Medians of rounds in which all forms run in turn."""
    calls = [(args.rows, 0), (1, args.rows)]
    times = {form: [[], []] for form in names}
    for _ in range(args.repetitions):
        for form in names:
            for column, call in zip(times[form], calls):
                column.append(forms.measure(form, *call))
    median = {form: [statistics.median(column) for column in columns]
              for form, columns in times.items()}
    columns = {"ms a call": None, f"prefill, {args.rows} tokens": 1, "decode": 1}
    rows = [[form, *median[form]] for form in names]
    print(results.markdown(columns, rows))
    if "plain" in names and "embedded" in names:
        print("embedded is {:.2f} and {:.2f} times as fast as plain".format(
            *map(operator.truediv, median["plain"], median["embedded"])))
    if args.json:
        results.write(args.json, columns, rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("--build", default=ROOT / "build/dev")
    parser.add_argument("--iree", default=ROOT / "build/python-iree")
    parser.add_argument("--folder", default=ROOT / "build/iree",
                        help="where compiled programs are kept")
    parser.add_argument("--plan", help="compile with this plan")
    parser.add_argument("--stored", action="store_true",
                        help="weights as the model stores them")
    parser.add_argument("--expanded", action="store_true",
                        help="weights in f32 in all forms")
    parser.add_argument("--forms", default="plain,embedded,ours")
    parser.add_argument("--context", type=int, default=1024)
    parser.add_argument("--tokens", type=int, default=256,
                        help="tokens that all forms must agree on")
    parser.add_argument("--rows", type=int, default=128,
                        help="tokens of a call of prefill")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--cpu-time", action="store_true",
                        help="IREE's forms on one thread, in the time that the "
                        "thread ran: for a machine that is busy")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write JSON")
    args = parser.parse_args()

    forms = Forms(args)
    names = args.forms.split(",")
    prompt = tokenize(args.model, PROMPT)
    said = {form: forms.tokens(form, prompt, args.tokens) if args.tokens else []
            for form in names}
    first = said[names[-1]]
    failed = False
    for form in names[:-1]:
        same = next((i for i, (a, b) in enumerate(zip(first, said[form]))
                     if a != b), len(first))
        print(f"{form}: {same} of {args.tokens} tokens are those of "
              f"{names[-1]}")
        # Products in 8 bits and in f32 give different numbers.
        computes_alike = not args.stored or form != "plain"
        failed |= computes_alike and same != args.tokens
    if args.repetitions:
        print_table(forms, names, args)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
