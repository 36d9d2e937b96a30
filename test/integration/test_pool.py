# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tiny models in a pool: what a sequence gets does not depend on the others.

    PATH=build/dev/bin:$PATH python3 -m pytest test/integration/test_pool.py

gist-pool-test runs made-up requests alone and in mixes and compares tokens and
the bits of their probabilities.
"""

import json
import re
import subprocess

import pytest

from test_compile import DECODERS, compile_model


def compare(module, chunk, seed):
    """Runs the mixes; the numbers that gist-pool-test prints."""
    result = subprocess.run(["gist-pool-test", module, str(chunk), str(seed)],
                            capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    found = re.fullmatch(r"requests (\d+) compared (\d+) left (\d+) prefix (\d+) "
                         r"session (\d+) of (\d+)\n", result.stdout)
    assert found, result.stdout
    return dict(zip(["requests", "compared", "left", "prefix", "session", "greedy"],
                    map(int, found.groups())))


@pytest.mark.parametrize("name", DECODERS)
def test_architectures(name, tmp_path):
    """In f32, where a session's kernels for one token give the same tokens."""
    module = compile_model(name, tmp_path, "--kv-type=f32", "--compute=f32")
    seen = compare(module, chunk=5, seed=1)
    # Four mixes of 24; some left before their end.
    assert seen["compared"] + seen["left"] == 96 and seen["left"] > 0
    assert seen["prefix"] > 0
    assert seen["session"] == seen["greedy"]


@pytest.mark.parametrize("chunk", [1, 3, 16])
@pytest.mark.parametrize("name", ["llama-q4_1.gguf", "qwen2-q4_0.gguf"])
def test_8_bit_products(name, chunk, tmp_path):
    """Quantised weights and an f16 cache, as models are compiled by default."""
    module = compile_model(name, tmp_path)
    for seed in range(2):
        compare(module, chunk, seed)


@pytest.mark.parametrize("chunk", [3, 4, 8])
def test_plans(chunk, tmp_path):
    """Rings and clusters, which every sequence has for itself. Their state is
    more than rows by position, so that nothing of it is taken over."""
    heads = [{"window": 4, "theta": 0.5, "room": 1}, {"window": 4, "sinks": 1}]
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps({"gist_plan": 1, "block": 4, "layers": [{"heads": heads}] * 2}))
    module = compile_model("llama", tmp_path, f"--plan={plan}")
    assert compare(module, chunk, seed=2)["prefix"] == 0
