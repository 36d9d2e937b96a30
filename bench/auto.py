#!/usr/bin/env python3
# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `gist-plan auto` finds on this machine for several models and jobs, and what it
gains: predicted, and measured beside the model as it is. Folders of earlier runs are
read again and not searched again. See bench/README.md."""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

import results

COLUMNS = {"model": None, "quality": 2, "prompt": None, "answer": None, "minutes": 1, "changes": None,
           "prompt, times as fast": 2, "answer, times as fast": 2, "job, times as fast": 2,
           "predicted": 2, "perplexity, at most": 3, "recall, at most": 3, "parts kept": None}


def changes(plan):
    """What a plan changes, in words."""
    layers = plan["layers"]
    heads = sum(head != "dense" for layer in layers for head in layer.get("heads", []))
    depths = sum(layer.get("depth", "full") != "full" for layer in layers)
    bits = plan.get("head", {}).get("bits") if isinstance(plan.get("head"), dict) else None
    words = [f"{heads} heads" * bool(heads), f"{depths} layers" * bool(depths),
             f"output weight in {bits} bits" * bool(bits)]
    return ", ".join(filter(None, words)) or "nothing"


def speeds(folder, name):
    """Tokens/s of prompt and answer."""
    tests = json.loads((folder / f"bench-{name}.json").read_text())["tests"]
    return [test["tokens_per_second"] for test in tests[:2]]


def row(title, quality, job, folder, seconds):
    prompt, answer = job
    head = [title, quality, prompt, answer, seconds / 60]
    if not (folder / "plan.json").is_file():
        return [*head, "no plan", *[None] * 7]
    plan = json.loads((folder / "plan.json").read_text())
    contract = plan["contract"]
    dense, planned = speeds(folder, "dense"), speeds(folder, "planned")
    taken = [prompt / pace[0] + answer / pace[1] for pace in (dense, planned)]
    parts = contract.get("certified", [])
    worst = lambda name: max((part["ratio"] for part in parts if part["part"] == name), default=None)
    kept = sum(part["verdict"] == "kept" for part in parts)
    return [*head, changes(plan), planned[0] / dense[0], planned[1] / dense[1], taken[0] / taken[1],
            1 / contract["time_predicted"], worst("perplexity"), worst("recall"), f"{kept} of {len(parts)}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gist-plan", type=Path, required=True)
    parser.add_argument("--model", action="append", required=True, metavar="TITLE=PATH")
    parser.add_argument("--job", action="append", required=True, metavar="PROMPT+ANSWER")
    parser.add_argument("--quality", type=float, action="append")
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--text", action="append", default=[], help="for gist-plan auto, as the next three")
    parser.add_argument("--held-out", action="append", default=[])
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--device")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    more = ["--threads", str(options.threads)] if options.threads else []
    more += ["--device", options.device] if options.device else []
    more += [word for text in options.text for word in ("--text", text)]
    more += [word for text in options.held_out for word in ("--held-out", text)]
    rows = []
    for model in options.model:
        title, path = model.split("=", 1)
        for job in options.job:
            for quality in options.quality or [1.01]:
                folder = options.folder / f"{title}-{job}-{quality}".replace(" ", "-")
                log = folder.with_name(folder.name + ".log")
                if not log.is_file():
                    options.folder.mkdir(parents=True, exist_ok=True)
                    print(f"== {title}, {job}, {quality}", file=sys.stderr)
                    start = time.monotonic()
                    prompt, answer = job.split("+")
                    said = subprocess.run(
                        [options.gist_plan, "auto", path, "--prompt", prompt, "--answer", answer,
                         "--quality", str(quality), "--seconds", str(options.seconds), "-o", folder, *more],
                        stdout=subprocess.PIPE, text=True, check=True).stdout
                    # Written at the end, so that a run which was stopped goes on.
                    log.write_text(f"{time.monotonic() - start}\n{said}")
                seconds = float(log.read_text().split("\n", 1)[0])
                rows.append(row(title, quality, [int(n) for n in job.split("+")], folder, seconds))
    print(results.markdown(COLUMNS, rows))
    if options.json:
        results.write(options.json, COLUMNS, rows)


if __name__ == "__main__":
    main()
