# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tiny models on several ranks say what they say on one.

    PATH=build/dev/bin:$PATH python3 -m pytest test/integration/test_ranks.py

test_ranks_full.py has all of them on one to four processes, and faults.
"""

import json
import os
import signal
import subprocess
import time

import pytest

from ranks import MODELS, PROMPT, compile_model, environment, greedy, mpirun

COUNT = 40


def listing(module):
    return subprocess.run(["gist-run", "info", "--disassemble", module],
                          stdout=subprocess.PIPE, check=True, text=True).stdout


@pytest.fixture(scope="module", name="folder")
def compile_all(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ranks")
    for parts, split in [(1, "ranks"), (2, "ranks"), (2, "stages")]:
        compile_model(MODELS / "llama", folder, parts, "--logits=last", split=split)
    return folder


@pytest.fixture(scope="module", name="expected")
def run_on_one(folder):
    return greedy(folder / "ranks1.gist", COUNT)


def test_threads(folder, expected):
    """Heads or layers on two threads. Logits are those of one rank to the bit."""
    parts, stages = folder / "ranks2.gist", folder / "stages2.gist"
    # A module in which every rank computes everything would pass the rest.
    assert "all_gather" in listing(parts)
    assert "hand_on" in listing(stages)
    assert greedy(parts, COUNT) == expected
    assert greedy(stages, COUNT) == expected


def test_processes(folder, expected):
    assert greedy(folder / "ranks2.gist", COUNT, processes=2) == expected


def test_busy_core(folder):
    """Ranks that share one core with other programs sleep while they wait. If they
    yield instead, each exchange takes a slice of all others: 11 tokens/s."""
    core = ["taskset", "-c", str(min(os.sched_getaffinity(0)))]
    others = [subprocess.Popen([*core, "sh", "-c", "while :; do :; done"]) for _ in range(3)]
    try:
        bench = mpirun(2, "--bind-to", "none", "gist-run", "bench", folder / "ranks2.gist",
                       "-p", 0, "-n", 48, "-r", 1, "-o", "json")
        result = subprocess.run([*core, *bench], env=environment(), text=True, timeout=60,
                                stdout=subprocess.PIPE, check=True)
    finally:
        for other in others:
            other.kill()
            other.wait()
    (test,) = json.loads(result.stdout)["tests"]
    assert test["tokens_per_second"] > 60, test


def test_faults(folder):
    """A number of processes that the module is not for; and one that is killed."""
    parts = folder / "ranks2.gist"
    command = mpirun(3, "gist-rank-test", parts, "cpu", 1, *PROMPT)
    wrong = subprocess.run(command, env=environment(), text=True, timeout=60,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert wrong.returncode != 0
    assert wrong.stderr.count("the module is compiled for 2 ranks, but mpirun has "
                              "started 3") == 1

    command = mpirun(2, "gist-rank-test", parts, "cpu", 10**9, 1)
    job = subprocess.Popen(command, env=environment(), text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    job.stdout.readline()  # It runs.
    ranks = subprocess.run(["pgrep", "-P", str(job.pid)], stdout=subprocess.PIPE,
                           text=True, check=True).stdout.split()
    start = time.monotonic()
    subprocess.run(["kill", f"-{signal.SIGKILL}", ranks[1]], check=True)
    _, errors = job.communicate(timeout=30)
    assert time.monotonic() - start < 5
    assert job.returncode != 0
    assert errors.count("error: rank 1 is gone: its process has ended") == 1
