# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Block formats of weights, most of them GGUF's, and 8-bit quantisation of activations.

A weight row is cut into blocks of 32 or 256 elements; each block is a fixed
number of bytes. All numbers are little endian. Bytes come in as any 8-bit
array whose last dimension is one block; elements come out as float64 with the
blocks of a row joined: (rows, blocks, bytes) -> (rows, blocks * elements).
"""

import numpy as np

#: format -> (elements of a block, bytes of a block)
FORMATS = {
    "q8_0": (32, 34),
    "q4_0": (32, 18),
    "q4_1": (32, 20),
    "q4_k": (256, 144),
    "q6_k": (256, 210),
    "q3_1": (32, 16),
    "q2_1": (32, 12),
    "q5_0": (32, 22),
    "q5_1": (32, 24),
    "q5_k": (256, 176),
    "q3_k": (256, 110),
    "q2_k": (256, 84),
    "iq4_nl": (32, 18),
}

#: format -> where the f16 numbers of a block are, unless only at its start
HALVES = {"q4_1": [0, 2], "q4_k": [0, 2], "q6_k": [208], "q3_1": [0, 2], "q2_1": [0, 2],
          "q5_1": [0, 2], "q5_k": [0, 2], "q3_k": [108], "q2_k": [80, 82]}


def _half(pair):
    return np.ascontiguousarray(pair).view("<f2").astype(np.float64)[..., 0]


def _q8_0(block):
    """f16 d; 32 signed bytes q. x = d * q."""
    return _half(block[..., :2])[..., None] * block[..., 2:].view(np.int8)


def _nibbles(packed):
    """Low halves are the first elements, high halves the ones after them."""
    return np.concatenate([packed & 15, packed >> 4], axis=-1).astype(np.float64)


def _q4_0(block):
    """f16 d; 16 bytes of nibbles q. x = d * (q - 8)."""
    return _half(block[..., :2])[..., None] * (_nibbles(block[..., 2:]) - 8)


def _q4_1(block):
    """f16 d, f16 m; 16 bytes of nibbles q. x = d * q + m."""
    d, m = _half(block[..., :2]), _half(block[..., 2:4])
    return d[..., None] * _nibbles(block[..., 4:]) + m[..., None]


def _q4_k(block):
    """f16 d, f16 dmin; 12 bytes of 6-bit scales and minima; 128 of nibbles.

    Eight groups of 32 elements. x = d * scale * q - dmin * minimum. The first
    four scales and minima are the low 6 bits of bytes 0-3 and 4-7; the last
    four have their low nibbles in bytes 8-11 and their two high bits at the
    top of bytes 0-3 and 4-7. Each run of 32 bytes holds two groups: the low
    nibbles, then the high ones.
    """
    d, dmin = _half(block[..., :2]), _half(block[..., 2:4])
    packed = block[..., 4:16].astype(np.int64)
    out = np.empty(block.shape[:-1] + (256,))
    for group in range(8):
        if group < 4:
            scale = packed[..., group] & 63
            minimum = packed[..., group + 4] & 63
        else:
            both = packed[..., group + 4]
            scale = (both & 15) | (packed[..., group - 4] >> 6 << 4)
            minimum = (both >> 4) | (packed[..., group] >> 6 << 4)
        run = 16 + 32 * (group // 2)
        q = block[..., run : run + 32] >> (4 * (group % 2)) & 15
        out[..., 32 * group : 32 * group + 32] = (d * scale)[..., None] * q - (
            dmin * minimum
        )[..., None]
    return out


def _fifth_bits(bits):
    """Bit i % 8 of byte i // 8 is that of element i."""
    i = np.arange(32)
    return 16 * (bits[..., i // 8].astype(np.int64) >> i % 8 & 1)


def _q5_0(block):
    """f16 d; 4 bytes of fifth bits; 16 of nibbles. x = d * (q - 16)."""
    q = _nibbles(block[..., 6:]) + _fifth_bits(block[..., 2:6])
    return _half(block[..., :2])[..., None] * (q - 16)


def _q5_1(block):
    """f16 d, f16 m; 4 bytes of fifth bits; 16 of nibbles. x = d * q + m."""
    return _shifted(block, _nibbles(block[..., 8:]) + _fifth_bits(block[..., 4:8]))


def _q5_k(block):
    """As q4_k, with 32 bytes of fifth bits before the nibbles: bit g of byte i is
    that of element i of group g."""
    without = np.concatenate([block[..., :16], block[..., 48:]], axis=-1)
    # x is linear in q: what one step is worth is what ones give more than zeros.
    of_all = lambda q: _q4_k(np.concatenate(
        [block[..., :16], np.full(block.shape[:-1] + (128,), q, np.uint8)], axis=-1))
    i = np.arange(256)
    fifth = block[..., 16 + i % 32].astype(np.int64) >> i // 32 & 1
    return _q4_k(without) + 16 * fifth * (of_all(0x11) - of_all(0))


def _q3_k(block):
    """32 bytes of third bits, 64 of pairs, 12 of scales, f16 d.

    x = d * (scale - 32) * (q - 4), one scale for 16 elements. The third bit of element i
    is bit i // 32 of byte i % 32. Each half of the block has 32 bytes of pairs, of which
    quarter j takes bits 2j, 2j+1. The low nibbles of scales 0-7 are the low halves of the
    first 8 bytes, those of 8-15 the high halves; bits 4, 5 of scale s are bits
    2 * (s // 4) on of byte 8 + s % 4.
    """
    i, s = np.arange(256), np.arange(16)
    third = block[..., i % 32].astype(np.int64) >> i // 32 & 1
    pair = block[..., 32 + 32 * (i // 128) + i % 32].astype(np.int64) >> 2 * (i // 32 % 4) & 3
    packed = block[..., 96:108].astype(np.int64)
    scale = packed[..., s % 8] >> 4 * (s // 8) & 15
    scale |= (packed[..., 8 + s % 4] >> 2 * (s // 4) & 3) << 4
    d = _half(block[..., 108:110])[..., None]
    return d * np.repeat(scale - 32, 16, axis=-1) * (pair + 4 * third - 4)


def _q2_k(block):
    """16 bytes: scale in the low half, minimum in the high one; 64 of pairs as in q3_k;
    f16 d, f16 dmin. x = d * scale * q - dmin * minimum, groups of 16."""
    i = np.arange(256)
    pair = block[..., 16 + 32 * (i // 128) + i % 32].astype(np.int64) >> 2 * (i // 32 % 4) & 3
    packed = np.repeat(block[..., :16].astype(np.int64), 16, axis=-1)
    d, dmin = _half(block[..., 80:82])[..., None], _half(block[..., 82:84])[..., None]
    return d * (packed & 15) * pair - dmin * (packed >> 4)


#: iq4_nl: the sixteen levels of ggml.
LEVELS = np.array([-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113])


def _iq4_nl(block):
    """f16 d; 16 bytes of nibbles q. x = d * LEVELS[q]."""
    return _half(block[..., :2])[..., None] * LEVELS[_nibbles(block[..., 2:]).astype(int)]


def _q6_k(block):
    """128 bytes of low nibbles, 64 of high bit pairs, 16 scales i8, f16 d.

    x = d * scale * (q - 32), one scale for 16 elements. Each half of the block
    (128 elements) has 64 bytes of nibbles and 32 of pairs: quarter j of 32
    elements takes nibbles from bytes 32 * (j % 2) on, low ones for j < 2, and
    bits 2j, 2j+1 of the pairs.
    """
    d = _half(block[..., 208:210])
    scales = block[..., 192:208].view(np.int8).astype(np.float64)
    out = np.empty(block.shape[:-1] + (256,))
    for half in range(2):
        low = block[..., 64 * half : 64 * half + 64]
        high = block[..., 128 + 32 * half : 128 + 32 * half + 32]
        for quarter in range(4):
            nibble = low[..., 32 * (quarter % 2) :][..., :32] >> (4 * (quarter // 2))
            q = (nibble & 15) | ((high >> (2 * quarter) & 3) << 4)
            first = 128 * half + 32 * quarter
            scale = np.repeat(scales[..., first // 16 : first // 16 + 2], 16, axis=-1)
            out[..., first : first + 32] = d[..., None] * scale * (q.astype(float) - 32)
    return out


def _low_bits(block):
    """The pair of bits of element i: bits 2 * (i // 8) on of byte i % 8."""
    i = np.arange(32)
    return block[..., 4 + i % 8].astype(np.int64) >> 2 * (i // 8) & 3


def _shifted(block, q):
    d, m = _half(block[..., :2]), _half(block[..., 2:4])
    return d[..., None] * q + m[..., None]


def _q2_1(block):
    """f16 d, f16 m; 8 bytes of pairs of bits q. x = d * q + m."""
    return _shifted(block, _low_bits(block))


def _q3_1(block):
    """As q2_1, then 4 bytes of third bits: bit i // 4 of byte i % 4."""
    i = np.arange(32)
    third = block[..., 12 + i % 4].astype(np.int64) >> i // 4 & 1
    return _shifted(block, _low_bits(block) + 4 * third)


_DECODERS = {
    "q8_0": _q8_0,
    "q4_0": _q4_0,
    "q4_1": _q4_1,
    "q4_k": _q4_k,
    "q6_k": _q6_k,
    "q3_1": _q3_1,
    "q2_1": _q2_1,
    "q5_0": _q5_0,
    "q5_1": _q5_1,
    "q5_k": _q5_k,
    "q3_k": _q3_k,
    "q2_k": _q2_k,
    "iq4_nl": _iq4_nl,
}


def dequantize(blocks, name):
    blocks = np.ascontiguousarray(blocks).view(np.uint8)
    assert blocks.shape[-1] == FORMATS[name][1], (blocks.shape, name)
    with np.errstate(invalid="ignore", over="ignore"):
        values = _DECODERS[name](blocks)
    return values.reshape(values.shape[:-2] + (-1,))


def quantize_activation(x, block=32):
    """8 bits per element: (q as int8, one f32 scale per block), last dim.

    scale = max|x| / 127 and q = x / scale to nearest, ties to even, both in
    f32. A block of zeros has scale 0 and q = 0. Multiplying by 127 / max|x|
    instead may round a value that is nearly between two integers the other way.
    """
    x = np.asarray(x, dtype=np.float32)
    cut = x.reshape(x.shape[:-1] + (-1, block))
    scale = np.abs(cut).max(axis=-1) / np.float32(127)
    divisor = np.where(scale == 0, np.float32(1), scale)[..., None]
    q = np.rint(cut / divisor).astype(np.int8)
    return q.reshape(x.shape), scale


def dequantize_activation(q, scale, block=32):
    cut = q.reshape(q.shape[:-1] + (-1, block)).astype(np.float64)
    return (cut * scale.astype(np.float64)[..., None]).reshape(q.shape)


def quantize_head_rows(x):
    """Rows of keys or values as a cache in 8 bits has them: (q as int8, an f32 scale
    for each row), last dim.

    q = x * (127 / max|x|) to nearest, ties to even, and scale = max|x| / 127, in f32. Both
    are 0 for a row that is smaller than 2^-100 everywhere. A row with a NaN or an infinity
    has a scale that is not finite and q = 0: it reads as NaN.
    """
    x = np.asarray(x, dtype=np.float32)
    largest = np.abs(x).max(axis=-1)
    small, finite = largest < np.float32(2.0**-100), np.isfinite(largest)
    usable = finite & ~small
    inverse = np.float32(127) / np.where(usable, largest, np.float32(1))
    q = np.rint(np.where(usable[..., None], x, np.float32(0)) * inverse[..., None])
    return q.astype(np.int8), np.where(small, np.float32(0), largest / np.float32(127))


def key_magnitudes(bias, size):
    """What keys are divided by before they become 8 bits, heads x size: how large the bias is
    in a number or in the other one of its rotary pair, half a head away, in units of the
    head's median, which counts as 1 where it is less; at least 1."""
    bias = np.abs(np.asarray(bias, np.float64).reshape(-1, size))
    pairs = np.maximum(bias, np.roll(bias, size // 2, axis=1))
    median = np.maximum(np.sort(pairs, axis=1)[:, size // 2], 1)[:, None]
    return np.maximum(pairs / median, 1)


def expand_head_rows(q, scale):
    with np.errstate(invalid="ignore"):
        return q.astype(np.float64) * np.asarray(scale, np.float64)[..., None]


def quantized_matmul(q, scale, blocks, name):
    """gist.quantized_matmul: quantised rows times a block-quantised weight."""
    return dequantize_activation(q, scale) @ dequantize(blocks, name).T
