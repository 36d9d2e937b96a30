# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels compiled for this CPU, called as the runtime calls them."""

import functools
import platform

import numpy as np
import pytest

import cpu_kernels as cpu
import scratch
from cpu_kernels import rows, whole
from reference.quantization import (FORMATS, HALVES, dequantize, expand_head_rows,
                                    quantize_activation, quantize_head_rows)

#: Rows: one, less than a register tile, tiles and each rest, several workgroups.
TOKENS = [1, 2, 3, 9, 12, 37, 70]


def cpu_flags():
    with open("/proc/cpuinfo") as file:
        return set(file.read().split())


#: Every row of the table of targets that this machine can execute.
TARGETS = {
    "aarch64": {
        "i8mm": ("arm", "features=+i8mm,+dotprod"),
        "dotprod": ("arm", "cpu=generic features=+dotprod"),
        "narrow": ("neon", "features=+i8mm,+dotprod"),
        "neon": ("neon", "cpu=generic"),
    },
    "x86_64": {
        "sse": ("sse", "cpu=x86-64"),
        "avx2": ("x86", "cpu=haswell"),
        # Weights with signs, which only instructions of Arm take.
        "signed": ("arm", "cpu=haswell"),
        "avx512": ("x86", "cpu=skylake-avx512"),
        # The least CPU that has it: others have more, which this machine may not have.
        "avx512_vnni": ("x86", "cpu=cascadelake"),
        "amx_int8": ("x86", "cpu=sapphirerapids"),
    },
}[platform.machine()]
if platform.machine() == "x86_64":
    NEEDED = {"avx512": "avx512bw"}
    TARGETS = {name: target for name, target in TARGETS.items()
               if name in ("sse", "signed") or NEEDED.get(name, name) in cpu_flags()}


def draw(rng, *shape):
    return rng.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("tokens", TOKENS)
def test_quantize_rows(tokens):
    rng = np.random.default_rng(tokens)
    x = draw(rng, tokens, 96)
    x[0, 32:64] = 0
    q, s = np.empty((tokens, 96), np.int8), np.empty((tokens, 3), np.float32)
    cpu.Kernels(cpu.quantize_rows(96)).call("quantize", rows(x), rows(q), rows(s))
    expected, scales = quantize_activation(x)
    np.testing.assert_array_equal(s, scales)
    # x / scale and x * (127 / max) may land on two sides of a tie.
    assert np.abs(q.astype(int) - expected).max() <= 1
    assert (q != expected).mean() < 0.01


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ["q4_0", "q4_1", "q8_0", "q3_1", "q2_1", "q5_0", "q5_1", "iq4_nl"])
@pytest.mark.parametrize("n, k", [pytest.param(192, 96, marks=pytest.mark.full), (30, 64),
                                  (131, 288)])
def test_quantized_matmul(target, name, n, k):
    packing, options = TARGETS[target]
    kernels = cpu.Kernels(cpu.quantized_matmul(name, n, k, packing), options)
    rng = np.random.default_rng(n)
    blocks = cpu.random_blocks(rng, name, n, k)
    packed = cpu.pack(blocks, name, packing)
    w = dequantize(blocks, name)
    for tokens in TOKENS:
        q, s = quantize_activation(draw(rng, tokens, k))
        y = np.full((tokens, n), np.nan, np.float32)
        kernels.call("matmul", rows(q), rows(s), whole(packed), rows(y))
        x = q.reshape(tokens, -1, 32) * s[..., None].astype(np.float64)
        expected = x.reshape(tokens, k) @ w.T
        np.testing.assert_allclose(y, expected, atol=2e-5 * np.abs(expected).max())


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ["q4_0", "q4_1", "q8_0", "q3_1", "q2_1", "q5_0", "q5_1", "iq4_nl"])
def test_quantized_matmul_at_its_limits(target, name):
    """The largest and the smallest levels times the largest and the smallest
    bytes: sums of a block that an instruction must not cut off. A level that
    lacks one bit of a plane stands out by more than the allowed error."""
    n, k = 37, 64
    packing, options = TARGETS[target]
    kernels = cpu.Kernels(cpu.quantized_matmul(name, n, k, packing), options)
    blocks = cpu.random_blocks(np.random.default_rng(7), name, n, k).copy()
    head = 4 if cpu.SIGNED[name][5] else 2
    for row in range(n):
        blocks[row, :, head:] = [0, -1, 0x55, -0x56, 0x0f, -0x10][row % 6]
    packed = cpu.pack(blocks, name, packing)
    w = dequantize(blocks, name)
    for tokens in (1, 37):
        q = np.empty((tokens, k), np.int8)
        q[0::3], q[1::3], q[2::3] = 127, -127, np.where(np.arange(k) % 2, 127, -127)
        s = np.ones((tokens, k // 32), np.float32)
        y = np.full((tokens, n), np.nan, np.float32)
        kernels.call("matmul", rows(q), rows(s), whole(packed), rows(y))
        expected = q.astype(np.float64) @ w.T
        limit = 1e-6 * (np.abs(q.astype(np.float64)) @ np.abs(w).T).max()
        np.testing.assert_allclose(y, expected, atol=limit)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ["q4_k", "q6_k", "q5_k", "q3_k", "q2_k"])
def test_quantized_matmul_with_shared_scales(target, name):
    n, k = 96, 768
    packing, options = TARGETS[target]
    kernels = cpu.Kernels(cpu.quantized_matmul(name, n, k, packing), options)
    rng = np.random.default_rng(n)
    w, packed = cpu.random_packed(rng, name, n, k, packing)
    for tokens in TOKENS:
        q, s = quantize_activation(draw(rng, tokens, k))
        y = np.full((tokens, n), np.nan, np.float32)
        kernels.call("matmul", rows(q), rows(s), whole(packed), rows(y))
        x = q.reshape(tokens, -1, 32) * s[..., None].astype(np.float64)
        expected = x.reshape(tokens, k) @ w.T
        np.testing.assert_allclose(y, expected, atol=2e-5 * np.abs(expected).max())


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ["q4_1", "q4_k"])
@pytest.mark.parametrize("ahead", [1, 6, 500])
def test_prefetch(target, name, ahead):
    """Fetching weights ahead changes no bit, also past the end of the weight."""
    n, k = 192, 256
    packing, options = TARGETS[target]
    plain = cpu.quantized_matmul(name, n, k, packing).replace("?x", "1x")
    fetching = plain.replace("attributes {", f"attributes {{gist.prefetch = {ahead} : i64, ")
    rng = np.random.default_rng(n)
    if name == "q4_1":
        blocks = cpu.random_blocks(rng, name, n, k)
        w, packed = dequantize(blocks, name), cpu.pack(blocks, name, packing)
    else:
        w, packed = cpu.random_packed(rng, name, n, k, packing)
    q, s = quantize_activation(draw(rng, 1, k))
    found = []
    for text in (plain, fetching):
        y = np.full((1, n), np.nan, np.float32)
        cpu.Kernels(text, options).call("matmul", whole(q), whole(s), whole(packed), whole(y))
        found.append(y)
    x = q.reshape(1, -1, 32) * s[..., None].astype(np.float64)
    expected = x.reshape(1, k) @ w.T
    np.testing.assert_allclose(found[0], expected, atol=2e-5 * np.abs(expected).max())
    np.testing.assert_array_equal(found[0], found[1])


#: packing -> the target that reads it
LOOKUP_TARGETS = {
    "arm": "triple=aarch64-linux-gnu cpu=neoverse-v1",
    "neon": "triple=aarch64-linux-gnu cpu=generic",
    "x86": "triple=x86_64-linux-gnu cpu=haswell",
}


@pytest.mark.parametrize("packing", LOOKUP_TARGETS)
@pytest.mark.parametrize("name", ["q4_0", "q4_1", "q8_0", "q3_1", "q2_1", "q5_0", "q5_1", "iq4_nl"])
def test_lookup_in_packed_weight(packing, name):
    """A tied embedding is stored once, in the order that the product wants."""
    n, k = 30, 64
    kernels = cpu.Kernels(cpu.lookup(name, n, k, LOOKUP_TARGETS[packing]))
    rng = np.random.default_rng(n)
    blocks = cpu.random_blocks(rng, name, n, k)
    ids = rng.integers(0, n, 37).astype(np.int32)
    ids[:2] = 0, n - 1
    y = np.full((37, k), np.nan, np.float32)
    kernels.call(
        "rows_0", rows(ids), whole(cpu.pack(blocks, name, packing)), rows(y)
    )
    np.testing.assert_array_equal(y, dequantize(blocks, name)[ids])


@pytest.mark.parametrize("packing", LOOKUP_TARGETS)
@pytest.mark.parametrize("name", ["q4_k", "q6_k", "q5_k", "q3_k", "q2_k"])
def test_lookup_with_shared_scales(packing, name):
    n, k = 48, 512
    kernels = cpu.Kernels(cpu.lookup(name, n, k, LOOKUP_TARGETS[packing]))
    rng = np.random.default_rng(n)
    values, packed = cpu.random_packed(rng, name, n, k, packing)
    ids = rng.permutation(n).astype(np.int32)
    y = np.full((n, k), np.nan, np.float32)
    kernels.call("rows_0", rows(ids), whole(packed), rows(y))
    # Scales are exact in f32; a product and a sum are rounded.
    np.testing.assert_allclose(y, values[ids], rtol=1e-6, atol=1e-7 * np.abs(values).max())


@pytest.mark.skipif(
    not cpu.EmulatedKernels.available(), reason="needs qemu-user and clang"
)
@pytest.mark.parametrize("name", ["q4_0", "q4_1", "q8_0", "q3_1", "q2_1", "q5_0", "q5_1", "iq4_nl"])
def test_quantized_matmul_avx2(name):
    n, k, tokens = 44, 64, 5
    kernels = cpu.EmulatedKernels(
        cpu.quantized_matmul(name, n, k, "x86"), "cpu=haswell"
    )
    rng = np.random.default_rng(3)
    blocks = cpu.random_blocks(rng, name, n, k)
    q, s = quantize_activation(draw(rng, tokens, k))
    y = np.full((tokens, n), np.nan, np.float32)
    packed = cpu.pack(blocks, name, "x86")
    kernels.call("matmul", rows(q), rows(s), whole(packed), rows(y))
    x = q.reshape(tokens, -1, 32) * s[..., None].astype(np.float64)
    expected = x.reshape(tokens, k) @ dequantize(blocks, name).T
    np.testing.assert_allclose(y, expected, atol=2e-5 * np.abs(expected).max())


@pytest.mark.skipif(
    not cpu.EmulatedKernels.available(), reason="needs qemu-user and clang"
)
def test_floats_avx2():
    rng = np.random.default_rng(4)
    x, w = draw(rng, 7, 72), draw(rng, 20, 72)
    y = np.full((7, 20), np.nan, np.float32)
    kernels = cpu.EmulatedKernels(cpu.matmul(20, 72), "cpu=haswell")
    kernels.call("matmul", rows(x), whole(w), rows(y))
    np.testing.assert_allclose(y, x.astype(np.float64) @ w.T, atol=1e-4)

    text = cpu.attention(4, 2, 32, "f16")
    kernels = cpu.EmulatedKernels(text, "cpu=haswell")
    q = draw(rng, 5, 4, 32).astype(np.float16)
    k, v = (draw(rng, 70, 2, 32).astype(np.float16) for _ in range(2))
    out = np.full_like(q, np.nan)
    scratch.call(kernels, text, "attention", rows(q), rows(k), rows(v), rows(out))
    np.testing.assert_allclose(out, attend(q, k, v, causal=True), atol=2e-3)


@pytest.mark.parametrize("weight", ["f32", "f16"])
# Panels that all columns fill, none, most; a reduction in two parts.
@pytest.mark.parametrize("n, k", [(192, 96), (30, 66), (131, 288), (40, 1536)])
def test_matmul(weight, n, k):
    kernels = cpu.Kernels(
        cpu.matmul(n, k, weight) + cpu.matmul(n, k, weight, True, "fused")
    )
    rng = np.random.default_rng(n)
    w = (draw(rng, n, k) / np.sqrt(k)).astype({"f32": "f4", "f16": "f2"}[weight])
    bias = draw(rng, n)
    for tokens in TOKENS:
        x, r = draw(rng, tokens, k), draw(rng, tokens, n)
        y = np.full((tokens, n), np.nan, np.float32)
        kernels.call("matmul", rows(x), whole(w), rows(y))
        expected = x.astype(np.float64) @ w.astype(np.float64).T
        # AMX multiplies f16 as sums of products of bf16 parts.
        error = 3e-5 if weight == "f16" else 1e-5
        np.testing.assert_allclose(y, expected, atol=error)
        y[:] = np.nan
        kernels.call("fused", rows(x), whole(w), whole(bias), rows(r), rows(y))
        z = expected + bias
        np.testing.assert_allclose(y, z / (1 + np.exp(-z)) + r, atol=2 * error)


@pytest.mark.parametrize("weight", ["f32", "f16"])
@pytest.mark.parametrize("k", [66, 96, 576])
def test_matmul_of_one_row(weight, k):
    """One row of the weight after the other, with one to eight sums."""
    text = cpu.of_one_row(cpu.matmul(30, k, weight))
    rng = np.random.default_rng(k)
    w = (draw(rng, 30, k) / np.sqrt(k)).astype({"f32": "f4", "f16": "f2"}[weight])
    x, y = draw(rng, 1, k), np.full((1, 30), np.nan, np.float32)
    cpu.Kernels(text).call("matmul", whole(x), whole(w), whole(y))
    np.testing.assert_allclose(y, x.astype(np.float64) @ w.astype(np.float64).T, atol=1e-5)


@pytest.mark.parametrize("name", ["q4_0", "q4_1", "q8_0", "q5_0"])
@pytest.mark.parametrize("n, k", [(192, 96), (37, 1536), (64, 8960)])
def test_matmul_of_blocks(name, n, k):
    """In f32 with a weight in blocks, which become floats part by part along the
    reduction; many rows and one."""
    text = cpu.matmul_of_blocks(name, n, k)
    kernels, one = cpu.Kernels(text), cpu.Kernels(cpu.of_one_row(text))
    rng = np.random.default_rng(n)
    blocks = cpu.random_blocks(rng, name, n, k)
    w = dequantize(blocks, name).astype(np.float64)
    for tokens in TOKENS:
        x = draw(rng, tokens, k)
        y = np.full((tokens, n), np.nan, np.float32)
        kernels.call("matmul", rows(x), whole(blocks), rows(y))
        limit = 2e-7 * np.sqrt(k) * (np.abs(x.astype(np.float64)) @ np.abs(w).T).max()
        np.testing.assert_allclose(y, x @ w.T, atol=limit)
        first = np.full((1, n), np.nan, np.float32)
        one.call("matmul", whole(x[:1].copy()), whole(blocks), whole(first))
        np.testing.assert_allclose(first, x[:1] @ w.T, atol=limit)


@pytest.mark.parametrize("name", ["q4_k", "q6_k", "q5_k", "q3_k", "q2_k"])
def test_matmul_of_long_blocks(name):
    """Blocks of 256 numbers become floats one after the other."""
    n, k = 37, 2304
    text = cpu.matmul_of_blocks(name, n, k)
    kernels, one = cpu.Kernels(text), cpu.Kernels(cpu.of_one_row(text))
    rng = np.random.default_rng(n)
    blocks = rng.integers(-128, 128, (n, k // 256, FORMATS[name][1]), dtype=np.int8)
    for at in HALVES.get(name, [0]):
        scales = rng.uniform(0.5, 2, blocks.shape[:2]) / 1024
        blocks[..., at:at + 2] = scales.astype(np.float16)[..., None].view(np.int8)
    w = dequantize(blocks, name).astype(np.float64)
    for tokens in (1, 5):
        x, y = draw(rng, tokens, k), np.full((tokens, n), np.nan, np.float32)
        kernels.call("matmul", rows(x), whole(blocks), rows(y))
        limit = 2e-7 * np.sqrt(k) * (np.abs(x.astype(np.float64)) @ np.abs(w).T).max()
        np.testing.assert_allclose(y, x @ w.T, atol=limit)
        first = np.full((1, n), np.nan, np.float32)
        one.call("matmul", whole(x[:1].copy()), whole(blocks), whole(first))
        np.testing.assert_allclose(first, x[:1] @ w.T, atol=limit)


@pytest.mark.parametrize("name", ["q4_0", "q4_1", "q8_0"])
@pytest.mark.parametrize("tokens", [1, 6])
def test_matmul_of_blocks_at_their_limits(name, tokens):
    """A block of zeros, of tiny numbers, one where a number is far larger than
    the others, one with the largest integers, and one with a NaN,
    which has to show in its row and in no other."""
    n, k = 24, 160
    text = cpu.matmul_of_blocks(name, n, k)
    kernels = cpu.Kernels(cpu.of_one_row(text) if tokens == 1 else text)
    shape = whole if tokens == 1 else rows
    rng = np.random.default_rng(5)
    blocks = cpu.random_blocks(rng, name, n, k)
    # The smallest and the largest integers of the weight: the largest sums.
    size, most = (32, 127) if name == "q8_0" else (16, -1)
    blocks[:8, 4, -size:], blocks[8:16, 4, -size:] = (-128 if size == 32 else 0), most
    w = dequantize(blocks, name).astype(np.float64)
    x, y = draw(rng, tokens, k), np.full((tokens, n), np.nan, np.float32)
    x[:, :32], x[:, 32:64], x[:, 70], x[:, 128:] = 0, 1e-35, 1e6, 3.5
    kernels.call("matmul", shape(x), whole(blocks), shape(y))
    # 32 numbers, each off by 2^-24 of the largest.
    np.testing.assert_allclose(y, x @ w.T, atol=2**-19 * 1e6 * np.abs(w).max())
    x[:, 70] = 0
    kernels.call("matmul", shape(x), whole(blocks), shape(y))
    limit = 2e-7 * np.sqrt(k) * (np.abs(x.astype(np.float64)) @ np.abs(w).T).max()
    np.testing.assert_allclose(y, x @ w.T, atol=limit)
    x[-1, 100] = np.nan
    kernels.call("matmul", shape(x), whole(blocks), shape(y))
    assert np.isnan(y[-1]).all() and not np.isnan(y[:-1]).any()


@pytest.mark.parametrize("d", [64, 100])
def test_rms_norm(d):
    kernels = cpu.Kernels(cpu.rms_norm(d))
    rng = np.random.default_rng(d)
    w = draw(rng, d)
    for tokens in TOKENS:
        x = draw(rng, tokens, d)
        y = np.full_like(x, np.nan)
        kernels.call("norm", rows(x), whole(w), rows(y))
        wide = x.astype(np.float64)
        mean = (wide**2).mean(axis=1, keepdims=True)
        np.testing.assert_allclose(y, wide / np.sqrt(mean + 1e-5) * w, atol=1e-5)


OPTIONS = {
    "causal": dict(causal=True),
    "": dict(),
    "causal window 20 sinks 3": dict(causal=True, window=20, sinks=3),
}


def attend(q, k, v, causal=False, window=None, sinks=0):
    """Plain softmax attention in double precision."""
    q, k, v = (a.astype(np.float64) for a in (q, k, v))
    t, heads, size = q.shape
    s, kv_heads, _ = k.shape
    out = np.empty((t, heads, size))
    position = np.arange(t)[:, None] + s - t
    key = np.arange(s)[None]
    seen = np.ones((t, s), bool)
    if causal:
        seen &= key <= position
    if window:
        seen &= (key > position - window) | (key < sinks)
    for h in range(heads):
        g = h // (heads // kv_heads)
        score = np.where(seen, q[:, h] @ k[:, g].T / np.sqrt(size), -np.inf)
        p = np.exp(score - score.max(axis=1, keepdims=True))
        out[:, h] = p / p.sum(axis=1, keepdims=True) @ v[:, g]
    return out


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("element", ["f32", "f16"])
def test_attention(element, options):
    text = cpu.attention(6, 2, 32, element, options)
    kernels = cpu.Kernels(text)
    rng = np.random.default_rng(5)
    dtype = {"f32": np.float32, "f16": np.float16}[element]
    for tokens, past in [(1, 0), (1, 99), (5, 0), (37, 64), (70, 1)]:
        q = draw(rng, tokens, 6, 32).astype(dtype)
        k = draw(rng, tokens + past, 2, 32).astype(dtype)
        v = draw(rng, tokens + past, 2, 32).astype(dtype)
        out = np.full((tokens, 6, 32), np.nan, dtype)
        scratch.call(kernels, text, "attention", rows(q), rows(k), rows(v), rows(out))
        expected = attend(q, k, v, **OPTIONS[options])
        tolerance = 2e-5 if element == "f32" else 2e-3
        np.testing.assert_allclose(out, expected, atol=tolerance)


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("lanes", [4, 8, 16])
@pytest.mark.parametrize("tokens, group, size, element", [
    (1, 1, 32, "f16"), (1, 3, 80, "f16"), (1, 4, 64, "f32"),
    (1, 7, 48, "f16"),  # more rows than registers, and an uneven rest
    (2, 3, 32, "f32")])
def test_few_queries(tokens, group, size, element, lanes, options):
    """How many queries there are is known: those of one token, which reads keys where
    they lie. A kernel of any number of tokens gives one the same bits, so that other
    tokens of a call do not matter, and so does one that fetches keys ahead, also past
    the last."""
    tile = f"queries = 32, keys = 64, registers = 4, lanes = {lanes}, instruction = fma"
    def make(tokens, ahead):
        text = cpu.attention(2 * group, 2, size, element, options, tile=tile, tokens=tokens,
                             ahead=ahead)
        return functools.partial(scratch.call, cpu.Kernels(text), text, "attention")

    kernels, any_number, fetching = make(tokens, 0), make("?", 0), make(tokens, 64)
    rng = np.random.default_rng(group)
    dtype = {"f32": np.float32, "f16": np.float16}[element]
    for past in [0, 1, 62, 63, 64, 130]:
        q = draw(rng, tokens, 2 * group, size).astype(dtype)
        k, v = (draw(rng, tokens + past, 2, size).astype(dtype) for _ in range(2))
        out = np.full(q.shape, np.nan, dtype)
        kernels(cpu.whole(q), rows(k), rows(v), cpu.whole(out))
        expected = attend(q, k, v, **OPTIONS[options])
        np.testing.assert_allclose(out, expected, atol=2e-5 if element == "f32" else 2e-3)
        if tokens == 1:
            again = np.full(q.shape, np.nan, dtype)
            any_number(rows(q), rows(k), rows(v), rows(again))
            np.testing.assert_array_equal(again, out)
            fetched = np.full(q.shape, np.nan, dtype)
            fetching(cpu.whole(q), rows(k), rows(v), cpu.whole(fetched))
            np.testing.assert_array_equal(fetched, out)


def draw_cache(rng, huge, *shape):
    """Keys or values in 8 bits: among them rows of zeros, rows with a single huge number, and
    rows that are tiny."""
    x = draw(rng, *shape)
    x[::7] = 0
    x[3::11, 0, 5] = huge
    x[5::13] *= 1e-30
    return quantize_head_rows(x)


#: Vectors in which attention reads rows in 8 bits.
PLAIN = "cpu_attention<queries = 32, keys = 64, registers = 4, lanes = {}, instruction = fma>"


@pytest.mark.parametrize("tokens, group, size, lanes, options", [
    (1, 1, 64, 16, "causal"), (1, 7, 80, 16, "causal window 20 sinks 3"), (1, 3, 128, 8, "causal"),
    (2, 2, 64, 4, "causal"), ("?", 3, 80, 8, "causal window 20 sinks 3"),
    ("?", 2, 64, 16, "causal"), ("?", 1, 128, 4, "")])
def test_scaled_attention(tokens, group, size, lanes, options):
    """Keys and values in 8 bits: a kernel that fetches ahead gives the same bits, and one
    query of a kernel of any number what a kernel of one gives."""
    def make(tokens, ahead=0):
        text = cpu.scaled_attention(2 * group, 2, size, options, tile=PLAIN.format(lanes),
                                    tokens=tokens, ahead=ahead)
        return functools.partial(scratch.call, cpu.Kernels(text), text, "attention")

    kernels = make(tokens)
    any_number, fetching = (make("?"), make(1, 64)) if tokens == 1 else (None, None)
    rng = np.random.default_rng(group + size)
    for past in [0, 1, 63, 64, 130]:
        count = 37 if tokens == "?" else tokens
        q = draw(rng, count, 2 * group, size)
        # Scores of hundreds are rounded in f32, and softmax makes that a share of weights.
        k, v = (draw_cache(rng, huge, count + past, 2, size) for huge in (100, 1e4))
        cache = [rows(part) for part in (*k, *v)]
        expected = attend(q, expand_head_rows(*k), expand_head_rows(*v), **OPTIONS[options])
        # A share of what is added up: huge values next to others of about one.
        bound = 5e-5 * attend(q, expand_head_rows(*k), np.abs(expand_head_rows(*v)),
                              **OPTIONS[options]) + 1e-6
        call = lambda kernels, form: (
            out := np.full(q.shape, np.nan, np.float32),
            kernels(form(q), *cache, form(out)))[0]
        out = call(kernels, rows if tokens == "?" else whole)
        assert (np.abs(out - expected) <= bound).all()
        if any_number:
            np.testing.assert_array_equal(call(any_number, rows), out)
            np.testing.assert_array_equal(call(fetching, whole), out)


@pytest.mark.parametrize("tokens", [1, 5])
def test_scaled_rows_that_are_not_numbers_show(tokens):
    """A value that is NaN or infinite makes what sees it NaN."""
    text = cpu.scaled_attention(6, 2, 64)
    kernels = cpu.Kernels(text)
    rng = np.random.default_rng(11)
    for bad in (np.nan, np.inf):
        q = draw(rng, tokens, 6, 64)
        k, v = draw(rng, tokens + 90, 2, 64), draw(rng, tokens + 90, 2, 64)
        v[17, 1, 3] = bad
        out = np.zeros(q.shape, np.float32)
        scratch.call(kernels, text, "attention", rows(q),
                     *map(rows, (*quantize_head_rows(k), *quantize_head_rows(v))),
                     rows(out))
        assert np.isnan(out[:, 3:]).all() and np.isfinite(out[:, :3]).all()


@pytest.mark.parametrize("sinks", [0, 3])
def test_keys_before_a_window_are_not_read(sinks):
    """But for steps that hold the window's first key or a sink: of 64 keys at most."""
    options = "causal window 20" + f" sinks {sinks}" * (sinks > 0)
    text = cpu.attention(6, 2, 32, "f32", options)
    kernels = cpu.Kernels(text)
    rng = np.random.default_rng(5)
    for tokens, past in [(1, 400), (5, 300)]:
        q = draw(rng, tokens, 6, 32)
        k, v = (draw(rng, tokens + past, 2, 32) for _ in range(2))
        expected = attend(q, k, v, causal=True, window=20, sinks=sinks)
        unseen = slice(64 if sinks else 0, past - 20 - 64)
        k[unseen] = v[unseen] = np.nan
        out = np.full((tokens, 6, 32), np.nan, np.float32)
        scratch.call(kernels, text, "attention", rows(q), rows(k), rows(v), rows(out))
        np.testing.assert_allclose(out, expected, atol=2e-5)


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("size", [32, pytest.param(64, marks=pytest.mark.full), 80])
@pytest.mark.parametrize("lanes", [8, 16])
def test_wide_attention(lanes, size, options):
    """Vectors of AVX2 and of AVX-512, on any CPU: keys are transposed."""
    tile = f"queries = 32, keys = 64, registers = 4, lanes = {lanes}, instruction = fma"
    text = cpu.attention(6, 2, size, "f32", options, tile=tile)
    kernels = cpu.Kernels(text)
    rng = np.random.default_rng(6)
    for tokens, past in [(1, 0), (1, 99), (5, 0), (37, 64), (70, 1)]:
        q = draw(rng, tokens, 6, size)
        k, v = (draw(rng, tokens + past, 2, size) for _ in range(2))
        out = np.full((tokens, 6, size), np.nan, np.float32)
        scratch.call(kernels, text, "attention", rows(q), rows(k), rows(v), rows(out))
        expected = attend(q, k, v, **OPTIONS[options])
        np.testing.assert_allclose(out, expected, atol=2e-5)


@pytest.mark.skipif(not cpu.has_bf16(), reason="this CPU has no bfmmla")
@pytest.mark.parametrize("options", OPTIONS)
def test_paired_attention(options):
    """Inputs that bf16 holds exactly: only scaled queries and the weights of the
    values are rounded, the former by at most 2^-9 of themselves, the latter, which
    change with the scores, by at most 2^-8."""
    tile = "queries = 32, keys = 64, registers = 8, lanes = 4, instruction = bfmmla"
    text = cpu.attention(6, 2, 64, "f16", options, tile=tile)
    kernels = cpu.Kernels(text)
    rng = np.random.default_rng(5)

    def draw_bf16(*shape):
        bits = draw(rng, *shape).view(np.uint32) & np.uint32(0xFFFF0000)
        return bits.view(np.float32).astype(np.float16)

    for tokens, past in [(1, 0), (1, 99), (5, 0), (37, 64), (70, 1)]:
        q = draw_bf16(tokens, 6, 64)
        k, v = (draw_bf16(tokens + past, 2, 64) for _ in range(2))
        out = np.full((tokens, 6, 64), np.nan, np.float16)
        scratch.call(kernels, text, "attention", rows(q), rows(k), rows(v), rows(out))
        expected = attend(q, k, v, **OPTIONS[options])
        keys = np.abs(np.repeat(k, 3, axis=1).astype(np.float64))
        scores = np.einsum("qhd,khd->qhk", np.abs(q.astype(np.float64)), keys).max(axis=2) / 8
        rounding = 2**-8 + 2**-11 + 2 * 2**-9 * scores[:, :, None]
        bound = attend(q, k, np.abs(v), **OPTIONS[options]) * rounding + 1e-5
        assert (np.abs(out - expected) <= bound).all()
