# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products with experts: definitions and kernels against NumPy."""

import functools
import platform

import numpy as np
import pytest

import cpu_kernels as cpu
import gpu_kernels as gpu
import harness
from cpu_kernels import rows, whole
from reference.experts import expert_matmul
from reference.quantization import FORMATS, dequantize, quantize_activation, quantized_matmul

EXPERTS, SLOTS = 5, 3
#: Which experts tokens name: any, one for all, each of a token's the same, and one that
#: no token names.
CHOICES = {
    "any": lambda rng, t: np.stack([rng.permutation(EXPERTS)[:SLOTS] for _ in range(t)]),
    "all to one": lambda rng, t: np.full((t, SLOTS), EXPERTS - 1),
    "equal": lambda rng, t: np.repeat(rng.integers(0, EXPERTS, (t, 1)), SLOTS, axis=1),
    "none to the first": lambda rng, t: rng.integers(1, EXPERTS, (t, SLOTS)),
}
#: One, fewer than a tile has, and several tiles.
TOKENS = [1, 2, 29]


def choose(rng, name, tokens):
    return CHOICES[name](rng, tokens).astype(np.int32)


def float_text(n, k, own, weight, tokens="?"):
    x, w = f"tensor<{tokens}x{k * own}xf32>", f"tensor<{EXPERTS * n}x{k}x{weight}>"
    e, y = f"tensor<{tokens}x{SLOTS}xi32>", f"tensor<{tokens}x{SLOTS * n}xf32>"
    return (f"%x: {x}, %w: {w}, %e: {e}", y,
            f"%y = gist.expert_matmul %x, %w by %e : {x}, {w}, {e} -> {y}")


def block_text(name, n, k, own, shape, packed="", tokens="?"):
    q, s = f"tensor<{tokens}x{k * own}xi8>", f"tensor<{tokens}x{k * own // 32}xf32>"
    w = f"tensor<{'x'.join(map(str, shape))}xi8>"
    e, y = f"tensor<{tokens}x{SLOTS}xi32>", f"tensor<{tokens}x{SLOTS * n}xf32>"
    return (f"%q: {q}, %s: {s}, %w: {w}, %e: {e}", y,
            f"%y = gist.quantized_expert_matmul %q, %s, %w format {name} {packed} by %e"
            f" : {q}, {s}, {w}, {e} -> {y}")


def as_function(name, text):
    arguments, result, body = text
    return f"""
func.func @{name}({arguments}) -> {result} attributes {{llvm.emit_c_interface}} {{
  {body}
  return %y : {result}
}}
"""


def as_kernel(name, text):
    arguments, result, body = text
    kind = "quantized_expert_matmul" if "quantized" in body else "expert_matmul"
    return f"""
func.func private @{name}({arguments}, %out: {result}) -> {result}
    attributes {{gist.kernel = #gist.kernel<kind = {kind}, outputs = 1>}} {{
  {body}
  return %y : {result}
}}
"""


@pytest.mark.parametrize("own", [1, SLOTS])
@pytest.mark.parametrize("choice", CHOICES)
def test_definition(choice, own):
    n, k = 6, 7
    library = harness.build(as_function("experts", float_text(n, k, own, "f32")))
    rng = np.random.default_rng(own)
    for tokens in TOKENS:
        w = rng.standard_normal((EXPERTS * n, k)).astype(np.float32)
        e = choose(rng, choice, tokens)
        w[[i for i in range(EXPERTS * n) if i // n not in e]] = np.nan
        x = rng.standard_normal((tokens, k * own)).astype(np.float32)
        (y,) = library.experts(x, w, e)
        np.testing.assert_allclose(y, expert_matmul(x, w, e, n), atol=1e-5)


@pytest.mark.parametrize("name", ["q4_1", "q8_0", "q5_0"])
def test_quantized_definition(name):
    n, (values, size) = 4, FORMATS[name]
    k = 2 * values
    library = harness.build(as_function("experts", block_text(
        name, n, k, 1, (EXPERTS * n, k // values, size))))
    rng = np.random.default_rng(3)
    blocks = cpu.random_blocks(rng, name, EXPERTS * n, k)
    e = choose(rng, "any", 4)
    q, s = quantize_activation(rng.standard_normal((4, k)))
    (y,) = library.experts(q, s, blocks.view(np.int8), e)
    every = quantized_matmul(q, s, blocks.view(np.int8), name).reshape(4, EXPERTS, n)
    expected = np.take_along_axis(every, e[..., None], axis=1).reshape(4, -1)
    np.testing.assert_allclose(y, expected, atol=1e-5 * np.abs(expected).max())


def test_numbers_that_name_nothing():
    """No meaning, and nothing outside of the weight is read."""
    n, k = 6, 8
    text = as_function("experts", float_text(n, k, 1, "f32"))
    e = np.array([[-1, EXPERTS, 2], [2**31 - 1, -2**31, 0]], np.int32)
    x, w = np.ones((2, k), np.float32), np.ones((EXPERTS * n, k), np.float32)
    (y,) = harness.build(text).experts(x, w, e)
    np.testing.assert_array_equal(y[0, 2 * n:], k)
    kernels = cpu.Kernels(as_kernel("experts", float_text(n, k, 1, "f32"))
                          + as_kernel("one", float_text(n, k, 1, "f32", 1)))
    y = np.full((2, SLOTS * n), -7, np.float32)
    kernels.call("experts", rows(x), whole(w), rows(e), rows(y))
    np.testing.assert_array_equal(y[0], [-7] * 2 * n + [k] * n)
    y[:] = -7
    kernels.call("one", whole(x[:1]), whole(w), whole(e[:1]), whole(y[:1]))
    np.testing.assert_array_equal(y[0], [-7] * 2 * n + [k] * n)


@pytest.mark.parametrize("weight, n, k", [("f16", 24, 64), ("f32", 30, 7), ("f32", 1, 1)])
@pytest.mark.parametrize("own", [1, SLOTS])
def test_float_kernel(weight, n, k, own):
    kernels = cpu.Kernels(as_kernel("experts", float_text(n, k, own, weight))
                          + as_kernel("one", float_text(n, k, own, weight, 1)))
    rng = np.random.default_rng(n)
    dtype = np.float32 if weight == "f32" else np.float16
    for choice in CHOICES:
        for tokens in TOKENS:
            w = rng.standard_normal((EXPERTS * n, k)).astype(dtype)
            e = choose(rng, choice, tokens)
            # Weights that no token names are NaN: they must not be read.
            w[[i for i in range(EXPERTS * n) if i // n not in e]] = np.nan
            x = rng.standard_normal((tokens, k * own)).astype(np.float32)
            expected = expert_matmul(x, w, e, n)
            y = np.full((tokens, SLOTS * n), np.nan, np.float32)
            kernels.call("experts", rows(x), whole(w), rows(e), rows(y))
            np.testing.assert_allclose(y, expected, atol=1e-4)
            if tokens == 1:
                y[:] = np.nan
                kernels.call("one", whole(x), whole(w), whole(e), whole(y))
                np.testing.assert_allclose(y, expected, atol=1e-4)


@pytest.mark.skipif(platform.machine() != "aarch64", reason="packed for Arm")
@pytest.mark.parametrize("name", ["q4_1", "q8_0"])
@pytest.mark.parametrize("own", [1, SLOTS])
def test_quantized_kernel(name, own):
    n, k = 24, 96
    packing = cpu.packing_text("arm", name)
    rng = np.random.default_rng(n)
    blocks = cpu.random_blocks(rng, name, EXPERTS * n, k)
    packed = cpu.pack(blocks, name, "arm")
    text = lambda tokens: block_text(name, n, k, own, packed.shape, f"packed {packing}", tokens)
    kernels = cpu.Kernels(as_kernel("experts", text("?")) + as_kernel("one", text(1)),
                          "features=+i8mm,+dotprod")
    w = dequantize(blocks, name)
    for choice in CHOICES:
        for tokens in TOKENS:
            e = choose(rng, choice, tokens)
            q, s = quantize_activation(rng.standard_normal((tokens, k * own)))
            x = q.reshape(tokens, -1, 32) * s[..., None].astype(np.float64)
            expected = expert_matmul(x.reshape(tokens, -1), w, e, n)
            tolerance = 2e-5 * np.abs(w).sum(1).max()
            y = np.full((tokens, SLOTS * n), np.nan, np.float32)
            kernels.call("experts", rows(q), rows(s), whole(packed), rows(e), rows(y))
            np.testing.assert_allclose(y, expected, atol=tolerance)
            if tokens == 1:
                y[:] = np.nan
                kernels.call("one", whole(q), whole(s), whole(packed), whole(e), whole(y))
                np.testing.assert_allclose(y, expected, atol=tolerance)


@functools.lru_cache(maxsize=None)
def gpu_kernel(text):
    return gpu.Kernels(text)


def check_on_gpu(text, x, w, e, n, expected=None, atol=1e-3):
    y = np.full((len(x), SLOTS * n), np.nan, np.float32)
    gpu_kernel(text).call("experts", gpu.rows(x), gpu.whole(w), gpu.rows(e), gpu.rows(y))
    np.testing.assert_allclose(y, expert_matmul(x, w, e, n) if expected is None else expected,
                               atol=atol)


#: With a small tile, so that an expert's rows end inside of a first, second or third one.
SMALL_TILE = ("gist.tile = #gist.gpu_product<rows = 32, columns = 32, depth = 32, waves = [1, 1], "
              "stages = 2, instruction = mfma_32x32x8, element = f16>")


def with_tile(text, tile):
    return text.replace("attributes {", f"attributes {{{tile}, ")


@pytest.mark.parametrize("n, k, own, tokens", [
    (24, 256, 1, 29), (9, 24, SLOTS, 2), (40, 72, SLOTS, 45), (32, 64, SLOTS, 17)])
@pytest.mark.parametrize("tile", ["chosen", "small"])
def test_gathered_gpu_kernel(n, k, own, tokens, tile):
    """On gfx942's simulator, rows rounded to f16 as matrix instructions take them:
    fewer rows than experts, one tile for each, and several; k of whole steps and not."""
    text = as_kernel("experts", float_text(n, k, own, "f16"))
    if tile == "small":
        text = with_tile(text, SMALL_TILE)
    rng = np.random.default_rng(n)
    for choice in CHOICES:
        w = rng.standard_normal((EXPERTS * n, k)).astype(np.float16)
        e = choose(rng, choice, tokens)
        w[[i for i in range(EXPERTS * n) if i // n not in e]] = np.nan
        x = rng.standard_normal((tokens, k * own)).astype(np.float16).astype(np.float32)
        check_on_gpu(text, x, w, e, n)


def test_gathered_rows_in_16_bits():
    """Rows as -gist-round-activations stores them, and more experts than a workgroup has
    threads to look at them."""
    n, k, tokens, experts = 8, 32, 40, 300
    text = as_kernel("experts", float_text(n, k, 1, "f16"))
    text = text.replace(f"tensor<{EXPERTS * n}x{k}xf16>", f"tensor<{experts * n}x{k}xf16>")
    text = text.replace(f"tensor<?x{k}xf32>", f"tensor<?x{k}xf16>")
    rng = np.random.default_rng(n)
    w = rng.standard_normal((experts * n, k)).astype(np.float16)
    e = rng.integers(0, experts, (tokens, SLOTS)).astype(np.int32)
    e[0] = [0, 255, 256]
    e[1] = [experts - 1] * SLOTS
    x = rng.standard_normal((tokens, k)).astype(np.float16)
    check_on_gpu(text, x, w, e, n)


def test_gathered_numbers_that_name_nothing():
    """They have the nearest expert, and nothing outside of the weight is read."""
    n, k = 8, 32
    text = as_kernel("experts", float_text(n, k, 1, "f16"))
    rng = np.random.default_rng(n)
    w = rng.standard_normal((EXPERTS * n, k)).astype(np.float16)
    e = np.array([[-1, EXPERTS, 2], [2**31 - 1, -2**31, 0]], np.int32)
    x = rng.standard_normal((2, k)).astype(np.float16).astype(np.float32)
    check_on_gpu(text, x, w, e, n, expert_matmul(x, w, np.clip(e, 0, EXPERTS - 1), n))


@pytest.mark.parametrize("n, k, own", [(24, 256, 1), (9, 24, SLOTS)])
def test_gpu_kernel_of_one_token(n, k, own):
    """On gfx942's simulator: lanes with several parts of a row, and with none."""
    kernels = gpu.Kernels(as_kernel("experts", float_text(n, k, own, "f16", 1)))
    rng = np.random.default_rng(n)
    for choice in ["any", "all to one"]:
        w = rng.standard_normal((EXPERTS * n, k)).astype(np.float16)
        e = choose(rng, choice, 1)
        w[[i for i in range(EXPERTS * n) if i // n not in e]] = np.nan
        x = rng.standard_normal((1, k * own)).astype(np.float32)
        y = np.full((1, SLOTS * n), np.nan, np.float32)
        kernels.call("experts", gpu.whole(x), gpu.whole(w), gpu.whole(e), gpu.whole(y))
        np.testing.assert_allclose(y, expert_matmul(x, w, e, n), atol=1e-3)


@pytest.mark.parametrize("tokens", ["?", 1])
def test_gpu_kernel_of_blocks(tokens):
    n, k = 8, 64
    arguments, result, body = float_text(n, k, 1, "f32", tokens)
    blocks = f"tensor<{EXPERTS * n}x{k // 32}x20xi8>"
    arguments = arguments.replace(f"%w: tensor<{EXPERTS * n}x{k}xf32>", f"%b: {blocks}")
    body = f"%w = gist.dequantize %b format q4_1 : {blocks}\n  " + body
    text = as_kernel("experts", (arguments, result, body))
    rng = np.random.default_rng(n)
    stored = cpu.random_blocks(rng, "q4_1", EXPERTS * n, k)
    count, wrap = (3, gpu.rows) if tokens == "?" else (1, gpu.whole)
    e = choose(rng, "any", count)
    x = rng.standard_normal((count, k)).astype(np.float32)
    y = np.full((count, SLOTS * n), np.nan, np.float32)
    gpu.Kernels(text).call("experts", wrap(x), gpu.whole(stored.view(np.int8)), wrap(e), wrap(y))
    w = dequantize(stored, "q4_1")
    # Gathered rows and numbers of blocks are rounded to f16.
    tolerance = (1e-3 if tokens == "?" else 1e-4) * np.abs(w).sum(1).max()
    np.testing.assert_allclose(y, expert_matmul(x, w, e, n), atol=tolerance)
