#!/usr/bin/env python3
# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What drafts gain on this machine: each text is continued with and without them in
turns. An edit task (a file to be written again with small changes), code and prose, each
by one process, medians of the rounds; and 20 prompts, whose tokens with and without
drafts are compared. See bench/README.md."""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import results

FILE = '''import csv
import sys
from dataclasses import dataclass


@dataclass
class Station:
    name: str
    line: int
    height: float


def read_stations(path):
    """The stations of a file, in the order of the file."""
    stations = []
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            stations.append(Station(row["name"], int(row["line"]), float(row["height"])))
    return stations


def highest(stations):
    """The highest station of each line."""
    found = {}
    for station in stations:
        best = found.get(station.line)
        if best is None or station.height > best.height:
            found[station.line] = station
    return found


def main():
    if len(sys.argv) != 2:
        print("usage: stations.py FILE", file=sys.stderr)
        return 2
    for line, station in sorted(highest(read_stations(sys.argv[1])).items()):
        print(f"{line:4} {station.name:20} {station.height:8.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
'''
EDIT = ("This is the file stations.py:\n\n```python\n" + FILE + "```\n\nThis is the same file, in which `highest` is "
        "called `tallest` and `height` is called `altitude`; nothing else is changed:\n\n```python\nimport csv\n")
CODE = '''"""A queue of jobs that worker threads take in the order of their priority."""

import heapq
import threading


class JobQueue:
    """Jobs with equal priority are taken in the order in which they were added."""

    def __init__(self, limit=100):
        self.limit = limit
        self.jobs = []
        self.lock = threading.Lock()
        self.added = threading.Condition(self.lock)

    def add(self, priority, job):
'''
PROSE = '''The lighthouse stood on a rock a mile from the shore, and for eleven months of the year
nothing came to it but birds and the boat with oil and flour. The keeper had been a
schoolmaster. He wrote down the weather every morning, and in the evening he wrote down
'''
BEGINNINGS = [
    "def fibonacci(n):\n", "class Stack:\n    def push(self, item):\n", "#include <stdio.h>\n\nint main(void) {\n",
    "SELECT name, COUNT(*) FROM orders\n", "function debounce(callback, wait) {\n", "fn main() {\n    let numbers = vec![",
    "import numpy as np\n\ndef softmax(x):\n", "def binary_search(values, target):\n", "public class Matrix {\n",
    "#!/bin/bash\nset -e\nfor file in *.txt; do\n", "The history of bread begins", "In the middle of the night",
    "Water boils at a lower temperature on mountains because", "Dear Sir or Madam,\n", "The three laws of motion are",
    "Once upon a time there was a king who", "To repair a bicycle tyre you need", "The capital of France",
    "A good night's sleep matters because", "My grandmother used to say that"]
COLUMNS = {"model": None, "drafts": None, "text": None, "tokens in a call": 2, "guesses": None, "right": None,
           "without, tokens/s": 1, "with, tokens/s": 1, "times as fast": 2, "tokens": None, "the same tokens": None}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gist-run", required=True, metavar="PATH", help="of a release build")
    parser.add_argument("--model", required=True, metavar="[NAME=]MODULE")
    parser.add_argument("--draft", action="append", required=True, metavar="[NAME=]lookup|MODULE", dest="drafts")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--texts", default="edit,code,prose,20 prompts", metavar="NAME,...")
    parser.add_argument("--tokens", type=int, default=256, help="of each text")
    parser.add_argument("--rounds", type=int, default=3, help="of each text but the 20 prompts")
    parser.add_argument("--past", type=Path, metavar="FILE", help="a text that comes before each of them")
    parser.add_argument("--context", type=int, default=4096)
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write JSON; rows of a file that is there stay")
    return parser.parse_args()


def run(options, text, command, *more):
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write((options.past.read_text() if options.past else "") + text)
        file.flush()
        words = [options.gist_run, command, options.model.split("=")[-1], "-f", file.name, "-n", options.tokens,
                 "-t", options.threads, "-c", options.context, *more]
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return done


def measure(options, draft, text):
    """What a row says of one text."""
    found = json.loads(run(options, text, "bench", "--draft", draft, "-r", options.rounds, "-o", "json").stdout)
    plain, drafted = (statistics.median(found[f"{kind}_tokens_per_second"]) for kind in ("plain", "draft"))
    return [found["tokens_per_call"], found["drafted"], found["accepted"], plain, drafted, drafted / plain,
            found["tokens"], found["same_tokens"]]


def write(options, text, *more):
    """Tokens of a text, tokens after the first, the seconds of these, and guesses: all and right ones."""
    done = run(options, text, "generate", "--ignore-end", "--print-tokens", "--stats", *more)
    decode = re.search(r"decode: +([\d.]+) ms, +(\d+) tokens", done.stderr)
    drafts = re.search(r"drafts: +(\d+) tokens, +(\d+) accepted", done.stderr)
    return done.stdout.split(), [int(decode[2]), float(decode[1]) / 1e3, *map(int, drafts.groups() if drafts else (0, 0))]


def measure_beginnings(options, draft):
    """The same of all 20 prompts together; no text ends before it has all tokens."""
    without, with_drafts, tokens, same = [], [], 0, 0
    for text in BEGINNINGS:
        expected, counts = write(options, text)
        without.append(counts)
        found, counts = write(options, text, "--draft", draft)
        with_drafts.append(counts)
        tokens += len(expected)
        same += next((i for i, pair in enumerate(zip(expected, found)) if pair[0] != pair[1]), len(expected))
    (count, seconds, _, _), (_, drafted_seconds, guesses, right) = (
        map(sum, zip(*rows)) for rows in (without, with_drafts))
    return [count / (count - right), guesses, right, count / seconds, count / drafted_seconds, seconds / drafted_seconds,
            tokens, same]


def measure_all(options, draft, name):
    if name == "20 prompts":
        return measure_beginnings(options, draft)
    return measure(options, draft, {"edit": EDIT, "code": CODE, "prose": PROSE}[name])


def name_of(given):
    return given.split("=")[0] if "=" in given else Path(given).stem


def main():
    options = arguments()
    rows = rows_of(options.json)
    for draft in options.drafts:
        for text in options.texts.split(","):
            key = [name_of(options.model), name_of(draft), text]
            row = key + measure_all(options, draft.split("=")[-1], text)
            rows = [each for each in rows if each[:3] != key] + [row]
            print(results.markdown(COLUMNS, results.rounded(COLUMNS, [row])), flush=True)
            if options.json:
                results.write(options.json, COLUMNS, rows, threads=options.threads)


def rows_of(path):
    return json.loads(path.read_text())["rows"] if path and path.exists() else []


if __name__ == "__main__":
    main()
