# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products that rows have to ask for: kernels and definitions against NumPy."""

import platform

import numpy as np
import pytest

import cpu_kernels as cpu
import harness
from cpu_kernels import rows, whole
from texts import function, tensor
from reference.quantization import dequantize, quantize_activation

#: Guards of a few rows, and of more than one workgroup of them.
GUARDS = {
    "open": lambda t: np.ones(t, np.int8),
    "closed": lambda t: np.zeros(t, np.int8),
    "first": lambda t: (np.arange(t) == 0).astype(np.int8),
    "last": lambda t: (np.arange(t) == t - 1).astype(np.int8) * -3,
    "odd": lambda t: (np.arange(t) % 2).astype(np.int8) * 2,
}
TOKENS = [1, 3, 40]


def float_kernel(n, k, weight):
    w = f"tensor<{n}x{k}x{weight}>"
    return f"""
func.func private @matmul(%x: tensor<?x{k}xf32>, %w: {w}, %g: tensor<?xi8>,
    %out: tensor<?x{n}xf32>) -> tensor<?x{n}xf32>
    attributes {{gist.kernel = #gist.kernel<kind = guarded_matmul, outputs = 1>}} {{
  %y = gist.guarded_matmul %x, %w where %g : tensor<?x{k}xf32>, {w}, tensor<?xi8>
  return %y : tensor<?x{n}xf32>
}}
"""


def block_kernel(name, n, k):
    text = cpu.quantized_matmul(name, n, k)
    text = text.replace("%out:", "%g: tensor<?xi8>, %out:")
    return text.replace("      : tensor<?x", "      where %g : tensor<?xi8> : tensor<?x")


@pytest.mark.parametrize("weight", ["f32", "f16"])
@pytest.mark.parametrize("n, k", [(24, 64), (30, 7), (1, 1)])
def test_guarded_matmul(weight, n, k):
    kernels = cpu.Kernels(float_kernel(n, k, weight))
    rng = np.random.default_rng(n)
    dtype = np.float32 if weight == "f32" else np.float16
    w = rng.standard_normal((n, k)).astype(dtype)
    for tokens in TOKENS:
        for guard in GUARDS.values():
            g = guard(tokens)
            x = rng.standard_normal((tokens, k)).astype(np.float32)
            x[g == 0, 0] = np.nan  # Rows with a closed guard are not read.
            y = np.full((tokens, n), np.nan, np.float32)
            kernels.call("matmul", rows(x), whole(w), rows(g), rows(y))
            expected = np.where(g[:, None] != 0, x.astype(float) @ w.astype(float).T, 0)
            np.testing.assert_allclose(y, expected, atol=1e-4)


@pytest.mark.skipif(platform.machine() != "aarch64", reason="packed for Arm")
@pytest.mark.parametrize("name", ["q4_1", "q3_1", "q2_1", "q8_0"])
@pytest.mark.parametrize("n, k", [(64, 96), (30, 32)])
def test_guarded_quantized_matmul(name, n, k):
    kernels = cpu.Kernels(block_kernel(name, n, k), "features=+i8mm,+dotprod")
    rng = np.random.default_rng(n)
    blocks = cpu.random_blocks(rng, name, n, k)
    packed = cpu.pack(blocks, name, "arm")
    w = dequantize(blocks, name)
    for tokens in TOKENS:
        for guard in GUARDS.values():
            g = guard(tokens)
            q, s = quantize_activation(rng.standard_normal((tokens, k)))
            y = np.full((tokens, n), np.nan, np.float32)
            kernels.call("matmul", rows(q), rows(s), whole(packed), rows(g), rows(y))
            x = q.reshape(tokens, -1, 32) * s[..., None].astype(np.float64)
            expected = np.where(g[:, None] != 0, x.reshape(tokens, k) @ w.T, 0)
            np.testing.assert_allclose(y, expected, atol=2e-5 * np.abs(w).sum(1).max())


def test_a_closed_gate_does_not_read_the_weight():
    """Zeros times a weight of NaN would be NaN."""
    n, k = 24, 64
    kernels = cpu.Kernels(float_kernel(n, k, "f32"))
    w = np.full((n, k), np.nan, np.float32)
    for tokens in TOKENS:
        x, g = np.zeros((tokens, k), np.float32), np.zeros(tokens, np.int8)
        y = np.full((tokens, n), np.nan, np.float32)
        kernels.call("matmul", rows(x), whole(w), rows(g), rows(y))
        assert (y == 0).all()


def test_definitions():
    n, k = 5, 64
    x, q, s = tensor("f32", None, k), tensor("i8", None, k), tensor("f32", None, k // 32)
    w, blocks, g = tensor("f32", n, k), tensor("i8", n, k // 32, 16), tensor("i8", None)
    out = tensor("f32", None, n)
    text = function("floats", [("x", x), ("w", w), ("g", g)], [out], f"""
  %y = gist.guarded_matmul %x, %w where %g : {x}, {w}, {g}
  return %y : {out}""")
    text += function("quantized", [("q", q), ("s", s), ("w", blocks), ("g", g)], [out], f"""
  %y = gist.quantized_matmul %q, %s, %w format q3_1 where %g : {g} : {q}, {s}, {blocks} -> {out}
  return %y : {out}""")
    library = harness.build(text)
    rng = np.random.default_rng(1)
    x = rng.standard_normal((7, k)).astype(np.float32)
    w = rng.standard_normal((n, k)).astype(np.float32)
    g = GUARDS["odd"](7)
    keep = g[:, None] != 0
    (y,) = library.floats(x, w, g)
    np.testing.assert_allclose(y, np.where(keep, x @ w.T, 0), atol=1e-4)
    blocks = cpu.random_blocks(rng, "q3_1", n, k)
    q, s = quantize_activation(x)
    (y,) = library.quantized(q, s, blocks, g)
    want = (q.reshape(7, -1, 32) * s[..., None]).reshape(7, k) @ dequantize(blocks, "q3_1").T
    np.testing.assert_allclose(y, np.where(keep, want, 0), atol=1e-4)
