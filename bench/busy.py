#!/usr/bin/env python3
# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gist and llama.cpp on a CPU that has other work: each engine in turn in every case and
round. "Gist" chooses its threads, "Gist -t N" and llama.cpp have as many as there are CPUs.
See bench/README.md."""

import argparse
import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import results
from engines import Gist, Missing, Worker

CPUS = len(os.sched_getaffinity(0))
# What else runs: (processes, how much less priority they have), and the CPUs' worth of
# time that the engine may use.
CASES = {
    "idle": ((0, 0), None),
    "one busy process, lower priority": ((1, 10), None),
    "one busy process, equal priority": ((1, 0), None),
    "one busy process, higher priority": ((1, -10), None),
    "a busy process for each CPU, equal priority": ((CPUS, 0), None),
    "two busy processes for each CPU, lower priority": ((2 * CPUS, 10), None),
    "a quota of half of the CPUs": ((0, 0), 0.5),
    "a quota of three quarters of the CPUs": ((0, 0), 0.75),
}
GROUPS = [Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup")]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gist-run", required=True, metavar="PATH")
    parser.add_argument("--gist-compile", required=True, metavar="PATH")
    parser.add_argument("--model", required=True, action="append", type=Path, metavar="GGUF")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--prefill", type=int, default=256)
    parser.add_argument("--decode", type=int, default=32)
    parser.add_argument("--case", action="append", choices=CASES, help="only these")
    parser.add_argument("--json", type=Path, metavar="FILE")
    return parser.parse_args()


@contextlib.contextmanager
def busy(count, nice):
    """Processes that do nothing but use a CPU."""
    loop = [sys.executable, "-c", f"import os; os.nice({nice})\nwhile True: pass"]
    others = [subprocess.Popen(loop, stderr=subprocess.DEVNULL) for _ in range(count)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


@contextlib.contextmanager
def limited(share, processes):
    """A group for this process and `processes`, which may use this share of the CPUs."""
    if share is None:
        yield
        return
    root = next(folder for folder in GROUPS if folder.exists())
    group, period = root / f"gist-bench-{os.getpid()}", 100_000
    group.mkdir()
    quota = int(share * CPUS * period)
    try:
        if (group / "cpu.max").exists():
            (group / "cpu.max").write_text(f"{quota} {period}")
        else:
            (group / "cpu.cfs_period_us").write_text(str(period))
            (group / "cpu.cfs_quota_us").write_text(str(quota))
        for process in processes:
            (group / "cgroup.procs").write_text(str(process))
        yield
    finally:
        for process in processes:
            (root / "cgroup.procs").write_text(str(process))
        group.rmdir()


def measure(model, options, folder):
    """{case: {engine: {test: tokens per second, each round}}}"""
    context = max(options.prefill, options.decode)
    gist = Gist(options.gist_run, options.gist_compile, model, 0, context, folder)
    fixed = gist.with_threads(CPUS)
    engines = {"Gist": gist, f"Gist -t {CPUS}": fixed}
    with contextlib.suppress(Missing), open(os.devnull, "ab") as log:
        engines["llama.cpp"] = Worker("llama.cpp", {
            "model": str(model), "threads": CPUS, "context": context, "flash": True}, log)
    processes = [os.getpid(), *(engine.process.pid for engine in engines.values()
                                if isinstance(engine, Worker))]
    tests = [("pp", options.prefill), ("tg", options.decode)]
    for engine in engines.values():  # The first run is not counted.
        for test in tests:
            engine.time(*test)
    found = {}
    for case in options.case or CASES:
        (count, nice), share = CASES[case]
        try:
            with limited(share, processes), busy(count, nice):
                for _ in range(options.rounds):
                    for name, engine in engines.items():
                        for test in tests:
                            seconds = engine.time(*test)
                            found.setdefault(case, {}).setdefault(name, {}).setdefault(
                                test[0], []).append(test[1] / seconds)
        except OSError as error:
            print(f"{case}: left out, {error}", file=sys.stderr)
    for engine in engines.values():
        engine.close()
    return found


def main():
    options = arguments()
    rows = []
    for model in options.model:
        with tempfile.TemporaryDirectory(prefix="gist-bench-") as folder:
            found = measure(model, options, Path(folder))
        for case, engines in found.items():
            for name, tests in engines.items():
                rates = [statistics.median(tests[kind]) for kind in ("pp", "tg")]
                rows.append([model.stem, case, name, *rates])
    columns = {"model": None, "beside it": None, "engine": None,
               f"prefill {options.prefill}, tokens/s": 0, f"decode {options.decode}, tokens/s": 1}
    print(results.markdown(columns, results.rounded(columns, rows)))
    if options.json:
        results.write(options.json, columns, rows, rounds=options.rounds, cpus=CPUS)


if __name__ == "__main__":
    main()
