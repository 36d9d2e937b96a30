# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention of torch-mlir, as it is and raised, against the reference."""

import re
from pathlib import Path

import numpy as np
import pytest

import harness
from reference.attention import attention

INPUTS = Path(__file__).parent.parent / "passes/Import/Inputs"

#: Shapes of keys and values, and what the reference is told.
CASES = {
    "plain": ((4, 16, 8), (4, 16, 6), dict(causal=False)),
    "causal": ((4, 12, 8), (4, 12, 6), dict(scale=0.25)),
    "sdpa": ((4, 12, 8), (4, 12, 8), dict()),
    "masked": ((4, 16, 8), (4, 16, 6), dict(causal=False, scale=0.25)),
    "grouped": ((2, 12, 8), (2, 12, 8), dict(scale=0.25)),
}


@pytest.mark.parametrize("passes", [(), ("-gist-raise-attention",)], ids=["as it is", "raised"])
@pytest.mark.parametrize("name", CASES)
def test_equals_the_reference(name, passes):
    keys, values, options = CASES[name]
    text = (INPUTS / f"torch-{name}.mlir").read_text()
    text = re.sub(r"(func\.func @\w+\(.*) \{$", r"\1 attributes {llvm.emit_c_interface} {",
                  text, flags=re.MULTILINE)
    rng = np.random.default_rng(7)
    q, k, v = (rng.standard_normal((1, *shape)).astype(np.float32)
               for shape in ((4, 12, 8), keys, values))
    arguments = [q, k, v]
    if name == "masked":
        mask = rng.standard_normal((12, 16)).astype(np.float32)
        mask[rng.random((12, 16)) < 0.3] = -np.inf
        arguments.append(mask)
        options = dict(options, mask=mask)
    found = getattr(harness.build(text, passes), name)(*arguments)
    by_token = (x[0].transpose(1, 0, 2) for x in (q, k, v))
    expected = attention(*by_token, **options).transpose(1, 0, 2)
    np.testing.assert_allclose(found[0][0], expected, atol=2e-5, rtol=0)
