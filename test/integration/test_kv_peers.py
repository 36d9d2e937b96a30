# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of bench/kv_peers.py, from results that are made up.

    python3 -m pytest test/integration/test_kv_peers.py
"""

import json
import math
import pathlib
import random
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).parents[2]


def cells_of(text, name):
    """Of the first line of a table that begins with `name`."""
    line = next(line for line in text.splitlines() if line.startswith(f"| {name} "))
    return [cell.strip() for cell in line.split("|")[2:-1]]


def test_table(tmp_path):
    """Windows count by their tokens: of two with 1024 tokens and one with a single token, which is lost,
    all tokens together are what a text loses. The first window has less context and does not count."""
    draw = random.Random(3)
    windows = [[draw.gauss(.02, .01) for _ in range(count)] for count in (4095, 1024, 1024)] + [[1.0]]
    ratios = [math.exp(statistics.fmean(window)) for window in windows]
    sample = {"task": "needle", "number": 0, "turns": [{"target": " 7"}]}

    def write(name, content):
        (tmp_path / name).write_text(json.dumps(content) + "\n")
        return str(tmp_path / name)

    def answers(log, size):
        return {"kv_bytes": size, "samples": [{"task": "needle", "number": 0, "written": ["7"],
                                               "log_likelihood": log, "tokens": 2}]}

    dense, plan = write("dense.json", answers(-1, 100)), write("plan.json", answers(-2, 40))
    text = write("text.json", {"recall": {"perplexity_ratio": 1.5}, "variation": {
        "tokens": [len(window) for window in windows], "perplexity_ratio": {"values": ratios}}})
    found = subprocess.run(
        [sys.executable, ROOT / "bench/kv_peers.py", "table", "--samples", write("s.jsonl", sample),
         "--gist", f"dense={dense}", "--gist", f"plan={plan},{text}"],
        check=True, capture_output=True, text=True).stdout
    cache, peak, perplexity, recall, worst, _, right, samples = cells_of(found, "Gist, plan")
    lost = [nats for window in windows[1:] for nats in window]
    assert perplexity == f"{math.exp(statistics.fmean(lost)):.3f}"
    assert perplexity != f"{statistics.geometric_mean(ratios[1:]):.3f}"
    assert (cache, peak, recall, worst) == ("0.400", "0.400", "1.500", f"{math.exp(-.5):.3f} needle")
    assert (right, samples) == ("1.000", "1")
