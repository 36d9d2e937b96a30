# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The harness itself: shapes, element types, ownership, and what it catches."""

import numpy as np
import pytest

import harness
from reference import numerics

PLAIN = """
#row = affine_map<(t, d) -> (t, d)>
#reduce = affine_map<(t, d) -> (t)>

func.func @row_norms(%x: tensor<?x?x{type}>) -> (tensor<?xf32>, tensor<?x?x{type}>)
    attributes {{llvm.emit_c_interface}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %t = tensor.dim %x, %c0 : tensor<?x?x{type}>
  %d = tensor.dim %x, %c1 : tensor<?x?x{type}>
  %e = tensor.empty(%t) : tensor<?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {{indexing_maps = [#row, #reduce],
                        iterator_types = ["parallel", "reduction"]}}
      ins(%x : tensor<?x?x{type}>) outs(%z : tensor<?xf32>) {{
  ^bb0(%a: {type}, %sum: f32):
    %w = {widen}
    %p = arith.mulf %w, %w : f32
    %q = arith.addf %sum, %p : f32
    linalg.yield %q : f32
  }} -> tensor<?xf32>
  %n = linalg.sqrt ins(%s : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %o = tensor.empty(%t, %d) : tensor<?x?x{type}>
  %y = linalg.generic {{indexing_maps = [#row, #reduce, #row],
                        iterator_types = ["parallel", "parallel"]}}
      ins(%x, %n : tensor<?x?x{type}>, tensor<?xf32>) outs(%o : tensor<?x?x{type}>) {{
  ^bb0(%a: {type}, %r: f32, %out: {type}):
    %w = {widen}
    %p = arith.divf %w, %r : f32
    %x0 = math.exp %p : f32
    %m = {narrow}
    linalg.yield %m : {type}
  }} -> tensor<?x?x{type}>
  return %n, %y : tensor<?xf32>, tensor<?x?x{type}>
}}
"""

# Returns an argument, a slice and a scalar: none may be handed over as it is.
OWNERSHIP = """
func.func @parts(%x: tensor<?xf32>, %n: index)
    -> (tensor<?xf32>, tensor<?xf32>, tensor<i32>, tensor<3xi8>)
    attributes {llvm.emit_c_interface} {
  %head = tensor.extract_slice %x[1] [%n] [2] : tensor<?xf32> to tensor<?xf32>
  %i = arith.index_cast %n : index to i32
  %count = tensor.from_elements %i : tensor<i32>
  %bytes = arith.constant dense<[1, -2, 3]> : tensor<3xi8>
  return %x, %head, %count, %bytes
      : tensor<?xf32>, tensor<?xf32>, tensor<i32>, tensor<3xi8>
}
"""

FORGETFUL = """
func.func @uninitialised(%n: index) -> tensor<?xf32>
    attributes {llvm.emit_c_interface} {
  %x = bufferization.alloc_tensor(%n) : tensor<?xf32>
  return %x : tensor<?xf32>
}
"""


@pytest.mark.parametrize("element", ["f32", "f16", "bf16"])
def test_dynamic_shapes_in_every_type(element):
    widen = f"arith.extf %a : {element} to f32"
    narrow = f"arith.truncf %x0 : f32 to {element}"
    if element == "f32":
        widen, narrow = "arith.addf %a, %zero : f32", "arith.addf %x0, %zero : f32"
    library = harness.build(PLAIN.format(type=element, widen=widen, narrow=narrow))
    rng = np.random.default_rng(0)
    for total, d in [(1, 1), (3, 5), (0, 4), (17, 31)]:
        values = rng.standard_normal((total, d)) + 2
        values[1:2] = np.nan
        x = numerics.store(values, element)
        norms, y = library.row_norms(x)
        want = np.linalg.norm(numerics.load(x, element), axis=1)
        np.testing.assert_allclose(norms, want, rtol=1e-6)
        expected = np.exp(numerics.load(x, element) / want[:, None])
        numerics.assert_close(y, expected, element, rtol=1e-6)


def test_results_are_copies_that_are_freed():
    library = harness.build(OWNERSHIP)
    x = np.arange(9, dtype=np.float32)
    for _ in range(3):
        same, head, count, data = library.parts(x, 4)
        np.testing.assert_array_equal(same, x)
        np.testing.assert_array_equal(head, [1, 3, 5, 7])
        assert count.shape == () and count == 4 and data.tolist() == [1, -2, 3]


def test_uninitialised_memory_does_not_look_like_a_result():
    (x,) = harness.build(FORGETFUL).uninitialised(5)
    assert (x > 1e38).all()


def test_wrong_shapes_are_refused():
    library = harness.build(OWNERSHIP)
    with pytest.raises(AssertionError, match="shape"):
        library.parts(np.zeros((2, 2), np.float32), 1)
    with pytest.raises(AttributeError):
        library.nothing()


def test_bad_text_is_a_compile_error():
    with pytest.raises(harness.CompileError, match="error"):
        harness.build("func.func @f( attributes")
