# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""-gist-expand-floats against NumPy: every f16, and f32 at every edge of one."""

import re

import numpy as np
import pytest
from numeric import harness

# NumPy speaks of NaNs, of which there are many here.
pytestmark = pytest.mark.filterwarnings("ignore:invalid value")

BODY = """
  func.func @{name}(%x: tensor<?x{source}>) -> tensor<?x{result}>
      attributes {{llvm.emit_c_interface}} {{
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?x{source}>
    %e = tensor.empty(%n) : tensor<?x{result}>
    %y = linalg.generic {{
        indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
        iterator_types = ["parallel"]}}
        ins(%x : tensor<?x{source}>) outs(%e : tensor<?x{result}>) {{
    ^bb0(%in: {source}, %out: {result}):
      %r = {op} %in : {types}
      linalg.yield %r : {result}
    }} -> tensor<?x{result}>
    return %y : tensor<?x{result}>
  }}
"""

FUNCTIONS = [
    ("extend", "arith.extf", "f16", "f32"),
    ("truncate", "arith.truncf", "f32", "f16"),
    ("roundeven", "math.roundeven", "f32", "f32"),
    ("floor", "math.floor", "f32", "f32"),
    ("ceil", "math.ceil", "f32", "f32"),
]


def build():
    """The functions as x86-64 gets them; what is left runs on any machine."""
    text = ""
    for name, op, source, result in FUNCTIONS:
        types = f"{source} to {result}" if op.startswith("arith") else source
        text += BODY.format(name=name, op=op, source=source, result=result, types=types)
    target = 'triple = "x86_64-linux-gnu", cpu = "x86-64", features = ""'
    module = f"module attributes {{gist.target = #gist.cpu_target<{target}>}} {{{text}}}"
    opt = harness.tool("gist-opt", "GIST_OPT")
    expanded = harness.run([opt, "-gist-expand-floats", "-"], input=module)
    assert not re.search("|".join(op for _, op, _, _ in FUNCTIONS), expanded)
    return harness.build(re.sub(r"module attributes .*? {", "module {", expanded))


def same(ours, expected):
    """Equal bits, but any NaN for a NaN."""
    ours, expected = np.asarray(ours), np.asarray(expected)
    nan = np.isnan(expected)
    assert np.array_equal(np.isnan(ours), nan)
    bits = {2: np.uint16, 4: np.uint32}[expected.dtype.itemsize]
    wrong = (ours.view(bits) != expected.view(bits)) & ~nan
    assert not wrong.any(), (ours[wrong][:5], expected[wrong][:5])


def edges():
    """Each f16, its neighbours among the f32, and the middle to the next f16."""
    halves = np.arange(1 << 16, dtype=np.uint32).astype(np.uint16).view(np.float16)
    wide = halves[np.isfinite(halves)].astype(np.float32)
    with np.errstate(over="ignore"):
        step = np.abs(np.spacing(halves[np.isfinite(halves)]).astype(np.float32))
    values = [wide]
    for middle in (wide + step / 2, wide - step / 2):
        values += [middle, np.nextafter(middle, np.float32(np.inf))]
        values += [np.nextafter(middle, np.float32(-np.inf))]
    values.append(
        np.array(
            [np.inf, -np.inf, np.nan, 65519.996, 65520, 1e30, -1e30, 1e-30, 1e-45]
            + [-1e-45, 0.0, -0.0, 2.0**-25, 2.0**-24, 1.5 * 2.0**-25, 3.4e38],
            np.float32,
        )
    )
    generator = np.random.default_rng(5)
    bits = generator.integers(0, 1 << 32, 100_000, dtype=np.uint64)
    values.append(bits.astype(np.uint32).view(np.float32))
    return np.concatenate(values).astype(np.float32)


def test_every_half_becomes_a_float():
    halves = np.arange(1 << 16, dtype=np.uint32).astype(np.uint16).view(np.float16)
    (ours,) = build().extend(halves)
    same(ours, halves.astype(np.float32))


def test_floats_are_rounded_to_halves():
    values = edges()
    (ours,) = build().truncate(values)
    with np.errstate(over="ignore"):
        same(ours, values.astype(np.float16))


def test_roundings():
    values = edges()
    whole = np.arange(-3000, 3000, dtype=np.float32) / 4
    large = np.float32(2) ** np.arange(20, 32, dtype=np.float32)
    values = np.concatenate([values, whole, large + 0.5, -large - 0.5, large - 0.5])
    values = values.astype(np.float32)
    library = build()
    same(library.roundeven(values)[0], np.rint(values))
    same(library.floor(values)[0], np.floor(values))
    same(library.ceil(values)[0], np.ceil(values))
