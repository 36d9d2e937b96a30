# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gated projections and block formats."""

import numpy as np
import pytest

from reference import gated_projection as gated
from reference import numerics
from reference.quantization import (
    FORMATS,
    HALVES,
    dequantize,
    dequantize_activation,
    quantize_activation,
    quantized_matmul,
)


def layer(rng, d=12, k=4, m=7, total=20):
    basis, _ = np.linalg.qr(rng.standard_normal((d, d)))
    v = basis[:, :k]
    w = rng.standard_normal((m, d))
    inside = rng.standard_normal((total, k)) @ v.T
    outside = rng.standard_normal((total, d - k)) @ basis[:, k:].T
    share = np.linspace(0, 1, total)[:, None]
    return inside * (1 - share) + outside * share, v, w


def test_an_open_gate_is_the_linear_layer():
    rng = np.random.default_rng(0)
    x, v, w = layer(rng)
    bias = rng.standard_normal(7)
    levels = np.ones(20, dtype=np.int32)
    (y,) = gated.gated_projection(x, v, [(w, w @ v, bias)], levels)
    np.testing.assert_allclose(y, x @ w.T + bias)


def test_a_closed_gate_sees_the_subspace_only():
    rng = np.random.default_rng(1)
    x, v, w = layer(rng)
    levels = np.zeros(20, dtype=np.int32)
    (y,) = gated.gated_projection(x, v, [(w, w @ v, None)], levels)
    np.testing.assert_allclose(y, (x @ v @ v.T) @ w.T, atol=1e-12)
    assert np.abs(y - x @ w.T).max() > 0.1


def test_ratio_and_levels():
    rng = np.random.default_rng(2)
    x, v, _ = layer(rng)
    x[3], x[4, 0], x[5, 1] = 0, np.nan, np.inf
    rho = gated.residual_ratio(x, v)
    assert rho[3] == 0 and np.isnan(rho[[4, 5]]).all()
    assert rho[0] < 1e-12 and rho[-1] == pytest.approx(1)
    assert list(gated.gate_levels(rho[[0, 3, 4, 5, -1]], 0.5)) == [0, 0, 1, 1, 1]
    some = np.array([0, 0.1, 0.2, 0.5, 0.6, np.nan], dtype=np.float32)
    assert list(gated.gate_levels(some, 0.5, 0.1)) == [0, 0, 1, 1, 2, 2]


def test_graded_levels_choose_the_weight():
    rng = np.random.default_rng(3)
    x, v, w = layer(rng, total=3)
    low = np.round(w)
    levels = np.array([0, 1, 2])
    (y,) = gated.gated_projection(x, v, [(w, w @ v, None)], levels, [low])
    g, rest = gated.residual(x, v)
    base = g @ (w @ v).T
    np.testing.assert_allclose(y[0], base[0])
    np.testing.assert_allclose(y[1], base[1] + rest[1] @ low.T)
    np.testing.assert_allclose(y[2], x[2] @ w.T)


def halves(*values):
    return list(np.array(values, dtype="<f2").tobytes())


def test_formats_by_hand():
    block = np.array(halves(0.5) + [1, 255] + [0] * 30, dtype=np.uint8)
    assert list(dequantize(block[None], "q8_0")[:3]) == [0.5, -0.5, 0]
    block = np.array(halves(2) + [0x9F] + [0x88] * 15, dtype=np.uint8)
    x = dequantize(block[None], "q4_0")
    assert (x[0], x[16]) == (14, 2) and not x[1:16].any() and not x[17:].any()
    block = np.array(halves(2, -1) + [0x3F] + [0] * 15, dtype=np.uint8)
    x = dequantize(block[None], "q4_1")
    assert (x[0], x[16]) == (29, 5) and (x[1:16] == -1).all() and (x[17:] == -1).all()

    # Byte 2 of the pairs has elements 2, 10, 18 and 26.
    pairs = [0, 0, 0b10_01_00_11, 0, 0, 0, 0, 0]
    x = dequantize(np.array(halves(2, -1) + pairs, dtype=np.uint8)[None], "q2_1")
    assert list(x[[2, 10, 18, 26]]) == [5, -1, 1, 3]
    assert (np.delete(x, [2, 10, 18, 26]) == -1).all()
    # Bits 0 and 6 of byte 2 of the third bits are those of elements 2 and 26.
    third = [0, 0, 0b0100_0001, 0]
    x = dequantize(np.array(halves(2, -1) + pairs + third, dtype=np.uint8)[None], "q3_1")
    assert list(x[[2, 10, 18, 26]]) == [13, -1, 1, 11]
    assert (np.delete(x, [2, 10, 18, 26]) == -1).all()

    # Group 2: scale 5, minimum 7. Group 6: scale 0b100011, minimum 0b010010.
    packed = np.zeros(12, dtype=np.uint8)
    packed[2], packed[6] = 5 | 0b10 << 6, 7 | 0b01 << 6
    packed[10] = 0b0011 | 0b0010 << 4
    q = np.zeros(128, dtype=np.uint8)
    q[32], q[96] = 11, 12
    block = np.concatenate([np.array(halves(2, 0.5), np.uint8), packed, q])
    x = dequantize(block[None], "q4_k")
    assert x[64] == 2 * 5 * 11 - 0.5 * 7 and (x[65:96] == -3.5).all()
    assert x[192] == 2 * 35 * 12 - 0.5 * 18 and (x[193:224] == -9).all()
    assert not x[:64].any() and not x[96:192].any() and not x[224:].any()

    # Element 128 + 64 + 3: second half, third quarter, high nibble of byte 3.
    low, high = np.zeros(128, np.uint8), np.zeros(64, np.uint8)
    scales = np.zeros(16, np.uint8)
    low[64 + 3], high[32 + 3], scales[12] = 0x90, 0b11 << 4, 254
    block = np.concatenate([low, high, scales, np.array(halves(0.5), np.uint8)])
    x = dequantize(block[None], "q6_k")
    assert x[195] == 0.5 * -2 * (0b111001 - 32) and (x[196:208] == 32).all()
    assert not x[:192].any() and not x[208:].any()


def random_blocks(rng, name, rows=3, blocks=2):
    """Random bytes with the f16 fields replaced by moderate numbers."""
    _, size = FORMATS[name]
    raw = rng.integers(256, size=(rows, blocks, size), dtype=np.uint8)
    for at in HALVES.get(name, [0]):
        value = rng.standard_normal((rows, blocks, 1)).astype("<f2")
        raw[..., at : at + 2] = value.view(np.uint8)
    return raw


#: Those that GGUF files do not have.
OWN = {"q3_1", "q2_1"}


@pytest.mark.parametrize("name", [name for name in FORMATS if name not in OWN])
def test_formats_agree_with_gguf(name):
    gguf = pytest.importorskip("gguf", reason="see test/requirements-models.txt")
    raw = random_blocks(np.random.default_rng(4), name)
    kind = gguf.GGMLQuantizationType[name.upper()]
    want = gguf.quants.dequantize(raw.reshape(len(raw), -1), kind)
    got = dequantize(raw, name)
    np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-5)


def test_activations_in_8_bits():
    x = np.zeros((2, 64), dtype=np.float32)
    x[0, :4] = [127, -63.5, 0.5, 1.5]
    x[1, 32:] = np.linspace(-1, 1, 32)
    q, scale = quantize_activation(x)
    assert scale.tolist()[0] == [1, 0] and scale[1, 0] == 0
    # Ties go to even: -63.5 to -64, 0.5 to 0, 1.5 to 2.
    assert q[0, :4].tolist() == [127, -64, 0, 2] and not q[0, 4:].any()
    assert q[1, 32] == -127 and q[1, 63] == 127
    error = np.abs(dequantize_activation(q, scale) - x)
    assert error.max() <= 0.5 + 1e-6 and error[1].max() <= scale[1, 1] * 0.5001


@pytest.mark.parametrize("name", FORMATS)
def test_quantized_products_are_off_by_half_a_scale_at_most(name):
    rng = np.random.default_rng(5)
    blocks = random_blocks(rng, name)
    w = dequantize(blocks, name)
    x = rng.standard_normal((6, w.shape[1])).astype(np.float32)
    q, scale = quantize_activation(x)
    error = np.abs(quantized_matmul(q, scale, blocks, name) - x @ w.T)
    half = np.repeat(scale, 32, axis=1) * 0.5001
    assert (error <= half @ np.abs(w).T).all() and error.max() > 0


def test_bf16_rounds_to_nearest_even():
    one = 0x3F800000
    bits = np.array(
        [one, one + 0x7FFF, one + 0x8000, one + 0x8001, one + 0x18000], np.uint32
    )
    got = numerics.f32_to_bf16(bits.view(np.float32))
    assert got.tolist() == [0x3F80, 0x3F80, 0x3F80, 0x3F81, 0x3F82]
    assert numerics.round_to(np.float32(3.4e38), "bf16") == np.inf
    assert np.isnan(numerics.round_to(np.float32(np.nan), "bf16"))


@pytest.mark.parametrize("element", ["f32", "f16", "bf16"])
def test_a_wrong_number_is_seen(element):
    want = np.array([[1.0, 1e-3, np.nan, np.inf]])
    got = numerics.store(want, element)
    numerics.assert_close(got, want, element)
    unit = numerics.UNIT_ROUNDOFF[element]
    for wrong in (
        [1 + 4 * max(unit, 1e-5), 1e-3, np.nan, np.inf],
        [1, 1e-3, 0, np.inf],
        [1, 1e-3, np.nan, -np.inf],
    ):
        with pytest.raises(AssertionError):
            numerics.assert_close(
                numerics.store(np.array([wrong]), element), want, element
            )
