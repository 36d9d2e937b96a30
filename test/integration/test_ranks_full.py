# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every tiny decoder and SmolLM2 on one to four processes, and ranks that are
killed or stopped.

    PATH=build/dev/bin:$PATH GIST_SMOLLM2_GGUF=model.gguf \\
        python3 -m pytest test/integration/test_ranks_full.py
"""

import os
import pathlib
import random
import signal
import subprocess
import time

import pytest

from ranks import DECODERS, MODELS, compile_model, environment, greedy, mpirun

PLAN = pathlib.Path(__file__).parents[2] / "samples/04-less-work/plan-1.01.json"
RANKS = [1, 2, 3, 4]
KILLS = 50


@pytest.mark.parametrize("name", DECODERS)
def test_tiny_models(name, tmp_path):
    expected = greedy(compile_model(MODELS / name, tmp_path, 1), 50)
    for ranks in RANKS[1:]:
        parts = compile_model(MODELS / name, tmp_path, ranks)
        assert greedy(parts, 50, processes=ranks) == expected, ranks


@pytest.mark.parametrize("plan", [None, PLAN], ids=["dense", "plan"])
@pytest.mark.parametrize("ranks", RANKS)
def test_smollm2(plan, ranks, tmp_path):
    """256 greedy tokens, as text that people would write begins. In f32: 8-bit
    products round what sums in another order leave."""
    model = os.environ["GIST_SMOLLM2_GGUF"]
    options = ["--context=4096", "--compute=f32", "--logits=last"] + (["--plan", plan] if plan else [])

    def tokens(module, processes):
        command = ["gist-run", "generate", module, "-p", "Once upon a time", "-n", "256",
                   "--temperature=0", "--ignore-end", "--print-tokens"]
        if processes:
            command = mpirun(processes, *command)
        result = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE,
                                env=environment(), check=True, text=True)
        return result.stdout.split()

    expected = tokens(compile_model(model, tmp_path, 1, *options), 0)
    assert len(expected) == 256
    parts = compile_model(model, tmp_path, ranks, *options)
    # mpirun with one process is one process.
    assert tokens(parts, ranks) == expected


def children(process):
    found = subprocess.run(["pgrep", "-P", str(process)], stdout=subprocess.PIPE,
                           text=True, check=False)
    return list(map(int, found.stdout.split()))


def is_there(process):
    """Whether it runs; one that has ended may wait for its parent."""
    try:
        state = pathlib.Path(f"/proc/{process}/stat").read_text()
    except FileNotFoundError:
        return False
    return state.rsplit(")", 1)[1].split()[0] != "Z"


def end_one(module, ranks, victim, how, moment):
    """Starts a job, ends rank `victim` after `moment` seconds, and returns how
    long the job took to end and what it said."""
    command = mpirun(ranks, "gist-rank-test", module, "cpu", 10**9, 1)
    job = subprocess.Popen(command, env=environment(), text=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    begin = time.monotonic()
    while len(processes := children(job.pid)) < ranks:
        assert time.monotonic() - begin < 30
        time.sleep(0.01)
    time.sleep(moment)
    start = time.monotonic()
    os.kill(processes[victim], how)
    _, errors = job.communicate(timeout=60)
    taken = time.monotonic() - start
    assert job.returncode != 0
    # Nobody is left; what was stopped is killed by mpirun.
    deadline = time.monotonic() + 5
    while any(map(is_there, processes)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(is_there, processes))
    return taken, errors


def test_killed_at_any_moment(tmp_path):
    """While ranks start, open the module, and compute."""
    ranks = 3
    module = compile_model(MODELS / "llama", tmp_path, ranks)
    chance = random.Random(20)
    for _ in range(KILLS):
        victim = chance.randrange(ranks)
        taken, errors = end_one(module, ranks, victim, signal.SIGKILL,
                                chance.uniform(0, 3))
        assert taken < 5
        # Before ranks know each other mpirun alone can say who it was.
        ours = errors.count(f"error: rank {victim} is gone")
        assert ours == 1 or (ours == 0 and "signal 9" in errors), errors


def test_stopped(tmp_path):
    module = compile_model(MODELS / "llama", tmp_path, 3)
    for victim in range(3):
        taken, errors = end_one(module, 3, victim, signal.SIGSTOP, 3)
        assert taken < 5
        assert errors.count(f"error: rank {victim} has not answered") == 1, errors
