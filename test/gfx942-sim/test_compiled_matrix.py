"""Matrix code as LLVM emits it, hazards and waits included: no check may find
anything, at any distance between the instructions that LLVM leaves."""

import numpy as np
import pytest

import simulator
from test_matrix import BYTES, SHAPES, place_factor, random_bytes, result_position

# Of the shapes in test_matrix: builtin, operand type, result type and registers.
HALF, BF16 = "f16x4", "s16x4"
BUILTINS = {
    "f32_32x32x8_f16": ("f32_32x32x8f16", HALF, "f32", 16),
    "f32_16x16x16_f16": ("f32_16x16x16f16", HALF, "f32", 4),
    "f32_4x4x4_16b_f16": ("f32_4x4x4f16", HALF, "f32", 4),
    "f32_32x32x4_2b_f16": ("f32_32x32x4f16", HALF, "f32", 32),
    "f32_32x32x8_bf16": ("f32_32x32x8bf16_1k", BF16, "f32", 16),
    "f32_16x16x16_bf16": ("f32_16x16x16bf16_1k", BF16, "f32", 4),
    "f32_32x32x16_fp8_fp8": ("f32_32x32x16_fp8_fp8", "i64", "f32", 16),
    "f32_16x16x32_bf8_fp8": ("f32_16x16x32_bf8_fp8", "i64", "f32", 4),
    "i32_32x32x16_i8": ("i32_32x32x16_i8", "i64", "i32", 16),
    "i32_16x16x32_i8": ("i32_16x16x32_i8", "i64", "i32", 4),
    "f32_32x32x2_f32": ("f32_32x32x2f32", "f32", "f32", 16),
    "f32_16x16x4_f32": ("f32_16x16x4f32", "f32", "f32", 4),
    "f32_4x4x1_16b_f32": ("f32_4x4x1f32", "f32", "f32", 4),
    "f64_16x16x4_f64": ("f64_16x16x4f64", "f64", "f64", 4),
}
SOURCE = """
typedef _Float16 f16x4 __attribute__((ext_vector_type(4)));
typedef short s16x4 __attribute__((ext_vector_type(4)));
typedef float f32; typedef double f64; typedef int i32; typedef long i64;
#define G __attribute__((address_space(1)))
"""
# d = c + AB, e = d + AB; the results are read at once, and e takes d as C.
KERNEL = """
typedef {result} v_{name} __attribute__((ext_vector_type({count})));
__attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(64, 64)))
void {name}(G const {operand} *a, G const {operand} *b, G const v_{name} *c, G v_{name} *out) {{
  int i = __builtin_amdgcn_workitem_id_x();
  {operand} x = a[i], y = b[i];
  v_{name} d = __builtin_amdgcn_mfma_{builtin}(x, y, c[i], 0, 0, 0);
  v_{name} e = __builtin_amdgcn_mfma_{builtin}(x, y, d, 0, 0, 0);
  out[i] = d + e;
}}
"""


@pytest.fixture(scope="module")
def modules(hip):
    source = SOURCE + "".join(
        KERNEL.format(name=name, builtin=b, operand=o, result=r, count=n)
        for name, (b, o, r, n) in BUILTINS.items())
    return {level: hip.load(simulator.compile_gpu(source, level)) for level in ("-O1", "-O3")}


@pytest.mark.parametrize("level", ["-O1", "-O3"])
@pytest.mark.parametrize("name", BUILTINS)
def test_chain(hip, modules, name, level):
    shape = next(s for s in SHAPES if s[0] == name)
    _, kind_a, kind_b, rows, k_size, blocks = shape
    rng = np.random.default_rng(len(name))
    is_double, is_int = kind_a == "f64", kind_a == "i8"
    raw_a, a = random_bytes(rng, kind_a, (blocks, rows, k_size))
    raw_b, b = random_bytes(rng, kind_b, (blocks, rows, k_size))
    dtype = np.float64 if is_double else np.int32 if is_int else np.float32
    registers = rows * rows * blocks // 64
    c = rng.integers(-1000, 1000, (blocks, rows, rows)).astype(np.float64)
    product = 2 * c + 3 * np.einsum("bik,bjk->bij", a, b)
    lanes_c, expected = (np.zeros((64, registers), dtype) for _ in range(2))
    for lane in range(64):
        for register in range(registers):
            at = result_position(lane, register, rows, is_double)
            lanes_c[lane, register], expected[lane, register] = c[at], product[at]
    result = np.zeros_like(expected)
    hip.run(modules[level], name,
            [place_factor(raw_a, rows, k_size, blocks, BYTES[kind_a]),
             place_factor(raw_b, rows, k_size, blocks, BYTES[kind_b]), lanes_c, result])
    np.testing.assert_array_equal(result, expected)
