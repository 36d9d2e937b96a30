"""MFMA against NumPy. The register layouts are written here from the CDNA3
manual's description, apart from the C++: element (i, k) of A and (k, j) of B by
lane and position, element (i, j) of D by lane and register."""

import numpy as np
import pytest

import simulator

# name, input types, rows, K, blocks
SHAPES = [
    ("f32_32x32x8_f16", "f16", "f16", 32, 8, 1),
    ("f32_16x16x16_f16", "f16", "f16", 16, 16, 1),
    ("f32_32x32x4_2b_f16", "f16", "f16", 32, 4, 2),
    ("f32_16x16x4_4b_f16", "f16", "f16", 16, 4, 4),
    ("f32_4x4x4_16b_f16", "f16", "f16", 4, 4, 16),
    ("f32_32x32x8_bf16", "bf16", "bf16", 32, 8, 1),
    ("f32_16x16x16_bf16", "bf16", "bf16", 16, 16, 1),
    ("f32_32x32x4_2b_bf16", "bf16", "bf16", 32, 4, 2),
    ("f32_16x16x4_4b_bf16", "bf16", "bf16", 16, 4, 4),
    ("f32_4x4x4_16b_bf16", "bf16", "bf16", 4, 4, 16),
    ("f32_32x32x16_fp8_fp8", "fp8", "fp8", 32, 16, 1),
    ("f32_32x32x16_fp8_bf8", "fp8", "bf8", 32, 16, 1),
    ("f32_32x32x16_bf8_fp8", "bf8", "fp8", 32, 16, 1),
    ("f32_32x32x16_bf8_bf8", "bf8", "bf8", 32, 16, 1),
    ("f32_16x16x32_fp8_fp8", "fp8", "fp8", 16, 32, 1),
    ("f32_16x16x32_fp8_bf8", "fp8", "bf8", 16, 32, 1),
    ("f32_16x16x32_bf8_fp8", "bf8", "fp8", 16, 32, 1),
    ("f32_16x16x32_bf8_bf8", "bf8", "bf8", 16, 32, 1),
    ("i32_32x32x16_i8", "i8", "i8", 32, 16, 1),
    ("i32_16x16x32_i8", "i8", "i8", 16, 32, 1),
    ("i32_32x32x4_2b_i8", "i8", "i8", 32, 4, 2),
    ("i32_16x16x4_4b_i8", "i8", "i8", 16, 4, 4),
    ("i32_4x4x4_16b_i8", "i8", "i8", 4, 4, 16),
    ("f32_32x32x2_f32", "f32", "f32", 32, 2, 1),
    ("f32_16x16x4_f32", "f32", "f32", 16, 4, 1),
    ("f32_32x32x1_2b_f32", "f32", "f32", 32, 1, 2),
    ("f32_16x16x1_4b_f32", "f32", "f32", 16, 1, 4),
    ("f32_4x4x1_16b_f32", "f32", "f32", 4, 1, 16),
    ("f64_16x16x4_f64", "f64", "f64", 16, 4, 1),
]
BYTES = {"f16": 2, "bf16": 2, "fp8": 1, "bf8": 1, "i8": 1, "f32": 4, "f64": 8}


def fnuz(bits, mantissa, bias):
    """Value of an 8-bit fnuz number, from the definition of the format."""
    if bits == 0x80:
        return np.nan
    exponent, fraction = (bits & 0x7F) >> mantissa, bits & ((1 << mantissa) - 1)
    value = (fraction * 2.0 ** (1 - bias - mantissa) if exponent == 0
             else (1 + fraction * 2.0 ** -mantissa) * 2.0 ** (exponent - bias))
    return -value if bits & 0x80 else value


TABLES = {"fp8": np.array([fnuz(b, 3, 8) for b in range(256)]),
          "bf8": np.array([fnuz(b, 2, 16) for b in range(256)])}


def random_bytes(rng, kind, shape):
    """Random elements as raw bytes and as exact values. Values are small
    multiples of a power of two, so that every order of summation is exact."""
    small = rng.integers(-8, 9, shape).astype(np.float64)
    if kind == "i8":
        values = rng.integers(-128, 128, shape)
        return values.astype(np.int8).view(np.uint8), values.astype(np.float64)
    if kind in TABLES:
        table = TABLES[kind]
        lookup = {float(v): next(b for b in range(256) if b != 0x80 and table[b] == v)
                  for v in range(-8, 9) if (table == v).any()}
        small = rng.choice(sorted(lookup), shape)
        return np.vectorize(lookup.get)(small).astype(np.uint8), small
    if kind == "bf16":
        raw = (small.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    else:
        raw = small.astype({"f16": np.float16, "f32": np.float32, "f64": np.float64}[kind])
    return np.ascontiguousarray(raw).view(np.uint8), small


def place_factor(raw, rows, k_size, blocks, width):
    """Registers of A (as [block][row][k]) or B (as [block][column][k])."""
    per_lane = rows * k_size * blocks // 64
    groups = k_size // per_lane
    lanes = np.zeros((64, per_lane * width), np.uint8)
    raw = raw.reshape(blocks, rows, k_size, width)
    for lane in range(64):
        group = lane // rows
        for e in range(per_lane):
            lanes[lane, e * width:(e + 1) * width] = raw[
                group // groups, lane % rows, group % groups * per_lane + e]
    return lanes


def result_position(lane, register, rows, is_double):
    """(block, row, column) that a lane's result register holds."""
    if rows == 4:
        return lane // 4, register, lane % 4
    if is_double:
        return 0, 4 * register + lane // 16, lane % 16
    per_block = {32: 16, 16: 4}[rows]
    block, index = divmod(register, per_block)
    if rows == 32:
        return block, 8 * (index // 4) + 4 * (lane // 32) + index % 4, lane % 32
    return block, 4 * (lane // 16) + index, lane % 16


def load(register, count, offset, base):
    """Loads of `count` dwords per lane from offset + lane * count * 4."""
    lines, at = [f"  v_mul_u32_u24 v1, {4 * count}, v0"] if count <= 16 else [
        f"  s_movk_i32 s20, {4 * count}", "  v_mul_u32_u24 v1, s20, v0"], 0
    while at < count:
        n = 4 if count - at >= 4 else 2 if count - at >= 2 else 1
        name = {4: "dwordx4", 2: "dwordx2", 1: "dword"}[n]
        last = register + at + n - 1
        reg = f"{base}[{register + at}:{last}]" if n > 1 else f"{base}{register + at}"
        lines.append(f"  global_load_{name} {reg}, v1, s[{offset}:{offset + 1}] offset:{4 * at}")
        at += n
    return "\n".join(lines)


def regs(file, first, count):
    return f"{file}[{first}:{first + count - 1}]" if count > 1 else f"{file}{first}"


def make_kernel(shape, accumulate):
    """accumulate: the register file of C and D, v or a."""
    name, kind_a, kind_b, rows, k_size, blocks = shape
    size_a = rows * k_size * blocks // 64 * BYTES[kind_a] // 4
    size_b = rows * k_size * blocks // 64 * BYTES[kind_b] // 4
    size_d = rows * rows * blocks // 64 * (2 if kind_a == "f64" else 1)
    body = ["  s_load_dwordx8 s[8:15], s[0:1], 0x0", "  s_waitcnt lgkmcnt(0)"]
    body.append(load(4, size_a, 8, "v"))
    body.append(load(8, size_b, 10, "v"))
    body.append(load(16, size_d, 12, accumulate))
    d = regs(accumulate, 16, size_d)
    body.append(f"""  s_waitcnt vmcnt(0)
  v_mfma_{name} {d}, {regs("v", 4, size_a)}, {regs("v", 8, size_b)}, {d}
  s_nop 15
  s_nop 7""")
    for at in range(size_d):
        body.append(f"  global_store_dword v1, {accumulate}{16 + at}, s[14:15] offset:{4 * at}")
    return simulator.kernel_asm(f"{name}_{accumulate}", "\n".join(body))


@pytest.fixture(scope="module")
def module(hip):
    code = simulator.assemble([make_kernel(s, f) for s in SHAPES for f in "va"])
    return hip.load(code)


@pytest.mark.parametrize("accumulate", ["v", "a"])
@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: s[0])
def test_layout(hip, module, shape, accumulate):
    name, kind_a, kind_b, rows, k_size, blocks = shape
    rng = np.random.default_rng(SHAPES.index(shape))
    is_double, is_int = kind_a == "f64", kind_a == "i8"
    raw_a, a = random_bytes(rng, kind_a, (blocks, rows, k_size))
    raw_b, b = random_bytes(rng, kind_b, (blocks, rows, k_size))
    lanes_a = place_factor(raw_a, rows, k_size, blocks, BYTES[kind_a])
    lanes_b = place_factor(raw_b, rows, k_size, blocks, BYTES[kind_b])
    c = rng.integers(-1000, 1000, (blocks, rows, rows)).astype(np.float64)
    dtype = np.float64 if is_double else np.int32 if is_int else np.float32
    registers = rows * rows * blocks // 64
    lanes_c = np.zeros((64, registers), dtype)
    expected = np.zeros((64, registers), dtype)
    product = c + np.einsum("bik,bjk->bij", a, b)
    for lane in range(64):
        for register in range(registers):
            at = result_position(lane, register, rows, is_double)
            lanes_c[lane, register] = c[at]
            expected[lane, register] = product[at]
    result = np.zeros_like(expected)
    hip.run(module, f"{name}_{accumulate}", [lanes_a, lanes_b, lanes_c, result])
    np.testing.assert_array_equal(result, expected)
    counters = hip.counters()
    assert counters["instructions.mfma"] == 1
