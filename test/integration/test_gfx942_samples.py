# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The models of the samples, compiled for gfx942 and run whole on the simulator,
beside the same module's f32 code for this CPU. Every command of an entry runs,
and so does every kernel that the compiler emits for them.

    GIST_SMOLLM2_GGUF=… GIST_MINILM_FOLDER=… PATH=build/dev/bin:$PATH \\
    GIST_HIP_SIM=build/dev/lib/libgist-hip-sim.so \\
        python3 -m pytest test/integration/test_gfx942_samples.py
"""

import json
import os
import pathlib
import re
import subprocess

import numpy as np
import pytest

from test_gfx942_models import SIMULATOR, check, run

#: Of the norm of a row: what a single kernel is held to, as it rounds what it
#: multiplies to f16. A trained model does not make the errors of its kernels
#: larger than that.
TOLERANCE = 2e-3


SAMPLES = pathlib.Path(__file__).parent.parent.parent / "samples"

#: What the code of the samples' kernels is held to: SGPRs that go to lanes of
#: VGPRs, by the beginning of a kernel's name, where there are any. A selection is
#: one launch, and keeps what all of its rounds need.
SGPR_SPILLS = {"gram_select": 24}


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


@pytest.mark.parametrize("variable, options", [
    ("GIST_SMOLLM2_GGUF", []),
    ("GIST_SMOLLM2_GGUF", [f"--plan={SAMPLES / '04-less-work' / 'plan-1.05.json'}"]),
    ("GIST_MINILM_FOLDER", []),
    (None, [])])
def test_budgets(variable, options):
    """No kernel has scratch memory or spills, but for what is said above, and the
    main loops load a step ahead and multiply at least eight times between barriers."""
    if variable and variable not in os.environ:
        pytest.skip(f"{variable} does not name the model")
    model = os.environ[variable] if variable else SAMPLES / "01-select" / "select.mlir"
    kernels = json.loads(subprocess.run(
        ["gist-compile", model, "--target=gfx942", "--report=resources-json", *options],
        stdout=subprocess.PIPE, check=True).stdout)
    assert any(kernel["loops"] for kernel in kernels)
    for kernel in kernels:
        allowed = [count for name, count in SGPR_SPILLS.items() if kernel["name"].startswith(name)]
        assert kernel["scratch"] == kernel["vgpr_spills"] == 0, kernel
        assert kernel["sgpr_spills"] <= sum(allowed), kernel
        assert kernel["lds"] <= 65536, kernel
        for loop in kernel["loops"]:
            assert loop["stages_ahead"] >= 1, kernel
            assert loop["mfma"] >= 8 * loop["barriers"], kernel
