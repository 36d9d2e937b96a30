# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels on whole rows, compiled for gfx942 and run on the simulator, beside
NumPy and the same kernels compiled for this CPU."""

import numpy as np
import pytest

import cpu_kernels as cpu
import gpu_kernels as gpu
from gpu_kernels import rows, whole
from reference.quantization import FORMATS, HALVES, dequantize

#: Rows: one, teams and a rest, several workgroups.
TOKENS = [1, 2, 7, 33]

#: Columns: even, no multiple of a vector, of a wave, of a team.
COLUMNS = [64, 30, 577, 1088]

MAPS = """
#r = affine_map<(t, d) -> (t)>
#c = affine_map<(t, d) -> (d)>
#e = affine_map<(t, d) -> (t, d)>
#r3 = affine_map<(t, h, d) -> (t)>
#td = affine_map<(t, h, d) -> (t, d)>
#th = affine_map<(t, h, d) -> (t, h)>
#e3 = affine_map<(t, h, d) -> (t, h, d)>
"""


def draw(rng, *shape):
    return rng.standard_normal(shape).astype(np.float32)


def kernel(name, arguments, result, body, outputs=1, kind="rows"):
    """A kernel function whose last arguments are its destinations."""
    return f"""{MAPS}
func.func private @{name}({arguments}) -> {result}
    attributes {{gist.kernel = #gist.kernel<kind = {kind}, outputs = {outputs}>}} {{
  %zero = arith.constant 0.0 : f32
  {body}
}}
"""


def check(text, name, arguments, expected, tolerance=2e-6, on_cpu=True):
    """Calls a kernel whose last argument is its result; returns that."""
    for kernels in [gpu.Kernels] + [cpu.Kernels] * on_cpu:
        y, dynamic = arguments[-1]
        result = np.full_like(y, 77 if y.dtype.kind == "i" else np.nan)
        kernels(text).call(name, *arguments[:-1], (result, dynamic))
        scale = np.abs(expected.astype(np.float64)).max()
        np.testing.assert_allclose(
            result.astype(np.float64), expected, rtol=0, atol=tolerance * scale
        )


def rms_norm(d):
    rows = f"tensor<?x{d}xf32>"
    return kernel(
        "norm", f"%x: {rows}, %g: tensor<{d}xf32>, %y: {rows}", rows, f"""
  %c0 = arith.constant 0 : index
  %n = arith.constant {float(d)} : f32
  %eps = arith.constant 1.0e-5 : f32
  %t = tensor.dim %x, %c0 : {rows}
  %e = tensor.empty(%t) : tensor<?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {{indexing_maps = [#e, #r], iterator_types = ["parallel", "reduction"]}}
      ins(%x : {rows}) outs(%f : tensor<?xf32>) {{
  ^bb0(%a: f32, %out: f32):
    %b = arith.mulf %a, %a : f32
    %c = arith.addf %b, %out : f32
    linalg.yield %c : f32
  }} -> tensor<?xf32>
  %r = linalg.generic {{indexing_maps = [#e, #r, #c, #e], iterator_types = ["parallel", "parallel"]}}
      ins(%x, %s, %g : {rows}, tensor<?xf32>, tensor<{d}xf32>) outs(%y : {rows}) {{
  ^bb0(%a: f32, %b: f32, %w: f32, %out: f32):
    %m = arith.divf %b, %n : f32
    %p = arith.addf %m, %eps : f32
    %q = math.rsqrt %p : f32
    %v = arith.mulf %a, %q : f32
    %z = arith.mulf %v, %w : f32
    linalg.yield %z : f32
  }} -> {rows}
  return %r : {rows}""")


@pytest.mark.parametrize("tokens", TOKENS)
@pytest.mark.parametrize("d", COLUMNS)
def test_rms_norm(tokens, d):
    rng = np.random.default_rng(d)
    x, g = draw(rng, tokens, d), draw(rng, d)
    expected = x / np.sqrt((x.astype(np.float64) ** 2).mean(1, keepdims=True) + 1e-5) * g
    check(rms_norm(d), "norm", [rows(x), whole(g), rows(np.empty_like(x))], expected)


def softmax(d):
    rows = f"tensor<?x{d}xf32>"
    return kernel(
        "softmax", f"%x: {rows}, %y: {rows}", rows, f"""
  %c0 = arith.constant 0 : index
  %low = arith.constant 0xFF800000 : f32
  %t = tensor.dim %x, %c0 : {rows}
  %e = tensor.empty(%t) : tensor<?xf32>
  %f0 = linalg.fill ins(%low : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %m = linalg.generic {{indexing_maps = [#e, #r], iterator_types = ["parallel", "reduction"]}}
      ins(%x : {rows}) outs(%f0 : tensor<?xf32>) {{
  ^bb0(%a: f32, %out: f32):
    %c = arith.maximumf %a, %out : f32
    linalg.yield %c : f32
  }} -> tensor<?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {{indexing_maps = [#e, #r, #r], iterator_types = ["parallel", "reduction"]}}
      ins(%x, %m : {rows}, tensor<?xf32>) outs(%f : tensor<?xf32>) {{
  ^bb0(%a: f32, %b: f32, %out: f32):
    %d = arith.subf %a, %b : f32
    %p = math.exp %d : f32
    %c = arith.addf %p, %out : f32
    linalg.yield %c : f32
  }} -> tensor<?xf32>
  %r = linalg.generic {{indexing_maps = [#e, #r, #r, #e], iterator_types = ["parallel", "parallel"]}}
      ins(%x, %m, %s : {rows}, tensor<?xf32>, tensor<?xf32>) outs(%y : {rows}) {{
  ^bb0(%a: f32, %b: f32, %c: f32, %out: f32):
    %d = arith.subf %a, %b : f32
    %p = math.exp %d : f32
    %q = arith.divf %p, %c : f32
    linalg.yield %q : f32
  }} -> {rows}
  return %r : {rows}""")


@pytest.mark.parametrize("tokens, d", [(1, 64), (5, 30), (3, 4100)])
def test_softmax(tokens, d):
    rng = np.random.default_rng(d)
    x = 5 * draw(rng, tokens, d)
    p = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    check(
        softmax(d), "softmax", [rows(x), rows(np.empty_like(x))],
        p / p.sum(1, keepdims=True),
    )


def head_norm(heads, d):
    """A number per row and head."""
    shape, sums = f"tensor<?x{heads}x{d}xf16>", f"tensor<?x{heads}xf32>"
    return kernel(
        "norm", f"%t: index, %x: {shape}, %y: {shape}", shape, f"""
  %e = tensor.empty(%t) : {sums}
  %f = linalg.fill ins(%zero : f32) outs(%e : {sums}) -> {sums}
  %s = linalg.generic {{indexing_maps = [#e3, #th], iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%x : {shape}) outs(%f : {sums}) {{
  ^bb0(%h: f16, %out: f32):
    %a = arith.extf %h : f16 to f32
    %b = arith.mulf %a, %a : f32
    %c = arith.addf %b, %out : f32
    linalg.yield %c : f32
  }} -> {sums}
  %r = linalg.generic {{indexing_maps = [#e3, #th, #e3], iterator_types = ["parallel", "parallel", "parallel"]}}
      ins(%x, %s : {shape}, {sums}) outs(%y : {shape}) {{
  ^bb0(%h: f16, %b: f32, %out: f16):
    %a = arith.extf %h : f16 to f32
    %q = math.rsqrt %b : f32
    %v = arith.mulf %a, %q : f32
    %z = arith.truncf %v : f32 to f16
    linalg.yield %z : f16
  }} -> {shape}
  return %r : {shape}""")


@pytest.mark.parametrize("heads, d", [(3, 64), (5, 24)])
def test_norm_of_heads(heads, d):
    rng = np.random.default_rng(d)
    x = draw(rng, 9, heads, d).astype(np.float16)
    square = (x.astype(np.float64) ** 2).sum(2, keepdims=True)
    check(
        head_norm(heads, d), "norm", [9, rows(x), rows(np.empty_like(x))],
        x / np.sqrt(square), 1e-3, on_cpu=False,
    )


ROTARY = """
  %a = tensor.extract_slice %x[0, 0, 0] [%t, H, F] [1, 1, S] : tensor<?xHxDxf32> to tensor<?xHxFxf32>
  %b = tensor.extract_slice %x[0, 0, O] [%t, H, F] [1, 1, S] : tensor<?xHxDxf32> to tensor<?xHxFxf32>
  %ct = tensor.extract_slice %cos[%p, 0] [%t, F] [1, 1] : tensor<64xFxf32> to tensor<?xFxf32>
  %st = tensor.extract_slice %sin[%p, 0] [%t, F] [1, 1] : tensor<64xFxf32> to tensor<?xFxf32>
  %e = tensor.empty(%t) : tensor<?xHxFxf32>
  %u = linalg.generic {indexing_maps = [#e3, #e3, #td, #td, #e3], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%a, %b, %ct, %st : tensor<?xHxFxf32>, tensor<?xHxFxf32>, tensor<?xFxf32>, tensor<?xFxf32>)
      outs(%e : tensor<?xHxFxf32>) {
  ^bb0(%i: f32, %j: f32, %c: f32, %s: f32, %out: f32):
    %0 = arith.mulf %i, %c : f32
    %1 = arith.mulf %j, %s : f32
    %2 = arith.subf %0, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<?xHxFxf32>
  %v = linalg.generic {indexing_maps = [#e3, #e3, #td, #td, #e3], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%a, %b, %ct, %st : tensor<?xHxFxf32>, tensor<?xHxFxf32>, tensor<?xFxf32>, tensor<?xFxf32>)
      outs(%e : tensor<?xHxFxf32>) {
  ^bb0(%i: f32, %j: f32, %c: f32, %s: f32, %out: f32):
    %0 = arith.mulf %j, %c : f32
    %1 = arith.mulf %i, %s : f32
    %2 = arith.addf %0, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<?xHxFxf32>
  %w = tensor.insert_slice %u into %x[0, 0, 0] [%t, H, F] [1, 1, S] : tensor<?xHxFxf32> into tensor<?xHxDxf32>
  %z = tensor.insert_slice %v into %w[0, 0, O] [%t, H, F] [1, 1, S] : tensor<?xHxFxf32> into tensor<?xHxDxf32>
  %h = linalg.generic {indexing_maps = [#e3, #e3], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%z : tensor<?xHxDxf32>) outs(OUT : tensor<?xHxDxf16>) {
  ^bb0(%i: f32, %out: f16):
    %0 = arith.truncf %i : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<?xHxDxf16>
"""


def rotary(heads, d, rotated, interleaved, into_cache):
    """Rotates the first `rotated` numbers of heads, into f16 rows or a cache."""
    half = rotated // 2
    body = ROTARY
    if into_cache:
        body += """
  %r = tensor.insert_slice %h into %y[%layer, %p, 0, 0] [1, %t, H, D] [1, 1, 1, 1]
      : tensor<?xHxDxf16> into tensor<3x64xHxDxf16>
  return %r : tensor<3x64xHxDxf16>"""
        result, out = "tensor<3x64xHxDxf16>", "%new"
        body = "%new = tensor.empty(%t) : tensor<?xHxDxf16>\n" + body
    else:
        body += "  return %h : tensor<?xHxDxf16>"
        result, out = "tensor<?xHxDxf16>", "%y"
    text = kernel(
        "rotary",
        "%t: index, %p: index, %layer: index, %x: tensor<?xHxDxf32>, "
        "%cos: tensor<64xFxf32>, %sin: tensor<64xFxf32>, %y: " + result,
        result, body)
    offset, stride = (1, 2) if interleaved else (half, 1)
    for name, value in {"xH": f"x{heads}", "xD": f"x{d}", "xF": f"x{half}",
                        " H": f" {heads}", " F": f" {half}", " D": f" {d}",
                        "S]": f"{stride}]", "O]": f"{offset}]", "OUT": out}.items():
        text = text.replace(name, value)
    return text


@pytest.mark.parametrize("into_cache", [False, True])
@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("heads, d, rotated", [(3, 64, 64), (2, 24, 8), (1, 30, 10)])
@pytest.mark.parametrize("tokens", [1, 5])
def test_rotary(heads, d, rotated, interleaved, into_cache, tokens):
    rng = np.random.default_rng(d)
    position, layer, half = 11, 2, rotated // 2
    x = draw(rng, tokens, heads, d)
    angle = rng.uniform(-3, 3, (64, half))
    cos, sin = np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)
    first = slice(0, rotated, 2) if interleaved else slice(0, half)
    second = slice(1, rotated, 2) if interleaved else slice(half, rotated)
    a, b = x[:, :, first], x[:, :, second]
    c, s = (m[position : position + tokens, None] for m in (cos, sin))
    expected = x.copy()
    expected[:, :, first] = a * c - b * s
    expected[:, :, second] = b * c + a * s
    text = rotary(heads, d, rotated, interleaved, into_cache)
    inputs = [tokens, position, layer, rows(x), whole(cos), whole(sin)]
    if not into_cache:
        y = np.empty(expected.shape, np.float16)
        return check(text, "rotary", inputs + [rows(y)], expected, 1e-3)
    cache = draw(rng, 3, 64, heads, d).astype(np.float16)
    wanted = cache.copy()
    wanted[layer, position : position + tokens] = expected
    gpu.Kernels(text).call("rotary", *inputs, whole(cache))
    # What is not written stays.
    np.testing.assert_allclose(cache.astype(np.float32), wanted, rtol=0, atol=4e-3)
    untouched = np.ones(cache.shape[:2], bool)
    untouched[layer, position : position + tokens] = False
    np.testing.assert_array_equal(cache[untouched], wanted[untouched])


def lookup(name, n, k, length, size):
    """Rows of a table in blocks, by number."""
    shape = f"{k // length}x{size}xi8"
    return kernel(
        "lookup", f"%ids: tensor<?xi32>, %w: tensor<{n}x{shape}>, %y: tensor<?x{k}xf32>",
        f"tensor<?x{k}xf32>", f"""
  %c0 = arith.constant 0 : index
  %t = tensor.dim %ids, %c0 : tensor<?xi32>
  %e = tensor.empty(%t) : tensor<?x{shape}>
  %b = linalg.generic {{indexing_maps = [#r3, #e3], iterator_types = ["parallel", "parallel", "parallel"]}}
      ins(%ids : tensor<?xi32>) outs(%e : tensor<?x{shape}>) {{
  ^bb0(%id: i32, %out: i8):
    %i = arith.index_cast %id : i32 to index
    %j = linalg.index 1 : index
    %l = linalg.index 2 : index
    %v = tensor.extract %w[%i, %j, %l] : tensor<{n}x{shape}>
    linalg.yield %v : i8
  }} -> tensor<?x{shape}>
  %r = gist.dequantize %b format {name} : tensor<?x{shape}>
  return %r : tensor<?x{k}xf32>""")


#: Values and bytes of a block, and where its halves are.
BLOCKS = {name: (*sizes, HALVES.get(name, [0])) for name, sizes in FORMATS.items()}


def random_blocks(rng, name, n, k):
    """Random bytes, but for halves, which could be NaN."""
    length, size, halves = BLOCKS[name]
    blocks = rng.integers(0, 256, (n, k // length, size), dtype=np.uint8)
    for offset in halves:
        scale = rng.standard_normal((n, k // length, 1)).astype(np.float16)
        blocks[:, :, offset : offset + 2] = scale.view(np.uint8)
    return blocks.view(np.int8)


@pytest.mark.parametrize("name", BLOCKS)
def test_lookup_in_blocks(name):
    n, k = 19, 512
    length, size, _ = BLOCKS[name]
    blocks = random_blocks(np.random.default_rng(3), name, n, k)
    ids = np.array([0, n - 1, 4, 4, 17], np.int32)
    y = np.full((len(ids), k), np.nan, np.float32)
    kernels = gpu.Kernels(lookup(name, n, k, length, size))
    # Blocks of an odd number of halves do not begin at words. The card reads
    # words from there; the simulator reports it unless told.
    kernels.hip.configure("alignment", gpu.simulator.REQUIRED)
    try:
        kernels.call("lookup", rows(ids), whole(blocks), rows(y))
    finally:
        kernels.hip.configure("alignment", gpu.simulator.STRICT)
    # Products have 22 bits at most; the sum with a minimum is rounded once.
    np.testing.assert_array_equal(y, dequantize(blocks, name)[ids].astype(np.float32))


def elementwise(d, body, result="f32"):
    rows, out = f"tensor<?x{d}xf32>", f"tensor<?x{d}x{result}>"
    return kernel("f", f"%x: {rows}, %z: {rows}, %y: {out}", out, f"""
  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.5 : f32
  %root = arith.constant 0.70710678 : f32
  %r = linalg.generic {{indexing_maps = [#e, #e, #e], iterator_types = ["parallel", "parallel"]}}
      ins(%x, %z : {rows}, {rows}) outs(%y : {out}) {{
  ^bb0(%a: f32, %b: f32, %out: {result}):
    {body}
    linalg.yield %v : {result}
  }} -> {out}
  return %r : {out}""")


SILU = """%n = arith.negf %a : f32
    %e = math.exp %n : f32
    %p = arith.addf %e, %one : f32
    %s = arith.divf %a, %p : f32
    %v = arith.mulf %s, %b : f32"""

GELU = """%q = arith.mulf %a, %root : f32
    %e = math.erf %q : f32
    %p = arith.addf %e, %one : f32
    %h = arith.mulf %a, %half : f32
    %g = arith.mulf %h, %p : f32
    %v = arith.truncf %g : f32 to f16"""


@pytest.mark.parametrize("tokens", [1, 6])
@pytest.mark.parametrize("d", [16, 31, 1536, 5001])
def test_silu(tokens, d):
    rng = np.random.default_rng(d)
    x, z = draw(rng, tokens, d), draw(rng, tokens, d)
    expected = x.astype(np.float64) / (1 + np.exp(-x.astype(np.float64))) * z
    check(elementwise(d, SILU), "f", [rows(x), rows(z), rows(np.empty_like(x))], expected)


@pytest.mark.parametrize("d", [16, 1000])
def test_gelu_to_f16(d):
    from math import erf

    rng = np.random.default_rng(d)
    x = draw(rng, 3, d)
    expected = np.vectorize(lambda v: 0.5 * v * (1 + erf(v / np.sqrt(2))))(x)
    y = np.empty(x.shape, np.float16)
    check(elementwise(d, GELU, "f16"), "f", [rows(x), rows(x), rows(y)], expected, 1e-3)


def test_mean_of_rows():
    """A reduction along columns, which threads do not share."""
    text = kernel(
        "mean", "%t: index, %x: tensor<?x100xf32>, %y: tensor<100xf32>", "tensor<100xf32>",
        """
  %e = tensor.empty() : tensor<100xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<100xf32>) -> tensor<100xf32>
  %s = linalg.generic {indexing_maps = [#e, #c], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<?x100xf32>) outs(%f : tensor<100xf32>) {
  ^bb0(%a: f32, %out: f32):
    %c = arith.addf %a, %out : f32
    linalg.yield %c : f32
  } -> tensor<100xf32>
  %n = arith.index_cast %t : index to i64
  %m = arith.uitofp %n : i64 to f32
  %r = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>],
                       iterator_types = ["parallel"]}
      ins(%s : tensor<100xf32>) outs(%y : tensor<100xf32>) {
  ^bb0(%a: f32, %out: f32):
    %c = arith.divf %a, %m : f32
    linalg.yield %c : f32
  } -> tensor<100xf32>
  return %r : tensor<100xf32>""")
    x = draw(np.random.default_rng(0), 37, 100)
    check(
        text, "mean", [37, rows(x), whole(np.empty(100, np.float32))],
        x.astype(np.float64).mean(0),
    )


DEVIATION = """
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x4x64xf32>
  %empty = tensor.empty(%t) : tensor<?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
  %m = linalg.generic {indexing_maps = [#e3, #r3], iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%x : tensor<?x4x64xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%a: f32, %out: f32):
    %c = arith.addf %a, %out : f32
    linalg.yield %c : f32
  } -> tensor<?xf32>
  %s = linalg.generic {indexing_maps = [#e3, #r3, #r3], iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%x, %m : tensor<?x4x64xf32>, tensor<?xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%a: f32, %n: f32, %out: f32):
    %d = arith.subf %a, %n : f32
    %b = arith.mulf %d, %d : f32
    %c = arith.addf %b, %out : f32
    linalg.yield %c : f32
  } -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#e3, #r3, #e3], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %s : tensor<?x4x64xf32>, tensor<?xf32>) outs(%y : tensor<?x4x64xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %v = arith.mulf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<?x4x64xf32>
  return %r : tensor<?x4x64xf32>"""


@pytest.mark.parametrize("tokens", [1, 6])
def test_sums_over_two_dimensions(tokens):
    """x times the squared distance of a token's numbers from their sum, twice the
    same columns in loops over heads."""
    heads = "tensor<?x4x64xf32>"
    text = kernel("deviation", f"%x: {heads}, %y: {heads}", heads, DEVIATION)
    x = draw(np.random.default_rng(tokens), tokens, 4, 64)
    exact = x.astype(np.float64)
    distance = exact - exact.sum((1, 2), keepdims=True)
    expected = exact * (distance**2).sum((1, 2), keepdims=True)
    check(text, "deviation", [rows(x), rows(np.empty_like(x))], expected, on_cpu=False)


@pytest.mark.parametrize("tokens", [1, 9])
def test_two_results(tokens):
    """Rows in 8 bits and their scales."""
    rng = np.random.default_rng(tokens)
    x = draw(rng, tokens, 96)
    x[0, 32:64] = 0
    results = []
    for kernels in (gpu.Kernels, cpu.Kernels):
        q, s = np.full((tokens, 96), 77, np.int8), np.full((tokens, 3), np.nan, np.float32)
        kernels(cpu.quantize_rows(96)).call("quantize", rows(x), rows(q), rows(s))
        results.append((q, s))
    blocks = np.abs(x.reshape(tokens, 3, 32)).max(2)
    np.testing.assert_array_equal(results[0][1], (blocks / np.float32(127)))
    np.testing.assert_array_equal(results[0][1], results[1][1])
    assert np.abs(results[0][0].astype(int) - results[1][0]).max() <= 1
    assert (results[0][0] != results[1][0]).mean() < 0.01


def test_product_without_a_generator():
    """y = x W, which is not y = x W^T: element by element."""
    text = kernel(
        "product", "%x: tensor<?x40xf32>, %w: tensor<40x12xf32>, %y: tensor<?x12xf32>",
        "tensor<?x12xf32>", """
  %f = linalg.fill ins(%zero : f32) outs(%y : tensor<?x12xf32>) -> tensor<?x12xf32>
  %r = linalg.matmul ins(%x, %w : tensor<?x40xf32>, tensor<40x12xf32>)
      outs(%f : tensor<?x12xf32>) -> tensor<?x12xf32>
  return %r : tensor<?x12xf32>""", kind="matmul")
    rng = np.random.default_rng(2)
    x, w = draw(rng, 5, 40), draw(rng, 40, 12)
    check(
        text, "product", [rows(x), whole(w), rows(np.empty((5, 12), np.float32))],
        x.astype(np.float64) @ w, on_cpu=False,
    )
