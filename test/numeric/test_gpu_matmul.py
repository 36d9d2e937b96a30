# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products on gfx942, run on the simulator, against NumPy in double precision.
The shapes are not multiples of tiles, the rows of the operands lie side by side
in memory, and the simulator reports whatever is read outside of them."""

import numpy as np
import pytest

import scratch
from gpu_kernels import Kernels, rows, simulator, whole
from reference.quantization import FORMATS, HALVES, dequantize

DTYPES = {"f32": np.float32, "f16": np.float16}
#: format -> (bytes, values, where its f16 numbers are) of a block
BLOCKS = {name: (size, values, HALVES.get(name, [0]))
          for name, (values, size) in FORMATS.items()}


def tile(shape, depth, waves, stages=2, instruction="mfma_32x32x8", element="f16"):
    return (
        f"#gist.gpu_product<rows = {shape[0]}, columns = {shape[1]}, depth = {depth}, waves = {list(waves)}, "
        f"stages = {stages}, instruction = {instruction}, element = {element}>"
    )


def product(n, k, x="f32", w="f32", m="?", blocks=None, tile=None, y="f32", bias=False):
    """The kernel y = x W^T; `bias` adds a row, takes the exponential of the sum and adds
    a residual."""
    weight = f"tensor<{n}x{k}x{w}>"
    stored, numbers = weight, "%w"
    if blocks:
        name, count, size = blocks
        stored, numbers = f"tensor<{n}x{count}x{size}xi8>", "%n"
        w, weight = "f32", f"tensor<{n}x{k}xf32>"
    result = f"tensor<{m}x{n}xf32>"
    out = f"tensor<{m}x{n}x{y}>"
    lines, value = [], "%p"
    if blocks:
        lines.append(f"%n = gist.dequantize %w format {name} : {stored}")
    start = "%y"
    if y != "f32":
        lines.append("%c0 = arith.constant 0 : index")
        lines.append(f"%d = tensor.dim %y, %c0 : {out}" if m == "?" else "")
        lines.append(f"%start = tensor.empty({'%d' if m == '?' else ''}) : {result}")
        start = "%start"
    lines += [
        "%zero = arith.constant 0.0 : f32",
        f"%z = linalg.fill ins(%zero : f32) outs({start} : {result}) -> {result}",
        "%p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>,"
        " affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]"
        f" ins(%x, {numbers} : tensor<{m}x{k}x{x}>, {weight}) outs(%z : {result}) -> {result}",
    ]
    arguments = f"%x: tensor<{m}x{k}x{x}>, %w: {stored}"
    identity = "affine_map<(m, n) -> (m, n)>"
    if bias:
        arguments += f", %b: tensor<{n}xf32>, %r: {result}"
        lines.append(
            f"%q = linalg.generic {{indexing_maps = [{identity}, affine_map<(m, n) -> (n)>,"
            f' {identity}, {identity}], iterator_types = ["parallel", "parallel"]}}'
            f" ins(%p, %b, %r : {result}, tensor<{n}xf32>, {result}) outs(%y : {out}) {{"
            "^bb0(%a0: f32, %a1: f32, %a2: f32, %a3: f32):"
            " %s = arith.addf %a0, %a1 : f32 %t = math.tanh %s : f32"
            f" %u = arith.addf %t, %a2 : f32 linalg.yield %u : f32 }} -> {out}"
        )
        value = "%q"
    if y != "f32":
        lines.append(
            f"%q = linalg.generic {{indexing_maps = [{identity}, {identity}],"
            f' iterator_types = ["parallel", "parallel"]}} ins(%p : {result}) outs(%y : {out}) {{'
            f"^bb0(%a0: f32, %a1: {y}): %s = arith.truncf %a0 : f32 to {y}"
            f" linalg.yield %s : {y} }} -> {out}"
        )
        value = "%q"
    attributes = "gist.kernel = #gist.kernel<kind = matmul, outputs = 1>"
    if tile:
        attributes += f", gist.tile = {tile}"
    body = "\n  ".join(line for line in lines if line)
    return f"""
func.func private @product({arguments}, %y: {out}) -> {out} attributes {{{attributes}}} {{
  {body}
  return {value} : {out}
}}
"""


def draw(rng, m, k):
    """Rows of different sizes, so that rows exchanged do not go unseen."""
    return (rng.standard_normal((m, k)) * rng.uniform(0.5, 2, (m, 1))).astype(np.float32)


def random_blocks(rng, name, n, k):
    """Bytes of a random weight; its scales are small and of either sign."""
    size, values, halves = BLOCKS[name]
    blocks = rng.integers(0, 256, (n, k // values, size), dtype=np.uint8)
    for at in halves:
        scale = rng.uniform(-0.01, 0.01, (n, k // values, 1)).astype(np.float16)
        blocks[:, :, at : at + 2] = scale.view(np.uint8)
    return blocks.view(np.int8)


def to_bits(x):
    """f32 as the bits of bf16, rounded to nearest even."""
    bits = x.view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def from_bits(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


def convert(x, element):
    """What is stored, and the numbers it stands for."""
    if element == "bf16":
        return to_bits(x), from_bits(to_bits(x)).astype(np.float64)
    stored = x.astype(DTYPES[element])
    return stored, stored.astype(np.float64)


def check(y, expected, tolerance=2e-3):
    """No row is off by more than a part of its norm."""
    assert not np.isnan(y).any()
    error = np.linalg.norm(y - expected, axis=1) / np.linalg.norm(expected, axis=1)
    assert np.max(error) <= tolerance


@pytest.fixture
def unaligned():
    """Rows and blocks that begin at odd multiples of two bytes are read in words
    all the same: gfx942 can."""
    simulated = Kernels.open()
    simulated.configure("alignment", simulator.REQUIRED)
    yield
    simulated.configure("alignment", simulator.STRICT)


def run(kernels, x, w, *rest, m_is_static=False, dtype=np.float32):
    y = np.full((x.shape[0], w.shape[0]), np.nan, dtype)
    arguments = [rows(x), whole(w), *rest, rows(y)]
    if m_is_static:
        arguments = [whole(x), whole(w), *rest, whole(y)]
    kernels.call("product", *arguments)
    return y.astype(np.float64)


TILES = {
    "32x32x8": tile([64, 64], 32, [2, 2]),
    "16x16x16": tile([32, 64], 64, [1, 2], instruction="mfma_16x16x16"),
    "wide": tile([128, 128], 32, [2, 2]),
}


@pytest.mark.parametrize("blocks", [None, "q8_0"])
@pytest.mark.parametrize("m", [3, 70])
def test_parts(m, blocks, unaligned):
    """512 along k are two parts of four steps each. The last workgroup of a tile adds
    them up and goes on with what follows the product."""
    n, k = 70, 512
    rng = np.random.default_rng(m)
    x, r = draw(rng, m, k), rng.standard_normal((m, n)).astype(np.float32)
    bias = rng.standard_normal(n).astype(np.float32)
    if blocks:
        size, values, _ = BLOCKS[blocks]
        w = random_blocks(rng, blocks, n, k)
        text = product(n, k, blocks=(blocks, k // values, size), bias=True)
        exact = dequantize(w, blocks).astype(np.float64)
    else:
        w, exact = convert(draw(rng, n, k) / 16, "f16")
        text = product(n, k, w="f16", bias=True)
    y = np.full((m, n), np.nan, np.float32)
    arguments = [rows(x), whole(w), whole(bias), rows(r), rows(y)]
    memory = scratch.make(text, "gfx942", *arguments)
    # Two workgroups on each of 304 compute units, with a tile of 64 x 64 each.
    assert [array.shape for array, _ in memory] == [(608, 4096), (608,)]
    Kernels(text).call("product", *arguments, *memory)
    check(y, np.tanh(x.astype(np.float64) @ exact.T + bias) + r)
    assert not memory[1][0].any()  # for the next call
    tiles = -(-m // 64) * 2
    assert np.isfinite(memory[0][0][:2 * tiles]).any(1).all()  # all parts were handed in
    assert np.isnan(memory[0][0][2 * tiles:]).all()


@pytest.mark.parametrize("name", TILES)
def test_tiles(name):
    rng = np.random.default_rng(1)
    n, k = 72, 96
    kernels = Kernels(product(n, k, "f16", "f16", tile=TILES[name]))
    w, exact_w = convert(draw(rng, n, k), "f16")
    for m in (1, 31, 65):
        x, exact_x = convert(draw(rng, m, k), "f16")
        check(run(kernels, x, w), exact_x @ exact_w.T)


@pytest.mark.parametrize("n, k", [(64, 64), (33, 40), (100, 12), (7, 37)])
def test_shapes(n, k, unaligned):
    """Neither columns nor depth are multiples of anything."""
    rng = np.random.default_rng(n)
    kernels = Kernels(product(n, k, "f32", "f16", tile=TILES["32x32x8"]))
    w, exact_w = convert(draw(rng, n, k), "f16")
    for m in (2, 70):
        x = draw(rng, m, k)
        check(run(kernels, x, w), x.astype(np.float64) @ exact_w.T)


@pytest.mark.parametrize("x, w", [("f32", "f32"), ("bf16", "bf16"), ("f32", "bf16")])
def test_types(x, w):
    rng = np.random.default_rng(2)
    m, n, k = 40, 64, 64
    element = "bf16" if w == "bf16" else "f16"
    kernels = Kernels(
        product(n, k, x, w, tile=tile([64, 64], 32, [2, 2], element=element))
    )
    x, exact_x = convert(draw(rng, m, k), x)
    w, exact_w = convert(draw(rng, n, k), w)
    check(run(kernels, x, w), exact_x @ exact_w.T, 1e-2 if element == "bf16" else 2e-3)


@pytest.mark.parametrize("name", list(BLOCKS))
@pytest.mark.parametrize("m", [3, 35])
def test_blocks(name, m, unaligned):
    """Few rows and many take different kernels."""
    rng = np.random.default_rng(3)
    n, k = 40, 256 if name.endswith("k") else 96
    blocks = random_blocks(rng, name, n, k)
    kernels = Kernels(product(n, k, blocks=(name, *blocks.shape[1:]), m=m))
    x = draw(rng, m, k)
    y = run(kernels, x, blocks, m_is_static=True)
    check(y, x.astype(np.float64) @ dequantize(blocks, name).astype(np.float64).T)


@pytest.mark.parametrize("name", list(BLOCKS))
def test_blocks_beside_halves(name, unaligned):
    """Rows in 16 bits: scales are carried as they were loaded."""
    rng = np.random.default_rng(4)
    m, n, k = 35, 40, 256 if name.endswith("k") else 160
    blocks = random_blocks(rng, name, n, k)
    text = product(n, k, "f16", blocks=(name, *blocks.shape[1:]), m=m, tile=tile([64, 64], 32, [2, 2]))
    x, exact = convert(draw(rng, m, k), "f16")
    y = run(Kernels(text), x, blocks, m_is_static=True)
    check(y, exact @ dequantize(blocks, name).astype(np.float64).T)


@pytest.mark.parametrize("m", [1, 37])
def test_epilogue(m):
    rng = np.random.default_rng(4)
    n, k = 72, 64
    kernels = Kernels(product(n, k, "f32", "f16", m=m, bias=True))
    x, r = draw(rng, m, k), draw(rng, m, n)
    w, exact_w = convert(draw(rng, n, k) / 8, "f16")
    b = draw(rng, 1, n)[0]
    y = run(kernels, x, w, whole(b), whole(r), m_is_static=True)
    check(y, np.tanh(x.astype(np.float64) @ exact_w.T + b) + r)


@pytest.mark.parametrize("m", [1, 37])
def test_f16_result(m):
    rng = np.random.default_rng(5)
    n, k = 72, 64
    kernels = Kernels(product(n, k, "f16", "f16", m=m, y="f16"))
    x, exact_x = convert(draw(rng, m, k), "f16")
    w, exact_w = convert(draw(rng, n, k), "f16")
    y = run(kernels, x, w, m_is_static=True, dtype=np.float16)
    check(y, exact_x @ exact_w.T)


@pytest.mark.parametrize("m", [1, 2, 8])
@pytest.mark.parametrize("n, k", [(64, 576), (30, 100), (5, 2048), (96, 8)])
def test_few_rows(m, n, k):
    rng = np.random.default_rng(n)
    kernels = Kernels(product(n, k, "f32", "f16", m=m))
    x = draw(rng, m, k)
    w, exact_w = convert(draw(rng, n, k), "f16")
    y = run(kernels, x, w, m_is_static=True)
    check(y, x.astype(np.float64) @ exact_w.T)


def test_rows_and_columns_do_not_mix():
    """Not a number in a row, or an infinity in one of the weight, stays there,
    also where what lies behind the end of a row is loaded along with it."""
    rng = np.random.default_rng(6)
    m, n, k = 5, 40, 40
    kernels = Kernels(product(n, k, "f16", "f16", tile=TILES["32x32x8"]))
    x, w = draw(rng, m, k).astype(np.float16), draw(rng, n, k).astype(np.float16)
    x[3], w[7] = np.nan, np.inf
    y = run(kernels, x, w)
    bad = np.zeros((m, n), bool)
    bad[3], bad[:, 7] = True, True
    good_x, good_w = np.where(np.isnan(x), 0, x), np.where(np.isinf(w), 0, w)
    expected = good_x.astype(np.float64) @ good_w.astype(np.float64).T
    assert np.all(np.isfinite(y) == ~bad)
    norm = np.linalg.norm(expected, axis=1).max() / np.sqrt(n)
    assert np.max(np.abs(y - expected)[~bad]) <= 2e-3 * norm


def gate(n, k, x="f16", w="f16", m="?", blocks=None, tile=None, y="f32"):
    """The kernel y = g * tanh(u), of which g and u are the halves of x W^T."""
    weight = f"tensor<{2 * n}x{k}x{w}>"
    stored, numbers, lines = weight, "%w", []
    if blocks:
        name, count, size = blocks
        stored, numbers, weight = f"tensor<{2 * n}x{count}x{size}xi8>", "%n", f"tensor<{2 * n}x{k}xf32>"
        lines.append(f"%n = gist.dequantize %w format {name} : {stored}")
    both, half, out = f"tensor<{m}x{2 * n}xf32>", f"tensor<{m}x{n}xf32>", f"tensor<{m}x{n}x{y}>"
    rows = "%d" if m == "?" else m
    identity = "affine_map<(m, n) -> (m, n)>"
    if m == "?":
        lines += ["%c0 = arith.constant 0 : index", f"%d = tensor.dim %y, %c0 : {out}"]
    round_to = f"%v = arith.truncf %t : f32 to {y}" if y != "f32" else "%v = arith.addf %t, %zero : f32"
    lines += [
        "%zero = arith.constant 0.0 : f32",
        f"%e = tensor.empty({'%d' if m == '?' else ''}) : {both}",
        f"%eh = tensor.empty({'%d' if m == '?' else ''}) : {half}",
        f"%z = linalg.fill ins(%zero : f32) outs(%e : {both}) -> {both}",
        "%p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>,"
        " affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]"
        f" ins(%x, {numbers} : tensor<{m}x{k}x{x}>, {weight}) outs(%z : {both}) -> {both}",
        f"%g = tensor.extract_slice %p[0, 0] [{rows}, {n}] [1, 1] : {both} to {half}",
        f"%u = tensor.extract_slice %p[0, {n}] [{rows}, {n}] [1, 1] : {both} to {half}",
        f"%a = linalg.generic {{indexing_maps = [{identity}, {identity}],"
        f' iterator_types = ["parallel", "parallel"]}} ins(%u : {half}) outs(%eh : {half}) {{'
        "^bb0(%a0: f32, %a1: f32): %t = math.tanh %a0 : f32 linalg.yield %t : f32 }"
        f" -> {half}",
        f"%q = linalg.generic {{indexing_maps = [{identity}, {identity}, {identity}],"
        f' iterator_types = ["parallel", "parallel"]}} ins(%g, %a : {half}, {half})'
        f" outs(%y : {out}) {{^bb0(%a0: f32, %a1: f32, %a2: {y}):"
        f" %t = arith.mulf %a0, %a1 : f32 {round_to} linalg.yield %v : {y} }} -> {out}",
    ]
    attributes = "gist.kernel = #gist.kernel<kind = matmul, outputs = 1>"
    if tile:
        attributes += f", gist.tile = {tile}"
    body = "\n  ".join(lines)
    return f"""
func.func private @gate(%x: tensor<{m}x{k}x{x}>, %w: {stored}, %y: {out}) -> {out} attributes {{{attributes}}} {{
  {body}
  return %q : {out}
}}
"""


def gated(x, w):
    g, u = np.split(x @ w.T, 2, axis=1)
    return g * np.tanh(u)


@pytest.mark.parametrize("name", [*TILES, None])
def test_gate(name):
    """Both halves of the columns meet in a lane, whatever the tile."""
    rng = np.random.default_rng(11)
    n, k = 72, 96
    kernels = Kernels(gate(n, k, tile=TILES.get(name), y="f16"))
    w, exact_w = convert(draw(rng, 2 * n, k) / 8, "f16")
    for m in (1, 31, 65):
        x, exact_x = convert(draw(rng, m, k), "f16")
        y = np.full((m, n), np.nan, np.float16)
        kernels.call("gate", rows(x), whole(w), rows(y))
        check(y.astype(np.float64), gated(exact_x, exact_w))


@pytest.mark.parametrize("m, n, k", [(1, 96, 64), (3, 20, 40), (1, 7, 512)])
def test_gate_of_few_rows(m, n, k):
    rng = np.random.default_rng(12)
    kernels = Kernels(gate(n, k, "f32", "f16", m=m))
    w, exact_w = convert(draw(rng, 2 * n, k) / 8, "f16")
    x, y = draw(rng, m, k), np.full((m, n), np.nan, np.float32)
    kernels.call("gate", whole(x), whole(w), whole(y))
    check(y.astype(np.float64), gated(x.astype(np.float64), exact_w))


@pytest.mark.parametrize("m", [1, 35])
def test_gate_of_blocks(m, unaligned):
    rng = np.random.default_rng(13)
    n, k, size = 40, 96, BLOCKS["q4_1"][0]
    blocks = random_blocks(rng, "q4_1", 2 * n, k)
    kernels = Kernels(gate(n, k, "f32", m=m, blocks=("q4_1", k // 32, size)))
    x, y = draw(rng, m, k), np.full((m, n), np.nan, np.float32)
    kernels.call("gate", whole(x), whole(blocks), whole(y))
    exact = dequantize(blocks, "q4_1").astype(np.float64)
    check(y.astype(np.float64), gated(x.astype(np.float64), exact))


def norm_product(m, n, k):
    """The kernel y = layernorm(x) W^T + r: two reductions, one of which needs the other."""
    x, row, y = f"tensor<{m}x{k}xf32>", f"tensor<{m}xf32>", f"tensor<{m}x{n}xf32>"
    both, first = "affine_map<(m, k) -> (m, k)>", "affine_map<(m, k) -> (m)>"
    size = f"%c0 = arith.constant 0 : index\n  %rows = tensor.dim %x, %c0 : {x}" if m == "?" else ""
    d = "%rows" if m == "?" else ""
    return f"""
func.func private @norm(%x: {x}, %gain: tensor<{k}xf32>, %w: tensor<{n}x{k}xf16>, %r: {y}, %y: {y}) -> {y}
    attributes {{gist.kernel = #gist.kernel<kind = matmul, outputs = 1>}} {{
  {size}
  %zero = arith.constant 0.0 : f32
  %count = arith.constant {float(k)} : f32
  %er = tensor.empty({d}) : {row}
  %zr = linalg.fill ins(%zero : f32) outs(%er : {row}) -> {row}
  %mean = linalg.generic {{indexing_maps = [{both}, {first}], iterator_types = ["parallel", "reduction"]}}
      ins(%x : {x}) outs(%zr : {row}) {{
  ^bb0(%a: f32, %s: f32):
    %0 = arith.divf %a, %count : f32
    %1 = arith.addf %0, %s : f32
    linalg.yield %1 : f32
  }} -> {row}
  %var = linalg.generic {{indexing_maps = [{both}, {first}, {first}], iterator_types = ["parallel", "reduction"]}}
      ins(%x, %mean : {x}, {row}) outs(%zr : {row}) {{
  ^bb0(%a: f32, %b: f32, %s: f32):
    %0 = arith.subf %a, %b : f32
    %1 = arith.mulf %0, %0 : f32
    %2 = arith.addf %1, %s : f32
    linalg.yield %2 : f32
  }} -> {row}
  %ex = tensor.empty({d}) : {x}
  %h = linalg.generic {{indexing_maps = [{both}, {first}, {first}, affine_map<(m, k) -> (k)>, {both}],
      iterator_types = ["parallel", "parallel"]}}
      ins(%x, %mean, %var, %gain : {x}, {row}, {row}, tensor<{k}xf32>) outs(%ex : {x}) {{
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %o: f32):
    %0 = arith.subf %a, %b : f32
    %1 = arith.divf %c, %count : f32
    %2 = math.rsqrt %1 : f32
    %3 = arith.mulf %0, %2 : f32
    %4 = arith.mulf %3, %d : f32
    linalg.yield %4 : f32
  }} -> {x}
  %ey = tensor.empty({d}) : {y}
  %zy = linalg.fill ins(%zero : f32) outs(%ey : {y}) -> {y}
  %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
      affine_map<(m, n, k) -> (m, n)>] ins(%h, %w : {x}, tensor<{n}x{k}xf16>) outs(%zy : {y}) -> {y}
  %q = linalg.generic {{indexing_maps = [{both}, {both}, {both}], iterator_types = ["parallel", "parallel"]}}
      ins(%p, %r : {y}, {y}) outs(%y : {y}) {{
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  }} -> {y}
  return %q : {y}
}}
"""


@pytest.mark.parametrize("m, n, k", [(1, 96, 64), (3, 20, 72), (1, 33, 1000)])
def test_norm_before_few_rows(m, n, k):
    """Every workgroup reduces the rows for itself."""
    rng = np.random.default_rng(14)
    kernels = Kernels(norm_product(m, n, k))
    w, exact_w = convert(draw(rng, n, k), "f16")
    x, r, gain = draw(rng, m, k) + 3, draw(rng, m, n), draw(rng, 1, k)[0]
    y = np.full((m, n), np.nan, np.float32)
    kernels.call("norm", whole(x), whole(gain), whole(w), whole(r), whole(y))
    exact = x.astype(np.float64)
    normed = (exact - exact.mean(1, keepdims=True)) / exact.std(1, keepdims=True) * gain
    check(y.astype(np.float64), normed @ exact_w.T + r, 1e-5)


def at_most_16(text):
    """Says that the kernel's rows, whose number is not known, are few."""
    return text.replace("outputs = 1>", "outputs = 1>, gist.max_tokens = 16 : i64")


@pytest.mark.parametrize("n, k", [(64, 576), (30, 104), (5, 2048), (33, 36)])
@pytest.mark.parametrize("element", ["f16", "bf16"])
def test_up_to_16_rows(n, k, element, unaligned):
    """No tiles of rows: a wave loads its fragments as they lie in memory. 2048 along k are
    a loop, and the others one step."""
    rng = np.random.default_rng(n)
    kernels = Kernels(at_most_16(product(n, k, element, element)))
    w, exact_w = convert(draw(rng, n, k), element)
    for m in (1, 7, 16):
        x, exact_x = convert(draw(rng, m, k), element)
        check(run(kernels, x, w), exact_x @ exact_w.T, 1e-2 if element == "bf16" else 2e-3)


@pytest.mark.parametrize("name", ["q4_1", "q6_k"])
def test_up_to_16_rows_of_blocks(name, unaligned):
    rng = np.random.default_rng(15)
    n, k = 40, 512
    blocks = random_blocks(rng, name, n, k)
    kernels = Kernels(at_most_16(product(n, k, "f16", blocks=(name, *blocks.shape[1:]))))
    x, exact = convert(draw(rng, 13, k), "f16")
    check(run(kernels, x, blocks), exact @ dequantize(blocks, name).astype(np.float64).T)


def test_gate_of_up_to_16_rows():
    rng = np.random.default_rng(16)
    n, k = 72, 192
    kernels = Kernels(at_most_16(gate(n, k, y="f16")))
    w, exact_w = convert(draw(rng, 2 * n, k) / 8, "f16")
    for m in (2, 16):
        x, exact_x = convert(draw(rng, m, k), "f16")
        y = np.full((m, n), np.nan, np.float16)
        kernels.call("gate", rows(x), whole(w), rows(y))
        check(y.astype(np.float64), gated(exact_x, exact_w))


@pytest.mark.parametrize("n, k", [(96, 64), (20, 576)])
def test_norm_before_up_to_16_rows(n, k):
    """Waves share the rows of which a workgroup needs sums. With 64 along k there is one wave."""
    rng = np.random.default_rng(17)
    kernels = Kernels(at_most_16(norm_product("?", n, k)))
    w, exact_w = convert(draw(rng, n, k), "f16")
    gain = draw(rng, 1, k)[0]
    for m in (3, 16):
        x, r = draw(rng, m, k) + 3, draw(rng, m, n)
        y = np.full((m, n), np.nan, np.float32)
        kernels.call("norm", rows(x), whole(gain), whole(w), rows(r), rows(y))
        exact = x.astype(np.float64)
        normed = (exact - exact.mean(1, keepdims=True)) / exact.std(1, keepdims=True) * gain
        check(y.astype(np.float64), normed @ exact_w.T + r)


def added_rows(x, m, k, parts):
    """The op %x = %first plus rows of %rest, one after the other."""
    both = "affine_map<(m, k) -> (m, k)>"
    maps = ", ".join([both] + [f"affine_map<(m, k) -> (m, {i}, k)>" for i in range(parts)] + [both])
    types = ", ".join([x] + [f"tensor<{m}x{parts}x{k}xf32>"] * parts)
    sums = "\n".join(f"    %s{i + 1} = arith.addf %s{i}, %a{i} : f32" for i in range(parts))
    return f"""
  %e = tensor.empty() : {x}
  %x = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel"]}}
      ins(%first{", %rest" * parts} : {types}) outs(%e : {x}) {{
  ^bb0(%s0: f32, {", ".join(f"%a{i}: f32" for i in range(parts))}, %o: f32):
{sums}
    linalg.yield %s{parts} : f32
  }} -> {x}"""


def rms_product(m, n, k, parts=0):
    """The kernel y = (x rsqrt(mean(x^2)) gain) W^T. With `parts` the rows of x are sums."""
    x, row, y = f"tensor<{m}x{k}xf32>", f"tensor<{m}xf32>", f"tensor<{m}x{n}xf32>"
    both, first = "affine_map<(m, k) -> (m, k)>", "affine_map<(m, k) -> (m)>"
    given = f"%first: {x}, %rest: tensor<{m}x{parts}x{k}xf32>" if parts else f"%x: {x}"
    return f"""
func.func private @rms({given}, %gain: tensor<{k}xf32>, %w: tensor<{n}x{k}xf16>, %y: {y}) -> {y}
    attributes {{gist.kernel = #gist.kernel<kind = matmul, outputs = 1>}} {{{added_rows(x, m, k, parts) if parts else ""}
  %zero = arith.constant 0.0 : f32
  %count = arith.constant {float(k)} : f32
  %er = tensor.empty() : {row}
  %zr = linalg.fill ins(%zero : f32) outs(%er : {row}) -> {row}
  %s = linalg.generic {{indexing_maps = [{both}, {first}], iterator_types = ["parallel", "reduction"]}}
      ins(%x : {x}) outs(%zr : {row}) {{
  ^bb0(%a: f32, %o: f32):
    %0 = arith.mulf %a, %a : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  }} -> {row}
  %ex = tensor.empty() : {x}
  %h = linalg.generic {{indexing_maps = [{both}, {first}, affine_map<(m, k) -> (k)>, {both}],
      iterator_types = ["parallel", "parallel"]}}
      ins(%x, %s, %gain : {x}, {row}, tensor<{k}xf32>) outs(%ex : {x}) {{
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %0 = arith.divf %b, %count : f32
    %1 = math.rsqrt %0 : f32
    %2 = arith.mulf %a, %1 : f32
    %3 = arith.mulf %2, %c : f32
    linalg.yield %3 : f32
  }} -> {x}
  %z = linalg.fill ins(%zero : f32) outs(%y : {y}) -> {y}
  %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
      affine_map<(m, n, k) -> (m, n)>] ins(%h, %w : {x}, tensor<{n}x{k}xf16>) outs(%z : {y}) -> {y}
  return %p : {y}
}}
"""


@pytest.mark.parametrize("m, n, k", [(1, 96, 64), (3, 20, 72), (2, 33, 1000)])
def test_row_factor(m, n, k):
    """What a norm multiplies each row with is multiplied with the row's sums."""
    rng = np.random.default_rng(18)
    kernels = Kernels(rms_product(m, n, k))
    w, exact_w = convert(draw(rng, n, k), "f16")
    x, gain = draw(rng, m, k) * np.arange(1, m + 1, dtype=np.float32)[:, None] * 9, draw(rng, 1, k)[0]
    y = np.full((m, n), np.nan, np.float32)
    kernels.call("rms", whole(x), whole(gain), whole(w), whole(y))
    exact = x.astype(np.float64)
    normed = exact / np.sqrt((exact**2).mean(1, keepdims=True)) * gain
    check(y.astype(np.float64), normed @ exact_w.T, 1e-5)


@pytest.mark.parametrize("n, k, parts", [(96, 64, 3), (20, 72, 2), (33, 1000, 4), (16, 30, 3)])
def test_norm_of_added_rows(n, k, parts):
    """A workgroup adds up the rows that attention has left, once for all of its waves."""
    rng = np.random.default_rng(19)
    kernels = Kernels(rms_product(1, n, k, parts))
    w, exact_w = convert(draw(rng, n, k), "f16")
    first, gain = draw(rng, 1, k), draw(rng, 1, k)[0]
    rest = rng.standard_normal((1, parts, k)).astype(np.float32)
    y = np.full((1, n), np.nan, np.float32)
    kernels.call("rms", whole(first), whole(rest), whole(gain), whole(w), whole(y))
    exact = first.astype(np.float64) + rest.sum(1, dtype=np.float64)
    normed = exact / np.sqrt((exact**2).mean(1, keepdims=True)) * gain
    check(y.astype(np.float64), normed @ exact_w.T, 1e-5)
