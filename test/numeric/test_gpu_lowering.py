# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels written by hand on buffers, lowered for gfx942 and run on the
simulator: the signature, workgroup memory, and functions of numbers."""

import math

import numpy as np
import pytest

from gpu_kernels import Kernels, rows

THREADS = 64


def elementwise(body, elements="f32"):
    """A kernel that computes %r from %x, number by number; one row a workgroup."""
    return f"""
#rows = affine_map<()[s0] -> (s0)>
func.func private @f(%a: memref<?x{THREADS}x{elements}>, %b: memref<?x{THREADS}x{elements}>)
    attributes {{gist.kernel = #gist.kernel<kind = rows, outputs = 0>, gist.grid = [#rows], gist.workgroup = array<i64: {THREADS}>}} {{
  %thread = gpu.thread_id x
  %row = gpu.block_id x
  %x = memref.load %a[%row, %thread] : memref<?x{THREADS}x{elements}>
  {body}
  memref.store %r, %b[%row, %thread] : memref<?x{THREADS}x{elements}>
  return
}}
"""


def evaluate(op, x, dtype=np.float32):
    elements = {np.float32: "f32", np.float16: "f16"}[dtype]
    x = np.resize(np.asarray(x, dtype), (-(-len(x) // THREADS), THREADS))
    y = np.full_like(x, np.nan)
    kernels = Kernels(elementwise(f"%r = {op} %x : {elements}", elements), ["gist-gpu"])
    kernels.call("f", rows(x), rows(y))
    return x.ravel(), y.ravel()


def relative_error(y, expected):
    return np.max(np.abs(y - expected) / np.abs(expected))


def each(function, x):
    return np.array([function(float(value)) for value in x])


#: op -> (the function in double precision, arguments, relative error allowed)
FUNCTIONS = {
    "math.exp": (math.exp, np.linspace(-87.3, 88.7, 4096), 4e-7),
    "math.exp2": (lambda x: 2.0**x, np.linspace(-125.9, 127.9, 4096), 4e-7),
    "math.tanh": (math.tanh, np.linspace(-9, 9, 4096), 1e-6),
    "math.erf": (math.erf, np.linspace(-4, 4, 4096), 1e-5),
    "math.log": (math.log, np.geomspace(1e-37, 1e37, 4096), 1e-6),
    "math.log2": (math.log2, np.geomspace(1e-37, 1e37, 4096), 1e-6),
    "math.log1p": (math.log1p, np.geomspace(1e-6, 1e6, 4096), 1e-6),
    "math.sqrt": (math.sqrt, np.geomspace(1e-37, 1e37, 4096), 1e-7),
    "math.rsqrt": (lambda x: x**-0.5, np.geomspace(1e-37, 1e37, 4096), 4e-7),
    "math.absf": (abs, np.linspace(-3, 3, 640), 0),
}


@pytest.mark.parametrize("op", FUNCTIONS)
def test_function(op):
    function, arguments, tolerance = FUNCTIONS[op]
    x, y = evaluate(op, arguments)
    expected = each(function, x)
    keep = np.abs(expected) > 1e-30
    assert relative_error(y[keep], expected[keep]) <= tolerance


@pytest.mark.parametrize("op, function", [("math.sin", math.sin), ("math.cos", math.cos)])
def test_angle(op, function):
    # Angles of rotary embeddings: positions in a long context.
    x, y = evaluate(op, np.linspace(-10, 9000, 8192))
    assert np.max(np.abs(y - each(function, x))) <= 2e-6


def test_limits_of_exp():
    x, y = evaluate("math.exp", [0.0, -0.0, np.inf, -np.inf, np.nan, 90, -120, 1e30, -1e30])
    np.testing.assert_array_equal(y[:9], [1, 1, np.inf, 0, np.nan, np.inf, 0, np.inf, 0])


def test_half():
    x, y = evaluate("math.exp", np.linspace(-8, 8, 640), np.float16)
    assert relative_error(y.astype(float), each(math.exp, x)) <= 2**-11


def test_vectors_and_workgroup_memory():
    """Rows of 1024 f16: wide loads, sums across a wave and, through workgroup
    memory, across two; a number from its slot."""
    steps, previous = "", "%sum"
    for bit in range(6):
        steps += f"""
  %mask{bit} = arith.constant {1 << bit} : i32
  %other{bit}, %valid{bit} = gpu.shuffle xor {previous}, %mask{bit}, %width : f32
  %sum{bit} = arith.addf {previous}, %other{bit} : f32"""
        previous = f"%sum{bit}"
    text = f"""
#rows = affine_map<()[s0, s1, s2] -> (s1)>
func.func private @rowsum(%x: memref<?x1024xf16>, %scale: index, %y: memref<?xf32>)
    attributes {{gist.kernel = #gist.kernel<kind = rows, outputs = 0>, gist.grid = [#rows], gist.workgroup = array<i64: 128>}} {{
  %sums = memref.alloca() : memref<2xf32, #gpu.address_space<workgroup>>
  %thread = gpu.thread_id x
  %row = gpu.block_id x
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %width = arith.constant 64 : i32
  %column = arith.muli %thread, %c8 : index
  %v = vector.load %x[%row, %column] : memref<?x1024xf16>, vector<8xf16>
  %f = arith.extf %v : vector<8xf16> to vector<8xf32>
  %sum = vector.reduction <add>, %f, %zero : vector<8xf32> into f32
  {steps}
  %wave = arith.divui %thread, %c64 : index
  %lane = arith.remui %thread, %c64 : index
  %isFirst = arith.cmpi eq, %lane, %c0 : index
  scf.if %isFirst {{
    memref.store {previous}, %sums[%wave] : memref<2xf32, #gpu.address_space<workgroup>>
  }}
  gpu.barrier
  %isLast = arith.cmpi eq, %thread, %c0 : index
  scf.if %isLast {{
    %a = memref.load %sums[%c0] : memref<2xf32, #gpu.address_space<workgroup>>
    %b = memref.load %sums[%c1] : memref<2xf32, #gpu.address_space<workgroup>>
    %t = arith.addf %a, %b : f32
    %i = arith.index_cast %scale : index to i32
    %s = arith.sitofp %i : i32 to f32
    %r = arith.mulf %t, %s : f32
    memref.store %r, %y[%row] : memref<?xf32>
  }}
  return
}}
"""
    kernels = Kernels(text, ["gist-gpu"])
    for count in (1, 5):
        x = np.random.default_rng(count).standard_normal((count, 1024)).astype(np.float16)
        y = np.full(count, np.nan, np.float32)
        kernels.call("rowsum", rows(x), 3, rows(y))
        np.testing.assert_allclose(y, 3 * x.astype(np.float64).sum(1), atol=1e-4)
