# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Damaged models: import succeeds or says one sentence, whatever the bytes."""

import json
import random
import shutil
import subprocess

import pytest

from import_graph import MODELS, harness

FOLDERS = ["llama", "llama3", "gpt2", "gptj", "opt", "opt-post", "bert", "esm",
           "mistral", "qwen2-window", "gemma3", "qwen3", "phi3", "gpt-neox", "olmo2",
           "mixtral", "qwen2-moe"]
ODD_VALUES = [0, 1, 2, 3, 5, 7, 16, -1, 2**31, 2**62, 2**63 + 5, 1e30, 0.5, None,
              True, False, "x", [], [1, 2], {}, {"rope_type": 3}, {"rope_theta": 0}]


def refused(path):
    tool = harness.tool("gist-import-test", "GIST_IMPORT_TEST")
    done = subprocess.run([tool, path, "--info"], capture_output=True, text=True,
                          timeout=60)
    if done.returncode == 0:
        return False
    assert done.returncode == 1, done.stderr
    assert done.stderr.startswith("gist-import-test: error: ")
    assert done.stderr.count("\n") == 1, done.stderr
    assert done.stdout == ""
    return True


def test_damaged_gguf(tmp_path):
    rng, path = random.Random(1), tmp_path / "model.gguf"
    original = (MODELS / "llama-q4_1.gguf").read_bytes()
    count = 0
    for _ in range(120):
        content = bytearray(original)
        for _ in range(rng.randint(1, 3)):  # Values and the table of tensors.
            content[rng.randrange(2600)] = rng.choice([0, 1, 255, rng.randrange(256)])
        path.write_bytes(content)
        count += refused(path)
    assert 10 < count < 120


@pytest.mark.parametrize("name", FOLDERS)
def test_odd_config(name, tmp_path):
    rng, folder = random.Random(name), tmp_path / "model"
    shutil.copytree(MODELS / name, folder)
    original = json.loads((folder / "config.json").read_text())
    count = 0
    for _ in range(20):
        config = dict(original)
        for key in rng.sample(sorted(config), 2):
            config[key] = rng.choice(ODD_VALUES)
        (folder / "config.json").write_text(json.dumps(config))
        count += refused(folder)
    assert count > 0
