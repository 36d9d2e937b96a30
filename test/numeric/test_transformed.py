# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Transformations that must not change what is computed.

Tiles: an op cut into tiles, that do not divide its sizes where it allows that,
gives the same bits as the whole, since each result is the same sum in the same
order. Canonical forms: the ones that replace an op by a cheaper one agree with
the reference.
"""

import numpy as np
import pytest

import harness
import texts
from reference import generators, numerics
from reference.attention import attention
from reference.quantization import FORMATS
from reference.selection import gram_select

TOKENS, HEADS, KV_HEADS, WIDTH = 23, 8, 4, 6
SHAPE = (HEADS, KV_HEADS, WIDTH, WIDTH)


def heads(rng, total, keys=None, element="f16"):
    sizes = [(total, HEADS), (keys or total, KV_HEADS), (keys or total, KV_HEADS)]
    return [
        numerics.store(rng.standard_normal((*size, WIDTH)), element) for size in sizes
    ]


def selection_parts(rng, total, per_head=False, offsets=None):
    def one():
        x = generators.clustered(rng, total, 5)
        chosen = gram_select(x, 0.5, causal=True, offsets=offsets)
        return [getattr(chosen, part) for part in texts.PARTS]

    if not per_head:
        return one()
    return [np.stack(part) for part in zip(*(one() for _ in range(KV_HEADS)))]


def draw_attention(rng):
    return heads(rng, TOKENS, 31)


def draw_mask(rng):
    mask = rng.standard_normal((TOKENS, 31)).astype(np.float32)
    return [*heads(rng, TOKENS, 31), mask]


CUTS = np.array([0, 4, 4, 17, TOKENS], np.int32)


def draw_ragged(rng):
    return [*heads(rng, TOKENS, 31), CUTS, CUTS + np.array([0, 3, 5, 8, 8], np.int32)]


def draw_blocks(rng):
    raw = rng.integers(256, size=(TOKENS, 6, FORMATS["q4_1"][1]), dtype=np.uint8)
    raw[..., 1] &= 0x3F  # The high bytes of d and m: numbers of moderate size.
    raw[..., 3] &= 0x3F
    return [raw.view(np.int8)]


#: name -> (text, op, tile sizes, draw the arguments)
TILES = {
    "attention": (
        texts.attention("f", "f16", *SHAPE, "causal window 9 sinks 2"),
        "gist.attention",
        [(5, 0), (5, 1), (0, 3), (64, 4)],
        draw_attention,
    ),
    "attention_mask": (
        texts.attention("f", "f16", *SHAPE, "", mask=True),
        "gist.attention",
        [(5, 3)],
        draw_mask,
    ),
    "attention_mask_causal": (
        texts.attention("f", "f16", *SHAPE, "causal", mask=True),
        "gist.attention",
        [(5, 2)],
        draw_mask,
    ),
    "attention_ragged": (
        texts.attention("f", "f16", *SHAPE, "causal", ragged=True),
        "gist.attention",
        [(3,)],
        draw_ragged,
    ),
    "dequantize": (
        texts.dequantize("f", "q4_1", 6, 20, 32),
        "gist.dequantize",
        [(4, 0), (4, 2), (0, 3)],
        draw_blocks,
    ),
}


@pytest.mark.parametrize("name", TILES)
def test_tiles_change_no_bit(name):
    text, op, tilings, draw = TILES[name]
    whole = harness.build(text)
    for sizes in tilings:
        tiled = harness.build_tiled(text, op, sizes)
        rng = np.random.default_rng(0)
        for _ in range(3):
            arguments = draw(rng)
            for want, got in zip(whole.f(*arguments), tiled.f(*arguments), strict=True):
                np.testing.assert_array_equal(got, want)


ALL_KEPT = """
func.func @f(%q: tensor<?x8x6xf32>, %k: tensor<?x4x6xf32>, %v: tensor<?x4x6xf32>,
             %x: tensor<?x5xf32>) -> tensor<?x8x6xf32>
    attributes {{llvm.emit_c_interface}} {{
  %s = gist.gram_select %x, 0.0 causal : tensor<?x5xf32>
  %o = gist.attend %q, %k, %v on %s mode {words}
      : tensor<?x8x6xf32>, tensor<?x4x6xf32>, tensor<?x4x6xf32>, !gist.selection<?>
  return %o : tensor<?x8x6xf32>
}}
"""


@pytest.mark.parametrize(
    "words",
    [
        "copy causal",
        "copy log_count",
        "keys causal window 2 block 3",
        "keys merge representative",
    ],
)
@pytest.mark.parametrize("before", [(), ("-canonicalize",)], ids=str)
def test_attending_to_all_is_dense_attention(words, before):
    library = harness.build(ALL_KEPT.format(words=words), before)
    rng = np.random.default_rng(1)
    stored = heads(rng, 13, element="f32")
    # Equal rows: tau = 0 keeps them all the same.
    (got,) = library.f(*stored, np.ones((13, 5), np.float32))
    want = attention(*stored, causal="causal" in words)
    numerics.assert_close(got, want, floor=0.1)


GATE = """
func.func @f(%x: tensor<?x97x{x}>, %v: tensor<97x{k}x{w}>, %w: tensor<7x97x{w}>,
             %m: tensor<7x{k}x{w}>, %b: tensor<7x{w}>) -> tensor<?x7x{x}>
    attributes {{llvm.emit_c_interface}} {{
  %y, %level = gist.gated_projection %x, %v, {epsilon} weights(%w : tensor<7x97x{w}>)
      images(%m : tensor<7x{k}x{w}>) biases(%b : tensor<7x{w}>)
      : tensor<?x97x{x}>, tensor<97x{k}x{w}>
  return %y : tensor<?x7x{x}>
}}
"""


@pytest.mark.parametrize("k, epsilon", [(4, 0.0), (97, 0.5)])
@pytest.mark.parametrize("elements", [("f32", "f32"), ("f32", "bf16"), ("f16", "f16")])
@pytest.mark.parametrize("before", [(), ("-canonicalize",)], ids=str)
def test_a_gate_that_hides_nothing_is_a_linear_layer(k, epsilon, elements, before):
    """epsilon = 0 always adds the residual; with k = d it is zero.

    Long enough rows that a sum in less than f32 shows.
    """
    element, weight_element = elements
    text = GATE.format(k=k, epsilon=epsilon, x=element, w=weight_element)
    library = harness.build(text, before)
    rng = np.random.default_rng(2)
    # Columns of a permutation: a basis and an image that any type holds exactly.
    basis = np.eye(97)[:, rng.permutation(97)[:k]]
    x = numerics.round_to(rng.standard_normal((12, 97)), element)
    x[3] = 0
    w = numerics.round_to(rng.standard_normal((7, 97)), weight_element)
    bias = numerics.round_to(rng.standard_normal(7), weight_element)
    layer = [numerics.store(a, weight_element) for a in (basis, w, w @ basis, bias)]
    (y,) = library.f(numerics.store(x, element), *layer)
    numerics.assert_close(y, x @ w.T + bias, element)
