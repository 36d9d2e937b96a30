# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""quantize_blocks and scaled_matmul by their definitions, and on gfx942, run on
the simulator, against NumPy in double precision: integers and floats of 8 bits,
with scales of blocks and of rows."""

import numpy as np
import pytest

import harness
from gpu_kernels import Kernels, rows, whole
from reference.numerics import STORAGE, f8_to_f32, f32_to_f8
from reference.quantization import quantize_activation

BLOCK = 128
LARGEST = {"i8": 127, "f8E4M3FN": 448, "f8E4M3FNUZ": 240}
#: What gfx942 multiplies, and the numbers that share a scale; 0 is a row.
SMALL = [("i8", BLOCK), ("i8", 0), ("f8E4M3FNUZ", BLOCK), ("f8E4M3FNUZ", 0)]


def quantize(x, element, block):
    """Rows whose last block may be part full."""
    block = block or x.shape[1]
    padded = np.pad(x, ((0, 0), (0, -x.shape[1] % block)))
    if element == "i8":
        values, scales = quantize_activation(padded, block)
        return np.ascontiguousarray(values[:, : x.shape[1]]), scales
    cut = padded.astype(np.float64).reshape(len(x), -1, block)
    largest = np.abs(cut).max(axis=2)
    inverse = LARGEST[element] / np.where(largest == 0, 1, largest)
    values = f32_to_f8(cut * inverse[..., None], element).reshape(len(x), -1)
    return np.ascontiguousarray(values[:, : x.shape[1]]), (largest / LARGEST[element]).astype(np.float32)


def numbers(values, element):
    """What values of 8 bits stand for."""
    return values.astype(np.float64) if element == "i8" else f8_to_f32(values, element).astype(np.float64)


def expand(values, scales, element, block):
    scales = scales.astype(np.float64).repeat(block or values.shape[1], axis=1)
    return numbers(values, element) * scales[:, : values.shape[1]]


def draw_weight(rng, n, k, element):
    """Weights with rows of the largest numbers of either sign."""
    if element == "i8":
        w = rng.integers(-127, 128, (n, k)).astype(np.int8)
        w[2], w[3] = 127, -127
        return w
    w = f32_to_f8(rng.standard_normal((n, k)) * LARGEST[element] / 4, element)
    w[2], w[3] = (f32_to_f8(np.float32(sign * LARGEST[element]), element) for sign in (1, -1))
    return w


def as_type(element):
    return "" if element == "i8" else f" as {element}"


def draw(seed, m, k):
    """Rows and blocks of different sizes, so that neither can be exchanged; one block
    of zeros, and one of which a single number is large."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((m, k)) * rng.uniform(0.5, 2, (m, 1)) * rng.uniform(0.1, 3, (1, k))
    x[m // 2, : min(k, BLOCK)] = 0
    x[0, k // 2] = 50
    return x.astype(np.float32)


def check_quantized(x, values, scales, element, block):
    expected, expected_scales = quantize(x, element, block)
    np.testing.assert_allclose(scales, expected_scales, rtol=1e-6)
    # x / scale and x * (127 / max) may land on two sides of a tie. Neighbours are
    # neighbours as bytes too, whose signs are those of the numbers.
    assert np.abs(values.view(np.int8).astype(int) - expected.view(np.int8)).max() <= 1
    assert (values != expected).mean() < 0.01
    assert not numbers(values, element)[x == 0].any()


def norm_kernel(k, element, block):
    """x / rms(x) in 16 bits, and then in 8."""
    block = block or k
    blocks = -(-k // block)
    return f"""
#i = affine_map<(m, n) -> (m, n)>
#r = affine_map<(m, n) -> (m)>
func.func private @norm(%x: tensor<?x{k}xf32>, %q: tensor<?x{k}x{element}>, %s: tensor<?x{blocks}xf32>)
    -> (tensor<?x{k}x{element}>, tensor<?x{blocks}xf32>)
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
  %v, %r = gist.quantize_blocks %w block {block}{as_type(element)} : tensor<?x{k}xf32>
  return %v, %r : tensor<?x{k}x{element}>, tensor<?x{blocks}xf32>
}}
"""


def definitions(n, k, element, block):
    block = block or k
    blocks = -(-k // block)
    return f"""
func.func @quantize(%x: tensor<?x{k}xf32>) -> (tensor<?x{k}x{element}>, tensor<?x{blocks}xf32>)
    attributes {{llvm.emit_c_interface}} {{
  %q, %s = gist.quantize_blocks %x block {block}{as_type(element)} : tensor<?x{k}xf32>
  return %q, %s : tensor<?x{k}x{element}>, tensor<?x{blocks}xf32>
}}
func.func @multiply(%q: tensor<?x{k}x{element}>, %s: tensor<?x{blocks}xf32>, %w: tensor<{n}x{k}x{element}>)
    -> tensor<?x{n}xf32> attributes {{llvm.emit_c_interface}} {{
  %y = gist.scaled_matmul %q, %s, %w block {block}
      : tensor<?x{k}x{element}>, tensor<?x{blocks}xf32>, tensor<{n}x{k}x{element}>
  return %y : tensor<?x{n}xf32>
}}
"""


@pytest.mark.parametrize("k", [256, 352])
@pytest.mark.parametrize("element, block", SMALL + [("f8E4M3FN", 0)])
def test_definitions(element, block, k):
    library = harness.build(definitions(5, k, element, block))
    x = draw(1, 7, k)
    values, scales = library.quantize(x)
    check_quantized(x, values, scales, element, block)
    w = draw_weight(np.random.default_rng(2), 5, k, element)
    (y,) = library.multiply(values, scales, w)
    expected = expand(values, scales, element, block) @ numbers(w, element).T
    np.testing.assert_allclose(y, expected, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("k, m", [(576, 5), (1024, 3), (8224, 2), (20512, 1)])
@pytest.mark.parametrize("element, block", SMALL)
def test_norm(element, block, k, m):
    """576 and 8224 end inside of a block. Of 20512 a thread has more columns than
    are written one after the other."""
    kernels = Kernels(norm_kernel(k, element, block))
    x = draw(3, m, k)
    values = np.full((m, k), 0x80, np.uint8).view(STORAGE[element])
    scales = np.full((m, -(-k // (block or k))), np.nan, np.float32)
    kernels.call("norm", rows(x), rows(values), rows(scales))
    exact = (x / np.sqrt((x.astype(np.float64) ** 2).mean(1, keepdims=True))).astype(np.float16)
    expected, expected_scales = quantize(exact.astype(np.float32), element, block)
    # A number may be rounded to another one of 16 bits, and a scale with it.
    np.testing.assert_allclose(scales, expected_scales, rtol=2e-3)
    assert np.abs(values.view(np.int8).astype(int) - expected.view(np.int8)).max() <= 1
    assert (values != expected).mean() < 0.02


def tile(shape, depth, element, instruction="mfma_32x32x8"):
    return (
        f"#gist.gpu_product<rows = {shape[0]}, columns = {shape[1]}, depth = {depth}, waves = [2, 2],"
        f" stages = 2, instruction = {instruction}, element = {element}>"
    )


def product(n, k, element, block, tile=None):
    """What follows scales the columns and adds a residual."""
    block = block or k
    blocks = -(-k // block)
    attributes = "gist.kernel = #gist.kernel<kind = matmul, outputs = 1>"
    if tile:
        attributes += f", gist.tile = {tile}"
    return f"""
#i = affine_map<(m, n) -> (m, n)>
#c = affine_map<(m, n) -> (n)>
func.func private @product(%q: tensor<?x{k}x{element}>, %s: tensor<?x{blocks}xf32>, %w: tensor<{n}x{k}x{element}>,
    %f: tensor<{n}xf32>, %r: tensor<?x{n}xf32>, %y: tensor<?x{n}xf32>) -> tensor<?x{n}xf32>
    attributes {{{attributes}}} {{
  %p = gist.scaled_matmul %q, %s, %w block {block}
      : tensor<?x{k}x{element}>, tensor<?x{blocks}xf32>, tensor<{n}x{k}x{element}>
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
    "wide": ([128, 128], 64),
    "whole blocks": ([64, 64], 128),
    "16x16": ([64, 64], 64, "mfma_16x16x16"),
}


@pytest.mark.parametrize("name", TILES)
@pytest.mark.parametrize("element, block", SMALL)
@pytest.mark.parametrize("n, k", [(72, 576), (130, 256), (64, 96)])
def test_product(name, element, block, n, k):
    """Neither rows nor columns are multiples of tiles. 576 ends inside of a block, and
    with an odd number of steps."""
    rng = np.random.default_rng(n)
    chosen = TILES[name] and tile(TILES[name][0], TILES[name][1], element, *TILES[name][2:])
    kernels = Kernels(product(n, k, element, block, chosen))
    w = draw_weight(rng, n, k, element)
    factors = rng.uniform(-0.01, 0.01, n).astype(np.float32)
    for m in (17, 70):
        values, scales = quantize(draw(m, m, k), element, block)
        values[1, :BLOCK] = w[2, 0]  # The largest sums, of either sign.
        residual = rng.standard_normal((m, n)).astype(np.float32)
        y = np.full((m, n), np.nan, np.float32)
        kernels.call("product", rows(values), rows(scales), whole(w), whole(factors), rows(residual), rows(y))
        expected = expand(values, scales, element, block) @ numbers(w, element).T * factors
        error = np.abs(y - residual - expected) / np.abs(expected).max()
        assert error.max() < 1e-5


def gated(n, k, element, block):
    """tanh(a) * b of both halves, each with its own scales of columns."""
    block = block or k
    blocks, half = -(-k // block), n // 2
    return f"""
#i = affine_map<(m, n) -> (m, n)>
#c = affine_map<(m, n) -> (n)>
func.func private @gated(%q: tensor<?x{k}x{element}>, %s: tensor<?x{blocks}xf32>, %w: tensor<{n}x{k}x{element}>,
    %f: tensor<{n}xf32>, %y: tensor<?x{half}xf16>) -> tensor<?x{half}xf16>
    attributes {{gist.kernel = #gist.kernel<kind = matmul, outputs = 1>}} {{
  %c0 = arith.constant 0 : index
  %m = tensor.dim %q, %c0 : tensor<?x{k}x{element}>
  %p = gist.scaled_matmul %q, %s, %w block {block}
      : tensor<?x{k}x{element}>, tensor<?x{blocks}xf32>, tensor<{n}x{k}x{element}>
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


@pytest.mark.parametrize("element, block", SMALL)
def test_gated(element, block):
    rng = np.random.default_rng(5)
    n, k, m = 136, 288, 33
    w = draw_weight(rng, n, k, element)
    factors = rng.uniform(0.001, 0.002, n).astype(np.float32)
    values, scales = quantize(draw(6, m, k), element, block)
    y = np.full((m, n // 2), np.nan, np.float16)
    Kernels(gated(n, k, element, block)).call("gated", rows(values), rows(scales), whole(w), whole(factors), rows(y))
    p = expand(values, scales, element, block) @ numbers(w, element).T * factors
    expected = np.tanh(p[:, : n // 2]) * p[:, n // 2 :]
    assert (np.abs(y - expected) / np.abs(expected).max()).max() < 1e-3


def one_row(n, k, element):
    convert = "sitofp" if element == "i8" else "extf"
    return f"""
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
#i = affine_map<(n, k) -> (n, k)>
#c = affine_map<(n, k) -> (n)>
func.func private @row(%x: tensor<1x{k}xf32>, %v: tensor<{n}x{k}x{element}>, %f: tensor<{n}xf32>, %y: tensor<1x{n}xf32>)
    -> tensor<1x{n}xf32> attributes {{gist.kernel = #gist.kernel<kind = matmul, outputs = 1>}} {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<{n}x{k}xf32>
  %w = linalg.generic {{indexing_maps = [#i, #c, #i], iterator_types = ["parallel", "parallel"]}}
      ins(%v, %f : tensor<{n}x{k}x{element}>, tensor<{n}xf32>) outs(%e : tensor<{n}x{k}xf32>) {{
  ^bb0(%a: {element}, %b: f32, %o: f32):
    %s = arith.{convert} %a : {element} to f32
    %t = arith.mulf %s, %b : f32
    linalg.yield %t : f32
  }} -> tensor<{n}x{k}xf32>
  %z = linalg.fill ins(%zero : f32) outs(%y : tensor<1x{n}xf32>) -> tensor<1x{n}xf32>
  %p = linalg.matmul indexing_maps = [#x, #w, #y] ins(%x, %w : tensor<1x{k}xf32>, tensor<{n}x{k}xf32>)
      outs(%z : tensor<1x{n}xf32>) -> tensor<1x{n}xf32>
  return %p : tensor<1x{n}xf32>
}}
"""


@pytest.mark.parametrize("element", ["i8", "f8E4M3FNUZ"])
def test_one_row(element):
    rng = np.random.default_rng(8)
    n, k = 70, 416
    w = draw_weight(rng, n, k, element)
    factors = rng.uniform(-0.01, 0.01, n).astype(np.float32)
    x = draw(9, 1, k) + 1
    y = np.full((1, n), np.nan, np.float32)
    Kernels(one_row(n, k, element)).call("row", whole(x), whole(w), whole(factors), whole(y))
    expected = x.astype(np.float64) @ (numbers(w, element) * factors[:, None].astype(np.float64)).T
    assert (np.abs(y - expected) / np.abs(expected).max()).max() < 1e-5
