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
from safetensors.numpy import save_file

from test_gfx942_models import SIMULATOR, check, run

#: Of the norm of a row: what a single kernel is held to, as it rounds what it
#: multiplies to f16. A trained model does not make the errors of its kernels
#: larger than that.
TOLERANCE = 2e-3


SAMPLES = pathlib.Path(__file__).parent.parent.parent / "samples"

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
    assert set(re.findall(r"^entry @(\w+)", info, re.M)) == {
        "prefill", "short", "decode", "read"}
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
    # Two sizes, each three times.
    assert "all 2 comparisons passed" in report
    assert len(re.findall(r"^embed +\d+ +embed.embedding +3 ", report, re.M)) == 2, report


KEYS = {"on": "keys", "tau": 0.15, "similarity": "signed"}
RESIDUAL = {"on": "residual", "tau": 0.05}
LINEARS = {"qkv": {"k": 64, "epsilon": 0.4}, "o": {"k": 32, "epsilon": 0.5},
           "gate_up": {"k": 64, "epsilon": 0.6},
           "down": {"k": 32, "bits": 4, "epsilon_low": 0.8, "epsilon": 0.95}}


def selection_plan(folder):
    """A layer of SmolLM2 for each way to attend on a selection."""
    window = {"window": 64, "block": 64}
    layers = [
        {"selection": KEYS, "attend": {"mode": "keys", **window}},
        {"selection": RESIDUAL, "attend": {"mode": "keys", "merge": "representative", **window}},
        {"selection": RESIDUAL, "attend": {"mode": "copy"}},
        {"selection": {**RESIDUAL, "rule": "covering"}, "attend": {"mode": "copy"}}]
    return {"gist_plan": 1, "layers": layers + [{}] * (30 - len(layers))}


def gate_plan(folder):
    """A layer with gates of two and of three levels. Code does not depend on the
    numbers of a basis."""
    sizes = {"qkv": 576, "o": 576, "gate_up": 576, "down": 1536}
    save_file({f"0.{group}.basis": np.eye(LINEARS[group]["k"], size, dtype=np.float32)
               for group, size in sizes.items()}, folder / "bases.safetensors")
    return {"gist_plan": 1, "block": 64, "bases": "bases.safetensors",
            "layers": [{"linears": LINEARS}] + [{"linears": {}}] * 29}


@pytest.mark.parametrize("variable, plan", [
    ("GIST_SMOLLM2_GGUF", None),
    ("GIST_SMOLLM2_GGUF", SAMPLES / "04-less-work" / "plan-1.05.json"),
    ("GIST_SMOLLM2_GGUF", selection_plan),
    ("GIST_SMOLLM2_GGUF", gate_plan),
    ("GIST_MINILM_FOLDER", None),
    ("GIST_MINILM_FOLDER", SAMPLES / "03-minilm" / "plan.json"),
    (None, None)])
def test_budgets(variable, plan, tmp_path):
    """No kernel has scratch memory or spills a register, and the main loops load
    a step ahead and multiply at least eight times between barriers. Wide tiles,
    which multiply 32 times, keep the matrix unit busy for 60 % of the time, and so
    does dense attention with heads of 64 in f16."""
    if variable and variable not in os.environ:
        pytest.skip(f"{variable} does not name the model")
    model = os.environ[variable] if variable else SAMPLES / "01-select" / "select.mlir"
    if callable(plan):
        text = json.dumps(plan(tmp_path))
        plan = tmp_path / "plan.json"
        plan.write_text(text)
    options = [f"--plan={plan}"] if plan else []
    kernels = json.loads(subprocess.run(
        ["gist-compile", model, "--target=gfx942", "--report=resources-json", *options],
        stdout=subprocess.PIPE, check=True).stdout)
    assert any(kernel["loops"] for kernel in kernels)
    for kernel in kernels:
        assert kernel["scratch"] == kernel["vgpr_spills"] == kernel["sgpr_spills"] == 0, kernel
        assert kernel["lds"] <= 65536, kernel
        for loop in kernel["loops"]:
            is_dense = variable == "GIST_SMOLLM2_GGUF" and not plan and \
                kernel["name"].startswith("attention")
            # Products of up to 16 rows share nothing between waves; memory bounds them.
            if loop["barriers"] == 0 and not is_dense:
                continue
            assert loop["stages_ahead"] >= 1, kernel
            assert loop["mfma"] >= 8 * loop["barriers"], kernel
            if loop["mfma"] >= 32 * loop["barriers"] or is_dense:
                assert loop["mfma_utilisation"] >= 0.6, kernel
