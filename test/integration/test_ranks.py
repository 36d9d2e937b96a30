# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tiny models on several ranks say what they say on one.

    PATH=build/dev/bin:$PATH python3 -m pytest test/integration/test_ranks.py

test_ranks_full.py has all of them on one to four processes, and faults.
"""

import signal
import subprocess
import time

from ranks import MODELS, PROMPT, compile_model, environment, greedy, mpirun

COUNT = 40


def listing(module):
    return subprocess.run(["gist-run", "info", "--disassemble", module],
                          stdout=subprocess.PIPE, check=True, text=True).stdout


def test_threads(tmp_path):
    """One KV head that both ranks keep, with half of its queries each; and some
    of the layers on each of two stages. Logits are those of one rank to the bit."""
    model, last = MODELS / "gemma3", "--logits=last"
    expected = greedy(compile_model(model, tmp_path, 1, last), COUNT)
    parts = compile_model(model, tmp_path, 2, last)
    # A module in which every rank computes everything would pass the rest.
    assert "all_gather" in listing(parts)
    assert greedy(parts, COUNT) == expected
    stages = compile_model(model, tmp_path, 2, last, split="stages")
    assert "hand_on" in listing(stages)
    assert greedy(stages, COUNT) == expected


def test_processes_and_faults(tmp_path):
    """Two processes; a number of them that the module is not for; and one that
    is killed."""
    parts = compile_model(MODELS / "llama", tmp_path, 2, "--logits=last")
    assert greedy(parts, COUNT, processes=2) == greedy(parts, COUNT)

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
