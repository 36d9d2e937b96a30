# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Element types, and how far a computation in f32 may stray from this one.

NumPy has no bf16 and no floats of 8 bits, which travel as their bytes. A bf16 array travels as the uint16 view of its bits; it is
made by rounding f32 to nearest even, and widened by a shift, which is exact.
"""

import numpy as np

#: One half unit in the last place of 1: the relative error of one rounding.
UNIT_ROUNDOFF = {"f32": 2.0**-24, "f16": 2.0**-11, "bf16": 2.0**-8}

#: What a NumPy array of each element type is made of.
STORAGE = {
    "f32": np.dtype(np.float32),
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(np.uint16),
    "i32": np.dtype(np.int32),
    "i8": np.dtype(np.int8),
    "i1": np.dtype(np.bool_),
    "index": np.dtype(np.int64),
    "i64": np.dtype(np.int64),
    "f8E4M3FN": np.dtype(np.uint8),
    "f8E4M3FNUZ": np.dtype(np.uint8),
}


def f32_to_bf16(x):
    """Rounds to nearest, ties to even; a NaN stays a (quiet) NaN."""
    bits = np.ascontiguousarray(x, dtype=np.float32).view(np.uint32)
    # Adding just under half, plus the last kept bit, carries exactly when
    # round-to-nearest-even does. A carry out of the mantissa is the right
    # exponent, and out of the largest finite number it is infinity.
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    is_nan = (bits & 0x7FFFFFFF) > 0x7F800000
    return np.where(is_nan, (bits >> 16) | 0x40, rounded).astype(np.uint16)


def bf16_to_f32(bits):
    wide = np.ascontiguousarray(bits, dtype=np.uint16).astype(np.uint32) << 16
    return wide.view(np.float32)


def store(x, element):
    """The values of `x` rounded to an element type, in its storage."""
    x = np.asarray(x, dtype=np.float32)
    if element == "bf16":
        return f32_to_bf16(x)
    with np.errstate(over="ignore"):
        return x.astype(STORAGE[element])


def load(stored, element):
    """Stored values as float64, exactly."""
    if element == "bf16":
        return bf16_to_f32(stored).astype(np.float64)
    return np.asarray(stored).astype(np.float64)


def round_to(x, element):
    """Rounds the values of `x` to an element type; the result is float64."""
    return load(store(x, element), element)


def theta_of(tau):
    """1 - tau^2 in f32 arithmetic, from the f32 attribute."""
    tau = np.float32(tau)
    return float(np.float32(1) - tau * tau)


def cosine_error(d):
    """A bound on the error of a cosine of two rows of length d in f32.

    With u = 2^-24, a sum of d products in any order is off by at most d*u
    relative to the sum of their magnitudes, and that sum is at most the
    product of the norms. Each norm's square is off by d*u, so its inverse root
    by half of that, twice: 2*d*u together. Root, division and the two scalings
    add a few more. Holds where no square leaves the range of normal numbers.
    """
    return (2 * d + 16) * UNIT_ROUNDOFF["f32"]


def assert_close(got, want, element="f32", rtol=1e-5, floor=0.0):
    """Compares rows (last dimension): NaN where NaN, the rest within bounds.

    An error may reach `rtol` of the largest magnitude in its row, or of
    `floor` where the row's terms cancel, plus the rounding of the result to
    its element type. `want` is float64, `got` is in storage.
    """
    values = load(got, element)
    want = np.asarray(want, dtype=np.float64)
    assert values.shape == want.shape, f"{values.shape} for {want.shape}"
    np.testing.assert_array_equal(np.isnan(values), np.isnan(want))
    limit = {"f16": 65504.0 + 16, "bf16": 3.4e38, "f32": 3.4028235e38}[element]
    with np.errstate(invalid="ignore"):
        want = np.where(np.abs(want) >= limit, np.sign(want) * np.inf, want)
    infinite = np.isinf(want)
    np.testing.assert_array_equal(values[infinite], want[infinite])
    finite = np.isfinite(want)
    magnitude = np.where(finite, np.abs(want), 0.0)
    scale = np.maximum(magnitude.max(axis=-1, keepdims=True, initial=0.0), floor)
    tiny = {"f16": 2.0**-24, "bf16": 1e-38, "f32": 1e-38}[element]
    rounding = 0.0 if element == "f32" else UNIT_ROUNDOFF[element]
    bound = rtol * scale + rounding * magnitude * (1 + rtol) + tiny
    error = np.where(
        finite, np.abs(np.where(finite, values, 0) - np.where(finite, want, 0)), 0
    )
    worst = np.max(error / bound, initial=0.0)
    assert worst <= 1, f"error is {worst:.3g} times its bound"


def f8_values(element):
    """What each of the 256 bytes stands for: a sign, four bits of exponent and
    three of fraction."""
    byte = np.arange(256)
    exponent, fraction = byte >> 3 & 15, (byte & 7) / 8.0
    bias = {"f8E4M3FN": 7, "f8E4M3FNUZ": 8}[element]
    values = np.where(exponent == 0, fraction * 2.0 ** (1 - bias), (1 + fraction) * 2.0 ** (exponent - bias))
    values = np.where(byte < 128, values, -values)
    values[[0x7F, 0xFF] if element == "f8E4M3FN" else 0x80] = np.nan
    return values


def f32_to_f8(x, element):
    """The nearest number, the even byte between two; beyond the largest, that."""
    positive = f8_values(element)[:127 if element == "f8E4M3FN" else 128]
    size = np.abs(np.asarray(x, np.float64))
    above = np.clip(np.searchsorted(positive, size), 1, len(positive) - 1)
    low, high = size - positive[above - 1], positive[above] - size
    isLower = (low < high) | ((low == high) & (above % 2 == 1))
    byte = np.where(isLower, above - 1, above)
    # The format of one zero has a NaN where the other has -0.
    sign = np.signbit(x) & ((byte != 0) | (element == "f8E4M3FN"))
    return (byte + 128 * sign).astype(np.uint8)


def f8_to_f32(byte, element):
    return f8_values(element)[byte].astype(np.float32)
