# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""8-bit activations cost at most half a percent of perplexity.

    GIST_SMOLLM2_GGUF=… PATH=build/dev/bin:$PATH \\
        python3 -m pytest test/integration/test_perplexity.py
"""

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))
import perplexity


def test_int8_against_f32():
    model = os.environ.get("GIST_SMOLLM2_GGUF")
    if not model:
        pytest.skip("GIST_SMOLLM2_GGUF does not name a model")
    results = perplexity.compare("gist-run", "gist-compile", model,
                                 len(os.sched_getaffinity(0)), tokens=2048)
    assert results["all"]["tokens"] > 5000
    assert results["all"]["perplexity_ratio"] <= 1.005
    for text in "licence", "program", "prose":
        found = results[text]
        # A model that computes something else, or the same module twice.
        assert 2 < found["against_perplexity"] < 40
        assert found["top1_agreement"] > 0.93
        assert found["kl_mean"] > 0
