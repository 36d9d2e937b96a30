# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every tiny decoder and SmolLM2 on one to four processes, and ranks that are
killed or stopped or hang.

    PATH=build/dev/bin:$PATH GIST_SMOLLM2_GGUF=model.gguf \\
        python3 -m pytest test/integration/test_ranks_full.py
"""

import contextlib
import ctypes
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import threading
import time
import urllib.request

import pytest

from ranks import (DECODERS, MODELS, compile_model, environment, greedy, mpirun,
                   tokens_of)

PLAN = pathlib.Path(__file__).parents[2] / "samples/04-less-work/plan-1.01.json"
RANKS = [1, 2, 3, 4]
KILLS = 50


@pytest.mark.parametrize("name", DECODERS)
def test_tiny_models(name, tmp_path):
    """Tokens on one to four processes, on two stages, and with sums. Logits are
    equal to the bit where shares are whole panels (decision 019), as on two
    ranks of models with 8-bit products."""
    expected = greedy(compile_model(MODELS / name, tmp_path, 1), 50)
    for ranks in RANKS[1:]:
        parts = greedy(compile_model(MODELS / name, tmp_path, ranks), 50, ranks)
        assert tokens_of(parts) == tokens_of(expected), ranks
        assert parts == expected or not name.endswith(".gguf"), ranks
    if name not in ("opt-post", "llama3"): # They have one layer.
        stages = compile_model(MODELS / name, tmp_path, 2, split="stages")
        assert greedy(stages, 50, processes=2) == expected
    sums = compile_model(MODELS / name, tmp_path, 2, "--rank-sums")
    assert tokens_of(greedy(sums, 50, processes=2)) == tokens_of(expected)


def test_simulated_cards(tmp_path):
    """Two ranks that share a card through the host, on gfx942's simulator."""
    simulator = os.environ.get("GIST_HIP_SIM")
    if not simulator:
        pytest.skip("GIST_HIP_SIM does not say where the simulator is")
    whole, parts, stages = (
        greedy(compile_model(MODELS / "llama", tmp_path, count, "--target=gfx942",
                             "--logits=last", split=split), 4, device=f"hip:{simulator}")
        for count, split in [(1, "ranks"), (2, "ranks"), (2, "stages")])
    assert tokens_of(parts) == tokens_of(whole)
    assert stages == whole


def tokens(module, processes):
    """256 greedy tokens, as text that people would write begins."""
    command = ["gist-run", "generate", module, "-p", "Once upon a time", "-n", "256",
               "--temperature=0", "--ignore-end", "--print-tokens"]
    if processes:
        command = mpirun(processes, *command)
    result = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE,
                            env=environment(), check=True, text=True)
    return result.stdout.split()


@pytest.mark.parametrize("plan", [None, PLAN], ids=["dense", "plan"])
def test_smollm2(plan, tmp_path):
    """As it is compiled by default, on one to four processes and on two stages."""
    model = os.environ["GIST_SMOLLM2_GGUF"]
    options = ["--context=2048", "--logits=last"] + (["--plan", plan] if plan else [])
    whole = compile_model(model, tmp_path, 1, *options)
    expected = tokens(whole, 0)
    assert len(expected) == 256
    assert tokens(whole, 1) == expected
    for ranks in RANKS[1:]:
        parts = compile_model(model, tmp_path, ranks, *options)
        assert tokens(parts, ranks) == expected, ranks
    stages = compile_model(model, tmp_path, 2, *options, split="stages")
    assert tokens(stages, 2) == expected


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
    # No process is left; mpirun kills those that were stopped.
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
        # Before ranks know each other only mpirun can name the rank.
        ours = errors.count(f"error: rank {victim} is gone")
        assert ours == 1 or (ours == 0 and "signal 9" in errors), errors


def test_stopped(tmp_path):
    module = compile_model(MODELS / "llama", tmp_path, 3)
    for victim in range(3):
        taken, errors = end_one(module, 3, victim, signal.SIGSTOP, 3)
        assert taken < 5
        assert errors.count(f"error: rank {victim} has not answered") == 1, errors


class OneThread:
    """Stops one thread of a process, as a debugger does; the others go on."""
    SEIZE, INTERRUPT, WAIT_ALL = 0x4206, 0x4207, 0x40000000
    call = ctypes.CDLL(None, use_errno=True).ptrace

    def __init__(self, thread):
        self.thread = thread
        for request in (self.SEIZE, self.INTERRUPT):
            if self.call(request, thread, None, None) != 0:
                raise OSError(ctypes.get_errno(), "ptrace")
        os.waitpid(thread, self.WAIT_ALL)

    def wait_for_end(self, seconds):
        """The process ends for its parent when its tracer knows."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            found, status = os.waitpid(self.thread, self.WAIT_ALL | os.WNOHANG)
            if found and (os.WIFEXITED(status) or os.WIFSIGNALED(status)):
                return
            time.sleep(0.02)
        raise TimeoutError


@pytest.mark.parametrize("victim", range(3))
def test_hangs(victim, tmp_path):
    """The thread that computes stands still, and the one that says that its
    process lives goes on."""
    module = compile_model(MODELS / "llama", tmp_path, 3)
    command = mpirun(3, "gist-rank-test", module, "cpu", 10**9, 1)
    job = subprocess.Popen(command, env=environment(), text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    job.stdout.readline()  # It runs.
    reader = threading.Thread(target=lambda: all(job.stdout))
    reader.start()
    processes = children(job.pid)
    thread = OneThread(processes[victim])
    start = time.monotonic()
    try:
        thread.wait_for_end(20)
        job.wait(timeout=20)
    finally:
        job.kill()
    assert time.monotonic() - start < 5
    reader.join()
    errors = job.stderr.read()
    assert job.returncode != 0
    assert errors.count(f"error: rank {victim} hangs: its work has stood still") == 1, errors
    assert not any(map(is_there, processes))


def test_another_file(tmp_path):
    """A rank that finds another module under the same name."""
    one, two = tmp_path / "one", tmp_path / "two"
    for folder, model in [(one, "llama"), (two, "llama3")]:
        folder.mkdir()
        compile_model(MODELS / model, folder, 2, "--logits=last")
    run = ["gist-rank-test", "ranks2.gist", "cpu", "4", "1"]
    command = mpirun(1, "--wdir", one, *run, ":", "-n", 1, "--wdir", two, *run)
    start = time.monotonic()
    result = subprocess.run(command, env=environment(), text=True, timeout=60,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert time.monotonic() - start < 20
    assert result.returncode != 0
    assert result.stderr.count("error: rank 1 cannot go on: its file 'ranks2.gist' "
                               "is not the one that rank 0 has") == 1, result.stderr


@contextlib.contextmanager
def server(module, processes):
    """A server of the module and its address. What it says on standard error is
    kept in the list that comes with it."""
    command = ["gist-serve", str(module), "--port=0", "--drain-timeout=300"]
    if processes:
        command = mpirun(processes, *command)
    job = subprocess.Popen(command, env=environment(), text=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said, address = [], None
    try:
        while not address:
            line = job.stderr.readline()
            assert line, said
            said.append(line)
            address = re.search(r"listening on (http://\S+)", line)
        reader = threading.Thread(target=lambda: said.extend(job.stderr))
        reader.start()
        yield job, address[1], said
        job.wait(timeout=30)
        reader.join(timeout=30)
    finally:
        job.kill()


def chat(address, count, begun=None):
    """The answer to a question, as a stream; calls `begun` after its first event."""
    body = {"messages": [{"role": "user", "content": "Why is the sky blue?"}],
            "temperature": 0, "max_tokens": count, "stream": True}
    request = urllib.request.Request(f"{address}/v1/chat/completions",
                                     json.dumps(body).encode(),
                                     {"Content-Type": "application/json"})
    text = ""
    with urllib.request.urlopen(request, timeout=300) as answer:
        for line in answer:
            if begun:
                begun = begun()
            if line.startswith(b"data: {"):
                for choice in json.loads(line[6:])["choices"]:
                    text += choice["delta"].get("content") or ""
    return text


def test_server(tmp_path):
    """Two processes answer as one does; SIGTERM lets what has begun end; and
    without one of them the server ends with a sentence."""
    model = os.environ["GIST_SMOLLM2_GGUF"]
    whole = compile_model(model, tmp_path, 1, "--context=2048")
    parts = compile_model(model, tmp_path, 2, "--context=2048")
    with server(whole, 0) as (job, address, _):
        expected = chat(address, 24)
        job.terminate()
    assert len(expected) > 40

    with server(parts, 2) as (job, address, said):
        assert chat(address, 24) == expected
        # To rank 0 itself: mpirun gives ranks one second to end.
        rank0 = children(job.pid)[0]
        assert chat(address, 24, lambda: os.kill(rank0, signal.SIGTERM)) == expected
        assert job.wait(timeout=30) == 0
    assert "stopping" in "".join(said)

    # Between requests no rank waits for one that is gone.
    for how, sentence in [(signal.SIGKILL, "error: rank 1 is gone"),
                          (signal.SIGSTOP, "error: rank 1 has not answered")]:
        with server(parts, 2) as (job, address, said):
            assert chat(address, 4)
            processes = children(job.pid)
            start = time.monotonic()
            os.kill(processes[1], how)
            assert job.wait(timeout=30) != 0
            assert time.monotonic() - start < 5
            assert not any(map(is_there, processes))
        assert "".join(said).count(sentence) == 1, said
