# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""quantize_rows and quantized_matmul, executed by their definitions."""

import numpy as np
import pytest

import harness
from reference.quantization import FORMATS, HALVES, quantize_activation, quantized_matmul

TEXT = """
func.func @quantize(%x: tensor<?x512xf32>) -> (tensor<?x512xi8>, tensor<?x16xf32>)
    attributes {llvm.emit_c_interface} {
  %q, %s = gist.quantize_rows %x : tensor<?x512xf32>
  return %q, %s : tensor<?x512xi8>, tensor<?x16xf32>
}
""" + "".join(
    f"""
func.func @{name}(%q: tensor<?x512xi8>, %s: tensor<?x16xf32>, %w: tensor<5x{512 // values}x{size}xi8>)
    -> tensor<?x5xf32> attributes {{llvm.emit_c_interface}} {{
  %y = gist.quantized_matmul %q, %s, %w format {name}
      : tensor<?x512xi8>, tensor<?x16xf32>, tensor<5x{512 // values}x{size}xi8> -> tensor<?x5xf32>
  return %y : tensor<?x5xf32>
}}
"""
    for name, (values, size) in FORMATS.items()
)


@pytest.fixture(scope="module")
def library():
    return harness.build(TEXT)


def draw(seed, tokens):
    return np.random.default_rng(seed).standard_normal((tokens, 512)).astype("f4")


def test_quantize_rows(library):
    x = draw(1, 7)
    x[2, 64:96] = 0
    values, scales = library.quantize(x)
    expected, expected_scales = quantize_activation(x)
    np.testing.assert_array_equal(scales, expected_scales)
    # x / scale and x * (127 / max) may land on two sides of a tie.
    assert np.abs(values.astype(int) - expected).max() <= 1
    assert (values != expected).mean() < 0.01
    assert not values[2, 64:96].any()


@pytest.mark.parametrize("name", FORMATS)
def test_quantized_matmul(library, name):
    values, size = FORMATS[name]
    rng = np.random.default_rng(2)
    blocks = rng.integers(0, 256, (5, 512 // values, size), dtype=np.uint8)
    # Halves at the places of scales and minima must be finite: 0.1 to 0.25.
    for at in HALVES.get(name, [0]):
        blocks[:, :, at + 1] = 0x2F | (blocks[:, :, at + 1] & 0x80)
    q, s = quantize_activation(draw(3, 4))
    (y,) = getattr(library, name)(q, s, blocks.view(np.int8))
    expected = quantized_matmul(q, s, blocks.view(np.int8), name)
    np.testing.assert_allclose(y, expected, atol=1e-5 * np.abs(expected).max())
