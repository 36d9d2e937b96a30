# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prompts that walk through fewer layers, in the code of a card.

    PATH=build/dev/bin:$PATH GIST_HIP_SIM=build/dev/lib/libgist-hip-sim.so \\
        python3 -m pytest test/integration/test_gfx942_depth.py

The simulator executes layers of every kind, in whole prompts and in calls of a
block of a cache of clusters. NumPy and the CPU say what is right.
"""

import os

import numpy as np
import pytest

import test_depth
from test_depth import KINDS, Case, compile_model, depth, feed, write_plan
from test_pool import compare

SIMULATOR = os.environ["GIST_HIP_SIM"]
#: Of calls on a cache of clusters: the bulk of a prompt takes several.
BLOCK = 32


@pytest.mark.parametrize("kinds, heads, pieces", [
    ("all kinds", None, [101, 1, 99]),
    ("all kinds", [{"window": 256, "sinks": 4}] * 2, [150, 1]),
    # An odd number of neurons: tiles of products end inside a pair of columns.
    ("thin alone", None, [110]),
    pytest.param("linear last", None, [110], marks=pytest.mark.full),
])
def test_prompt(kinds, heads, pieces, tmp_path):
    case = Case(tmp_path, KINDS[kinds], 64, 3)
    write_plan(tmp_path, case.kinds, case.maps, heads, BLOCK)
    module = tmp_path / "model.gist"
    compile_model(case.model, module, f"--plan={case.plan}", "--target=cpu", "--target=gfx942",
                  "--follow-plan")
    ids = case.draw(sum(pieces))
    found = feed(module, ids, pieces, ["--hip", SIMULATOR])
    expected = case.reference(ids, pieces)
    error = lambda other: np.linalg.norm(other - expected, axis=1) / np.linalg.norm(expected, axis=1)
    # Twice what rounding the operands of products does. Attention of kernels
    # rounds its weights too.
    limit = 2 * error(case.reference(ids, pieces, product=depth.product_of_halves)).max()
    assert error(found).max() <= limit, (error(found), limit)
    # What a CPU multiplies in bf16 has 8 bits.
    assert error(feed(module, ids, pieces)).max() <= 8 * limit
    # The plan is followed.
    assert error(case.reference(ids, pieces, ["full"] * 5))[0] > 50 * limit


@pytest.mark.full
def test_pool(tmp_path, monkeypatch):
    """Pieces of bulks in a pool give what a session gives."""
    monkeypatch.setattr(test_depth, "FIRST", 2)
    monkeypatch.setattr(test_depth, "LAST", 4)
    case = Case(tmp_path, ["linear", "full", "tail", "tail", "tail"], 64, 6)
    module = tmp_path / "model.gist"
    compile_model(case.model, module, f"--plan={case.plan}", "--target=cpu", "--target=gfx942")
    seen = compare(module, 32, 1, ["--hip", SIMULATOR])
    assert seen["session"] == seen["greedy"] and seen["reduced"] > 0
