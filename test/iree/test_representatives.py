# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plans of selections under IREE: its own code and our kernels, against NumPy.

A program with a traced plan gives what its selections looked at, and what they
say. NumPy checks that as test/integration/test_selections.py does for our
runtime, and computes the model with the same selections.
"""

import json
import sys

import numpy as np
import pytest
from conftest import ROOT
from generate import Program
from safetensors.numpy import load_file

sys.path.insert(0, str(ROOT / "test/integration"))
from test_selections import FORMS, TINY, Checker, make_plan, models  # noqa: E402

MODELS = ROOT / "test/models"


def run(compile_for_iree, model, plan, entry, ids, folder, kernels):
    """The outputs of the program, by the names that our runtime has for them."""
    path = folder / "plan.json"
    path.write_text(json.dumps(plan))
    vmfb = compile_for_iree(model, f"--kernels={kernels}", f"--plan={path}",
                            "--compute=f32")
    program = Program(vmfb, vmfb.with_suffix(".irpa"))
    results = getattr(program.module, entry)(np.asarray(ids, np.int32))
    names = [f"selection.{layer}.{what}"
             for layer, choice in enumerate(plan["layers"])
             if choice["selection"].get("rule") != "inherit"
             for what in ("rows", "nearest")]
    assert len(results) == 1 + len(names)
    found = [result.to_host() for result in results]
    return found[0], dict(zip(names, found[1:]))


@pytest.mark.parametrize("kernels", ["plain", "embedded"])
@pytest.mark.parametrize("form", FORMS)
def test_decoder(compile_for_iree, form, kernels, tmp_path):
    """Grouped heads and causal attention."""
    folder = MODELS / "llama"
    ids = np.random.default_rng(3).integers(0, 20, 60)  # few words: some are alike
    plan = make_plan(form, TINY["layers"], 0.6, True, TINY["kv_heads"])
    logits, traced = run(compile_for_iree, folder, plan, "score", ids, tmp_path,
                         kernels)
    checker = Checker(plan, traced, True, 1e-4)
    weights = models.llama_weights(load_file(folder / "model.safetensors"))
    want = models.llama(weights, ids, checker, **TINY)
    np.testing.assert_allclose(logits, want, atol=1e-4 * np.abs(want).max())
    assert any(1 < count < 60 for layer in checker.counts for count in layer)


@pytest.mark.parametrize("kernels", ["plain", "embedded"])
@pytest.mark.parametrize("form", FORMS)
def test_encoder(compile_for_iree, form, kernels, tmp_path):
    """Attention that sees both ways."""
    folder = MODELS / "bert"
    ids = np.random.default_rng(4).integers(0, 12, 38)
    plan = make_plan(form, 2, 0.6, causal=False, kv_heads=4)
    states, traced = run(compile_for_iree, folder, plan, "forward", ids, tmp_path,
                         kernels)
    checker = Checker(plan, traced, False, 1e-4)
    want = models.bert(load_file(folder / "model.safetensors"), ids, checker,
                       layers=2, heads=4, epsilon=1e-12)
    np.testing.assert_allclose(states, want, atol=1e-4 * np.abs(want).max())
    assert any(count < 38 for layer in checker.counts for count in layer)
