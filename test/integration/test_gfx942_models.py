# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tiny models, compiled for gfx942 and run whole on the simulator, beside
the same module's code for this CPU.

    PATH=build/dev/bin:$PATH GIST_HIP_SIM=build/dev/lib/libgist-hip-sim.so \
        python3 -m pytest test/integration/test_gfx942_models.py
"""

import os
import subprocess

import numpy as np
import pytest

from test_compile import DECODERS, MODELS, reference

SIMULATOR = os.environ["GIST_HIP_SIM"]
#: Of the norm of a row. A kernel is held to 2e-3: it multiplies numbers rounded
#: to f16. Some fifteen of them follow each other in these models.
TOLERANCE = 1e-2


def compile_for_both(name, folder, *options):
    module = folder / "model.gist"
    subprocess.run(
        ["gist-compile", MODELS / name, "-o", module, "--target=gfx942",
         "--target=cpu", "--compute=f32", *options],
        check=True)
    return module


def run(module, mode, ids, pieces, width, device=()):
    command = ["gist-session-test", *device, module, mode, *map(str, pieces)]
    result = subprocess.run(command, input=ids.tobytes(), stdout=subprocess.PIPE, check=True)
    return np.frombuffer(result.stdout, np.float32).reshape(-1, width)


def check(expected, found):
    """Every row agrees, and the largest number is the same one wherever it is
    larger than the others by more than rows may differ."""
    assert found.shape == expected.shape
    norm = np.linalg.norm(expected, axis=1)
    error = np.linalg.norm(found - expected, axis=1) / norm
    assert error.max() <= TOLERANCE, error
    second, first = np.sort(expected, axis=1)[:, -2:].T
    is_clear = first - second > 2 * TOLERANCE * norm
    np.testing.assert_array_equal(
        found.argmax(1)[is_clear], expected.argmax(1)[is_clear])


def check_session(module, mode, ids, pieces, width):
    """One session on each."""
    check(run(module, mode, ids, pieces, width),
          run(module, mode, ids, pieces, width, ["--hip", SIMULATOR]))


@pytest.mark.parametrize("name", DECODERS + ["llama-q4_1.gguf"])
def test_decoder(name, tmp_path):
    """Prompts of several lengths into one cache, and single tokens between."""
    module = compile_for_both(name, tmp_path)
    ids, expected = reference(name)
    check_session(module, "feed", ids, [5, 1, 1, 2, 9], expected.shape[1])


def test_all_logits(tmp_path):
    module = compile_for_both("llama", tmp_path, "--logits=all")
    ids, expected = reference("llama")
    check_session(module, "score", ids, [11, 1, 1, 6], expected.shape[1])


@pytest.mark.parametrize("tokens", [1, 16, 17])
@pytest.mark.parametrize("name", ["bert", "esm"])
def test_encoder(name, tokens, tmp_path):
    module = compile_for_both(name, tmp_path)
    ids, _ = reference(name)
    np.save(tmp_path / "tokens.npy", np.resize(ids, tokens))
    results = []
    for options in [], ["--device", "hip", "--hip-library", SIMULATOR]:
        output = subprocess.run(
            ["gist-run", "call", module, "forward", "-i", f"tokens={tmp_path}/tokens.npy",
             "-o", tmp_path, *options],
            stdout=subprocess.PIPE, check=True, text=True).stdout
        results.append(np.load(output.strip()))
    check(*results)
