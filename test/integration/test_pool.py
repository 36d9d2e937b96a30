# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tiny models in a pool: what a sequence gets does not depend on the others.

    PATH=build/dev/bin:$PATH python3 -m pytest test/integration/test_pool.py

gist-pool-test runs made-up requests alone and in mixes and compares tokens and,
for even seeds, the bits of their probabilities.
"""

import json
import os
import re
import subprocess

import numpy as np
import pytest

from test_compile import compile_model


def compare(module, chunk, seed, device=()):
    """Runs the mixes; the numbers that gist-pool-test prints."""
    result = subprocess.run(["gist-pool-test", *device, module, str(chunk), str(seed)],
                            capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    found = re.fullmatch(r"requests (\d+) compared (\d+) left (\d+) prefix (\d+) "
                         r"session (\d+) of (\d+) fast (\d+) reduced (\d+) state (\d+) "
                         r"launches (\d+) of four (\d+)\n", result.stdout)
    assert found, result.stdout
    names = ["requests", "compared", "left", "prefix", "session", "greedy", "fast",
             "reduced", "state", "launches", "of_four"]
    seen = dict(zip(names, map(int, found.groups())))
    # Four mixes of 24; some left before their end.
    assert seen["compared"] + seen["left"] == 96 and seen["left"] > 0
    return seen


# One of each architecture, and a window.
@pytest.mark.parametrize("name", ["llama", "gpt2", "gptj", "mistral", "opt", "qwen2-window",
                                  "mixtral"])
def test_architectures(name, tmp_path):
    """In f32, where a session's kernels for one token give the same tokens."""
    module = compile_model(name, tmp_path, "--kv-type=f32", "--compute=f32")
    for chunk in [5, 96]:
        seen = compare(module, chunk, seed=2)
        # Layers with a window do not keep rows by position.
        assert (seen["prefix"] > 0) == (chunk == 5 and name != "qwen2-window")
        assert seen["session"] == seen["greedy"]


@pytest.mark.parametrize("name", ["llama-q4_1.gguf", "qwen2-q4_0.gguf"])
def test_8_bit_products(name, tmp_path):
    """Quantised weights and an f16 cache, as models are compiled by default."""
    module = compile_model(name, tmp_path)
    # With 96 several prompts end in a step, with many rows between their last.
    for chunk in [1, 3, 16, 96]:
        for seed in [4, 5]:
            compare(module, chunk, seed)


def test_keys_and_values_in_8_bits(tmp_path):
    """Integers and their scales are taken over with prefixes, and a row of 8 numbers has 12
    bytes where f16 has 16."""
    states = {}
    for kv in ["int8", "f16"]:
        module = compile_model("llama", tmp_path, f"--kv-type={kv}", "--compute=f32")
        seen = compare(module, 5, seed=2)
        assert seen["prefix"] > 0 and seen["session"] == seen["greedy"]
        states[kv] = seen["state"]
    assert states["int8"] * 16 == states["f16"] * 12


@pytest.mark.parametrize("name, options", [
    ("llama-q4_1.gguf", ()), ("qwen2-q4_0.gguf", ()), ("gpt2", ("--compute=f32",)),
    ("mixtral", ("--kv-type=f32", "--compute=f32"))])
def test_guesses_change_no_bit(name, options, tmp_path):
    """Tokens of one call that are computed apart are those of calls of their own:
    so guesses can change no greedy text."""
    module = compile_model(name, tmp_path, *options)
    ids = np.random.default_rng(1).integers(3, 50, 24).astype(np.int32)

    def run(mode, *pieces):
        return subprocess.run(["gist-session-test", module, mode, *map(str, pieces)],
                              input=ids.tobytes(), stdout=subprocess.PIPE, check=True).stdout

    alone = run("score", *[1] * 24)
    assert len(alone) % 24 == 0
    for pieces in ([2] * 12, [3, 5, 1, 15], [16, 8]):
        assert run("apart", *pieces) == alone
    if not options:  # Products in 8 bits are the same for one row by all kernels.
        assert run("feed", *[1] * 24) == alone


def test_plans(tmp_path):
    """Rings and clusters, which every sequence has for itself. Their state is
    more than rows by position, so that nothing of it is taken over."""
    heads = [{"window": 4, "theta": 0.5, "room": 1}, {"window": 4, "sinks": 1}]
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps({"gist_plan": 1, "block": 4, "layers": [{"heads": heads}] * 2}))
    module = compile_model("llama", tmp_path, f"--plan={plan}", "--follow-plan")
    for chunk in [3, 4, 8]:
        seen = compare(module, chunk, seed=2)
        assert seen["prefix"] == 0


@pytest.mark.skipif("GIST_HIP_SIM" not in os.environ, reason="no simulator")
@pytest.mark.parametrize("name", ["llama", pytest.param("mixtral", marks=pytest.mark.full)])
def test_gfx942(name, tmp_path):
    """The kernels of a card on the simulator, which also draw tokens there.
    Sequences that write share launches of attention, the cache and draws, and
    products of rows, also those that experts gather."""
    module = compile_model(name, tmp_path, "--target=gfx942")
    listing = subprocess.run(["gist-run", "info", "--disassemble", module],
                             capture_output=True, text=True, check=True).stdout
    for kernel in ["attention_0", "cache_0", "sample_0"]:
        assert f"by-table {kernel}_by_table" in listing
    seen = compare(module, 5, 1, ["--hip", os.environ["GIST_HIP_SIM"]])
    assert seen["prefix"] > 0
    # One alone may take the kernels of a session.
    assert seen["fast"] == seen["greedy"]
    # Four that write have as many launches as one.
    assert seen["launches"] == seen["of_four"] > 0
