# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs for IREE whose `read` walks through fewer layers, against NumPy."""

import os
import sys

import numpy as np
import pytest
from conftest import ROOT
from generate import Program

sys.path.insert(0, str(ROOT / "test/integration"))
from test_depth import FIRST, KINDS, LAST, Case  # noqa: E402


@pytest.mark.parametrize("kernels", ["plain", "embedded"])
def test_read(compile_for_iree, gist, tmp_path, monkeypatch, kernels):
    """The ends of a prompt are calls of prefill, its bulk is one of read."""
    monkeypatch.setenv("PATH", f"{gist}:{os.environ['PATH']}")
    case = Case(tmp_path, KINDS["all kinds"], 64, 1)
    vmfb = compile_for_iree(case.model, f"--kernels={kernels}", "--compute=f32", "--kv-type=f32",
                            f"--plan={case.plan}", "--logits=last")
    program = Program(vmfb, vmfb.with_suffix(".irpa"))
    ids = case.draw(120)
    program.prefill(ids[:FIRST])
    program.module.read(ids[FIRST:-LAST], program.past)
    program.past += 120 - FIRST - LAST
    found = program.prefill(ids[-LAST:])
    # Where a CPU multiplies f16 maps in bf16, rows have 8 bits.
    np.testing.assert_allclose(found, case.reference(ids, [120])[0], atol=6e-3, rtol=0)
    whole = case.reference(ids, [120], ["full"] * 5)[0]
    assert np.abs(found - whole).max() > 0.1
