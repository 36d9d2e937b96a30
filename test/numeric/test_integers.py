# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""quantize_blocks and integer_matmul by their definitions, and on gfx942, run on
the simulator, against NumPy in double precision."""

import numpy as np
import pytest

import harness
from gpu_kernels import Kernels, rows, whole
from reference.quantization import dequantize_activation, quantize_activation

BLOCK = 128


def quantize(x):
    """Rows whose last block may be part full."""
    padded = np.pad(x, ((0, 0), (0, -x.shape[1] % BLOCK)))
    values, scales = quantize_activation(padded, BLOCK)
    return np.ascontiguousarray(values[:, : x.shape[1]]), scales


def expand(values, scales):
    padded = np.pad(values, ((0, 0), (0, -values.shape[1] % BLOCK)))
    return dequantize_activation(padded, scales, BLOCK)[:, : values.shape[1]]


def draw(seed, m, k):
    """Rows and blocks of different sizes, so that neither can be exchanged; one block
    of zeros, and one of which a single number is large."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((m, k)) * rng.uniform(0.5, 2, (m, 1)) * rng.uniform(0.1, 3, (1, k))
    x[m // 2, : min(k, BLOCK)] = 0
    x[0, k // 2] = 50
    return x.astype(np.float32)


def check_quantized(x, values, scales):
    expected, expected_scales = quantize(x)
    np.testing.assert_allclose(scales, expected_scales, rtol=1e-6)
    # x / scale and x * (127 / max) may land on two sides of a tie.
    assert np.abs(values.astype(int) - expected).max() <= 1
    assert (values != expected).mean() < 0.01
    assert not values[x == 0].any()


def norm_kernel(k):
    """x / rms(x) in 16 bits, and then in 8."""
    return f"""
#i = affine_map<(m, n) -> (m, n)>
#r = affine_map<(m, n) -> (m)>
func.func private @norm(%x: tensor<?x{k}xf32>, %q: tensor<?x{k}xi8>, %s: tensor<?x{-(-k // BLOCK)}xf32>)
    -> (tensor<?x{k}xi8>, tensor<?x{-(-k // BLOCK)}xf32>)
    attributes {{gist.kernel = #gist.kernel<kind = rows, outputs = 2>}} {{
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x{k}xf32>
  %e = tensor.empty(%m) : tensor<?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.generic {{indexing_maps = [#i, #r], iterator_types = ["parallel", "reduction"]}}
      ins(%x : tensor<?x{k}xf32>) outs(%z : tensor<?xf32>) {{
  ^bb0(%a: f32, %b: f32):
    %t = arith.mulf %a, %a : f32
    %u = arith.addf %b, %t : f32
    linalg.yield %u : f32
  }} -> tensor<?xf32>
  %h = tensor.empty(%m) : tensor<?x{k}xf16>
  %n = linalg.generic {{indexing_maps = [#i, #r, #i], iterator_types = ["parallel", "parallel"]}}
      ins(%x, %sum : tensor<?x{k}xf32>, tensor<?xf32>) outs(%h : tensor<?x{k}xf16>) {{
  ^bb0(%a: f32, %b: f32, %o: f16):
    %c = arith.constant {k}.0 : f32
    %t = arith.divf %b, %c : f32
    %u = math.rsqrt %t : f32
    %v = arith.mulf %a, %u : f32
    %y = arith.truncf %v : f32 to f16
    linalg.yield %y : f16
  }} -> tensor<?x{k}xf16>
  %f = tensor.empty(%m) : tensor<?x{k}xf32>
  %w = linalg.generic {{indexing_maps = [#i, #i], iterator_types = ["parallel", "parallel"]}}
      ins(%n : tensor<?x{k}xf16>) outs(%f : tensor<?x{k}xf32>) {{
  ^bb0(%a: f16, %o: f32):
    %y = arith.extf %a : f16 to f32
    linalg.yield %y : f32
  }} -> tensor<?x{k}xf32>
  %v, %r = gist.quantize_blocks %w block {BLOCK} : tensor<?x{k}xf32>
  return %v, %r : tensor<?x{k}xi8>, tensor<?x{-(-k // BLOCK)}xf32>
}}
"""


def definitions(n, k):
    blocks = -(-k // BLOCK)
    return f"""
func.func @quantize(%x: tensor<?x{k}xf32>) -> (tensor<?x{k}xi8>, tensor<?x{blocks}xf32>)
    attributes {{llvm.emit_c_interface}} {{
  %q, %s = gist.quantize_blocks %x block {BLOCK} : tensor<?x{k}xf32>
  return %q, %s : tensor<?x{k}xi8>, tensor<?x{blocks}xf32>
}}
func.func @multiply(%q: tensor<?x{k}xi8>, %s: tensor<?x{blocks}xf32>, %w: tensor<{n}x{k}xi8>)
    -> tensor<?x{n}xf32> attributes {{llvm.emit_c_interface}} {{
  %y = gist.integer_matmul %q, %s, %w block {BLOCK}
      : tensor<?x{k}xi8>, tensor<?x{blocks}xf32>, tensor<{n}x{k}xi8>
  return %y : tensor<?x{n}xf32>
}}
"""


@pytest.mark.parametrize("k", [256, 352])
def test_definitions(k):
    library = harness.build(definitions(5, k))
    x = draw(1, 7, k)
    values, scales = library.quantize(x)
    check_quantized(x, values, scales)
    w = np.random.default_rng(2).integers(-127, 128, (5, k)).astype(np.int8)
    (y,) = library.multiply(values, scales, w)
    expected = expand(values, scales) @ w.astype(np.float64).T
    np.testing.assert_allclose(y, expected, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("k, m", [(576, 5), (1024, 3), (8224, 2), (20512, 1)])
def test_norm(k, m):
    """576 and 8224 end inside of a block. Of 20512 a thread has more columns than
    are written one after the other."""
    kernels = Kernels(norm_kernel(k))
    x = draw(3, m, k)
    values, scales = np.full((m, k), -128, np.int8), np.full((m, -(-k // BLOCK)), np.nan, np.float32)
    kernels.call("norm", rows(x), rows(values), rows(scales))
    exact = (x / np.sqrt((x.astype(np.float64) ** 2).mean(1, keepdims=True))).astype(np.float16)
    expected, expected_scales = quantize(exact.astype(np.float32))
    # A number may be rounded to another one of 16 bits, and a scale with it.
    np.testing.assert_allclose(scales, expected_scales, rtol=2e-3)
    assert np.abs(values.astype(int) - expected).max() <= 1
    assert (values != expected).mean() < 0.02


def tile(shape, depth, instruction="mfma_32x32x8"):
    return (
        f"#gist.gpu_product<rows = {shape[0]}, columns = {shape[1]}, depth = {depth}, waves = [2, 2],"
        f" stages = 2, instruction = {instruction}, element = i8>"
    )


def product(n, k, tile=None):
    """What follows scales the columns and adds a residual."""
    blocks = -(-k // BLOCK)
    attributes = "gist.kernel = #gist.kernel<kind = matmul, outputs = 1>"
    if tile:
        attributes += f", gist.tile = {tile}"
    return f"""
#i = affine_map<(m, n) -> (m, n)>
#c = affine_map<(m, n) -> (n)>
func.func private @product(%q: tensor<?x{k}xi8>, %s: tensor<?x{blocks}xf32>, %w: tensor<{n}x{k}xi8>,
    %f: tensor<{n}xf32>, %r: tensor<?x{n}xf32>, %y: tensor<?x{n}xf32>) -> tensor<?x{n}xf32>
    attributes {{{attributes}}} {{
  %p = gist.integer_matmul %q, %s, %w block {BLOCK}
      : tensor<?x{k}xi8>, tensor<?x{blocks}xf32>, tensor<{n}x{k}xi8>
  %t = linalg.generic {{indexing_maps = [#i, #c, #i, #i], iterator_types = ["parallel", "parallel"]}}
      ins(%p, %f, %r : tensor<?x{n}xf32>, tensor<{n}xf32>, tensor<?x{n}xf32>) outs(%y : tensor<?x{n}xf32>) {{
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %u = arith.mulf %a, %b : f32
    %v = arith.addf %u, %c : f32
    linalg.yield %v : f32
  }} -> tensor<?x{n}xf32>
  return %t : tensor<?x{n}xf32>
}}
"""


TILES = {
    "chosen": None,
    "wide": tile([128, 128], 64),
    "whole blocks": tile([64, 64], 128),
    "16x16": tile([64, 64], 64, "mfma_16x16x16"),
}


@pytest.mark.parametrize("name", TILES)
@pytest.mark.parametrize("n, k", [(72, 576), (130, 256), (64, 96)])
def test_product(name, n, k):
    """Neither rows nor columns are multiples of tiles. 576 ends inside of a block, and
    with an odd number of steps."""
    rng = np.random.default_rng(n)
    kernels = Kernels(product(n, k, TILES[name]))
    w = rng.integers(-127, 128, (n, k)).astype(np.int8)
    factors = rng.uniform(-0.01, 0.01, n).astype(np.float32)
    for m in (17, 70):
        values, scales = quantize(draw(m, m, k))
        values[1, :BLOCK] = 127  # The largest sums, of either sign.
        w[2], w[3] = 127, -127
        residual = rng.standard_normal((m, n)).astype(np.float32)
        y = np.full((m, n), np.nan, np.float32)
        kernels.call("product", rows(values), rows(scales), whole(w), whole(factors), rows(residual), rows(y))
        expected = expand(values, scales) @ w.astype(np.float64).T * factors
        error = np.abs(y - residual - expected) / np.abs(expected).max()
        assert error.max() < 1e-5


def gated(n, k):
    """tanh(a) * b of both halves, each with its own scales of columns."""
    blocks, half = -(-k // BLOCK), n // 2
    return f"""
#i = affine_map<(m, n) -> (m, n)>
#c = affine_map<(m, n) -> (n)>
func.func private @gated(%q: tensor<?x{k}xi8>, %s: tensor<?x{blocks}xf32>, %w: tensor<{n}x{k}xi8>,
    %f: tensor<{n}xf32>, %y: tensor<?x{half}xf16>) -> tensor<?x{half}xf16>
    attributes {{gist.kernel = #gist.kernel<kind = matmul, outputs = 1>}} {{
  %c0 = arith.constant 0 : index
  %m = tensor.dim %q, %c0 : tensor<?x{k}xi8>
  %p = gist.integer_matmul %q, %s, %w block {BLOCK}
      : tensor<?x{k}xi8>, tensor<?x{blocks}xf32>, tensor<{n}x{k}xi8>
  %a = tensor.extract_slice %p[0, 0] [%m, {half}] [1, 1] : tensor<?x{n}xf32> to tensor<?x{half}xf32>
  %b = tensor.extract_slice %p[0, {half}] [%m, {half}] [1, 1] : tensor<?x{n}xf32> to tensor<?x{half}xf32>
  %g = tensor.extract_slice %f[0] [{half}] [1] : tensor<{n}xf32> to tensor<{half}xf32>
  %h = tensor.extract_slice %f[{half}] [{half}] [1] : tensor<{n}xf32> to tensor<{half}xf32>
  %t = linalg.generic {{indexing_maps = [#i, #c, #i, #c, #i], iterator_types = ["parallel", "parallel"]}}
      ins(%a, %g, %b, %h : tensor<?x{half}xf32>, tensor<{half}xf32>, tensor<?x{half}xf32>, tensor<{half}xf32>)
      outs(%y : tensor<?x{half}xf16>) {{
  ^bb0(%x0: f32, %x1: f32, %x2: f32, %x3: f32, %o: f16):
    %u = arith.mulf %x0, %x1 : f32
    %v = arith.mulf %x2, %x3 : f32
    %z = math.tanh %u : f32
    %r = arith.mulf %z, %v : f32
    %e = arith.truncf %r : f32 to f16
    linalg.yield %e : f16
  }} -> tensor<?x{half}xf16>
  return %t : tensor<?x{half}xf16>
}}
"""


def test_gated():
    rng = np.random.default_rng(5)
    n, k, m = 136, 288, 33
    w = rng.integers(-127, 128, (n, k)).astype(np.int8)
    factors = rng.uniform(0.001, 0.002, n).astype(np.float32)
    values, scales = quantize(draw(6, m, k))
    y = np.full((m, n // 2), np.nan, np.float16)
    Kernels(gated(n, k)).call("gated", rows(values), rows(scales), whole(w), whole(factors), rows(y))
    p = expand(values, scales) @ w.astype(np.float64).T * factors
    expected = np.tanh(p[:, : n // 2]) * p[:, n // 2 :]
    assert (np.abs(y - expected) / np.abs(expected).max()).max() < 1e-3


def one_row(n, k):
    return f"""
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
#i = affine_map<(n, k) -> (n, k)>
#c = affine_map<(n, k) -> (n)>
func.func private @row(%x: tensor<1x{k}xf32>, %v: tensor<{n}x{k}xi8>, %f: tensor<{n}xf32>, %y: tensor<1x{n}xf32>)
    -> tensor<1x{n}xf32> attributes {{gist.kernel = #gist.kernel<kind = matmul, outputs = 1>}} {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<{n}x{k}xf32>
  %w = linalg.generic {{indexing_maps = [#i, #c, #i], iterator_types = ["parallel", "parallel"]}}
      ins(%v, %f : tensor<{n}x{k}xi8>, tensor<{n}xf32>) outs(%e : tensor<{n}x{k}xf32>) {{
  ^bb0(%a: i8, %b: f32, %o: f32):
    %s = arith.sitofp %a : i8 to f32
    %t = arith.mulf %s, %b : f32
    linalg.yield %t : f32
  }} -> tensor<{n}x{k}xf32>
  %z = linalg.fill ins(%zero : f32) outs(%y : tensor<1x{n}xf32>) -> tensor<1x{n}xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %w : tensor<1x{k}xf32>, tensor<{n}x{k}xf32>)
      outs(%z : tensor<1x{n}xf32>) -> tensor<1x{n}xf32>
  return %p : tensor<1x{n}xf32>
}}
"""


def test_one_row():
    rng = np.random.default_rng(8)
    n, k = 70, 416
    w = rng.integers(-127, 128, (n, k)).astype(np.int8)
    factors = rng.uniform(-0.01, 0.01, n).astype(np.float32)
    x = draw(9, 1, k) + 1
    y = np.full((1, n), np.nan, np.float32)
    Kernels(one_row(n, k)).call("row", whole(x), whole(w), whole(factors), whole(y))
    expected = x.astype(np.float64) @ (w * factors[:, None].astype(np.float64)).T
    assert (np.abs(y - expected) / np.abs(expected).max()).max() < 1e-5
