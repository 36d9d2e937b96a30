# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The models of the samples, compiled for gfx942 and run whole on the simulator,
beside the same module's f32 code for this CPU. Every command of an entry runs,
and so does every kernel that the compiler emits for them.

    GIST_SMOLLM2_GGUF=… GIST_MINILM_FOLDER=… PATH=build/dev/bin:$PATH \\
    GIST_HIP_SIM=build/dev/lib/libgist-hip-sim.so \\
        python3 -m pytest test/integration/test_gfx942_samples.py
"""

import os
import re
import subprocess

import numpy as np
import pytest

from test_gfx942_models import SIMULATOR, check, run

#: Of the norm of a row: what a single kernel is held to, as it rounds what it
#: multiplies to f16. A trained model does not make the errors of its kernels
#: larger than that.
TOLERANCE = 2e-3


def compile_model(variable, folder, *options):
    if variable not in os.environ:
        pytest.skip(f"{variable} does not name the model")
    module = folder / "model.gist"
    subprocess.run(["gist-compile", os.environ[variable], "-o", module, "--target=gfx942",
                    "--target=cpu", "--compute=f32", "--weights=reference", *options], check=True)
    return module


def test_smollm2(tmp_path):
    """A prompt long enough for the matrix instructions, and a token after it."""
    module = compile_model("GIST_SMOLLM2_GGUF", tmp_path, "--logits=last", "--context=64")
    info = subprocess.run(["gist-run", "info", "--disassemble", module], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    assert set(re.findall(r"^entry @(\w+)", info, re.M)) == {"prefill", "decode"}
    ids = np.random.default_rng(1).integers(300, 40000, 18).astype(np.int32)
    pieces, width = [17, 1], 49152
    check(run(module, "feed", ids, pieces, width),
          run(module, "feed", ids, pieces, width, ["--hip", SIMULATOR]), TOLERANCE)


def test_minilm(tmp_path):
    module = compile_model("GIST_MINILM_FOLDER", tmp_path)
    report = subprocess.run(
        ["gist-run", "selftest", module, "--device", "hip", "--hip-library", SIMULATOR,
         "--tokens", "1,17", "--tolerance", str(TOLERANCE)],
        stdout=subprocess.PIPE, check=True, text=True).stdout
    launched = re.search(r"(\d+) of (\d+) kernels for gfx942 were launched", report)
    assert launched and launched.group(1) == launched.group(2), report
    # Each of two sizes three times.
    assert "all 6 comparisons passed" in report
