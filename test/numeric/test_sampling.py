# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gist.sample, by its definition and as a kernel for gfx942 on the simulator,
beside NumPy. Tokens are whole numbers of whole numbers: nothing may differ."""

import numpy as np
import pytest

import gpu_kernels as gpu
import harness
import scratch
from gpu_kernels import rows
from reference.sampling import sample, settings, weights

#: One token, fewer than a wave, no power of two, more than a thread's four, and
#: more chunks than are read at once.
VOCABULARIES = [1, 7, 100, 4500, 9000]

#: How many rows of each kind of logits.
ROWS = 3


def kernel_text(tokens):
    logits = f"tensor<?x{tokens}xf32>"
    types = f"{logits}, tensor<?x5xi64>"
    return f"""
func.func private @sample(%x: {logits}, %s: tensor<?x5xi64>, %y: tensor<?xi32>)
    -> tensor<?xi32> attributes {{gist.kernel = #gist.kernel<kind = sample, outputs = 1>}} {{
  %r = gist.sample %x by %s : {types}
  return %r : tensor<?xi32>
}}
"""


def definition_text(tokens):
    types = f"tensor<?x{tokens}xf32>, tensor<?x5xi64>"
    return f"""
func.func @sample(%x: tensor<?x{tokens}xf32>, %s: tensor<?x5xi64>) -> tensor<?xi32>
    attributes {{llvm.emit_c_interface}} {{
  %r = gist.sample %x by %s : {types}
  return %r : tensor<?xi32>
}}
"""


def run_kernel(logits, chosen):
    tokens = np.full(len(logits), 77, np.int32)
    text = kernel_text(logits.shape[1])
    (memory,) = scratch.ask(text, "gfx942")
    shapes = [array.shape for array in (logits, chosen, tokens)]
    gpu.Kernels(text).call(
        "sample", rows(logits), rows(chosen), rows(tokens), memory.make(-1, *shapes)
    )
    return tokens


def run_definition(logits, chosen):
    (tokens,) = harness.build(definition_text(logits.shape[1])).sample(logits, chosen)
    return tokens


def make_logits(rng, tokens):
    """Rows of logits, the last of which are hard."""
    kinds = [
        3 * rng.standard_normal((ROWS, tokens)),
        # Few values: many are equal, both zeros among them.
        rng.integers(-2, 2, (ROWS, tokens)) * 1.0 * rng.choice([-1, 1], (ROWS, tokens)),
        # Weights from 1 to nothing.
        rng.uniform(-60, 0, (ROWS, tokens)),
        rng.uniform(-1e30, 1e30, (ROWS, tokens)),
    ]
    holes = 3 * rng.standard_normal((ROWS, tokens))
    holes[rng.random((ROWS, tokens)) < 0.3] = np.nan
    holes[rng.random((ROWS, tokens)) < 0.3] = -np.inf
    largest = holes.copy()
    largest[rng.random((ROWS, tokens)) < 0.3] = np.inf
    none = np.full((ROWS, tokens), -np.inf)
    none[rng.random((ROWS, tokens)) < 0.5] = np.nan
    return np.concatenate(kinds + [holes, largest, none]).astype(np.float32)


def make_settings(rng, count, tokens):
    def draw():
        return settings(
            temperature=rng.choice([1e-3, 0.5, 1.0, 4.0]),
            top_k=rng.choice([None, 1, 2, tokens // 2 + 1, tokens]),
            top_p=rng.choice([1e-9, 0.3, 0.9, 1.0]),
            min_p=rng.choice([0.0, 0.05, 1.0]),
            random=int(rng.choice([0, rng.integers(1 << 32), (1 << 32) - 1])),
        )

    return np.stack([draw() for _ in range(count)])


#: The definition compares all pairs of tokens.
CASES = [(run_definition, tokens) for tokens in VOCABULARIES if tokens < 1000]
CASES += [(run_kernel, tokens) for tokens in VOCABULARIES]


@pytest.mark.parametrize("run,tokens", CASES)
def test_tokens(run, tokens):
    rng = np.random.default_rng(tokens)
    logits = np.concatenate([make_logits(rng, tokens) for _ in range(3)])
    chosen = make_settings(rng, len(logits), tokens)
    expected = [sample(x, row) for x, row in zip(logits, chosen)]
    np.testing.assert_array_equal(run(logits, chosen), expected)
    if tokens > 1:
        assert len(set(expected)) > 3


@pytest.mark.parametrize("run", [run_definition, run_kernel])
def test_frequencies(run):
    """Over random numbers that are spread evenly a token is drawn as often as
    its probability says."""
    logits = np.float32([0.3, -1.0, 2.0, 0.0, -3.0])
    count = 200
    chosen = np.stack(
        [settings(0.8, random=(i << 32) // count) for i in range(count)]
    )
    tokens = run(np.tile(logits, (count, 1)), chosen)
    expected = np.exp(logits / 0.8) / np.exp(logits / 0.8).sum()
    counts = np.bincount(tokens, minlength=len(logits))
    np.testing.assert_allclose(counts / count, expected, atol=1.01 / count)


def test_weights_are_probabilities():
    rng = np.random.default_rng(5)
    logits = rng.uniform(-15, 0, 500).astype(np.float32)
    expected = np.exp((logits.astype(np.float64) - logits.max()) * 1.25)
    got = weights(logits, np.float32(np.log2(np.e) * 1.25))
    np.testing.assert_allclose(np.array(got) / 2.0**30, expected, atol=2e-8, rtol=3e-6)
