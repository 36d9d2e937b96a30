"""Scalar instructions: result and SCC as functions of the sources and the old
SCC, from the ISA manual's definitions. One workgroup per set of sources."""

import numpy as np
import pytest

import simulator

M32, M64 = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF


def s(x, bits=32):
    x &= (1 << bits) - 1
    return x - (1 << bits) if x >> (bits - 1) else x


def nonzero(value, mask=M32):
    value &= mask
    return value, int(value != 0)


def overflows(value):
    return value & M32, int(not -2**31 <= value < 2**31)


def first(x):
    return (x & -x).bit_length() - 1 if x else -1


def same_signs(x, bits):
    """Distance from the top of the first bit that differs from the sign."""
    return next((i for i in range(1, bits) if x >> (bits - 1 - i) & 1 != x >> (bits - 1)), -1)


def extract(x, control, bits, signed):
    offset, width = control & (bits - 1), control >> 16 & 0x7F
    value = x >> offset & ((1 << width) - 1)
    if signed and width:
        top = min(width, bits - offset)
        value = s(value, top)
    return value


D, D2 = "s24", "s[24:25]"
A, B, A2, B2 = "s12", "s14", "s[12:13]", "s[14:15]"
# (assembly, result width, function(a, b, scc) -> (result, scc)); a and b are 64
# bits of which 32-bit instructions read the low half.
CASES = [
    (f"s_mov_b32 {D}, {A}", 32, lambda a, b, c: (a, c)),
    (f"s_mov_b64 {D2}, {A2}", 64, lambda a, b, c: (a, c)),
    (f"s_mov_b64 {D2}, -5", 64, lambda a, b, c: (-5, c)),
    (f"s_mov_b64 {D2}, 0xfedcba98", 64, lambda a, b, c: (0xFEDCBA98, c)),
    (f"s_cselect_b32 {D}, {A}, {B}", 32, lambda a, b, c: (a if c else b, c)),
    (f"s_cselect_b64 {D2}, {A2}, {B2}", 64, lambda a, b, c: (a if c else b, c)),
    (f"s_sext_i32_i8 {D}, {A}", 32, lambda a, b, c: (s(a, 8), c)),
    (f"s_sext_i32_i16 {D}, {A}", 32, lambda a, b, c: (s(a, 16), c)),
    (f"s_movk_i32 {D}, 0xff00", 32, lambda a, b, c: (-256, c)),
    (f"s_not_b64 {D2}, {A2}", 64, lambda a, b, c: nonzero(~a, M64)),
    (f"s_and_b32 {D}, {A}, {B}", 32, lambda a, b, c: nonzero(a & b)),
    (f"s_andn2_b64 {D2}, {A2}, {B2}", 64, lambda a, b, c: nonzero(a & ~b, M64)),
    (f"s_orn2_b32 {D}, {A}, {B}", 32, lambda a, b, c: nonzero(a | ~b)),
    (f"s_nand_b32 {D}, {A}, {B}", 32, lambda a, b, c: nonzero(~(a & b))),
    (f"s_xnor_b64 {D2}, {A2}, {B2}", 64, lambda a, b, c: nonzero(~(a ^ b), M64)),
    (f"s_brev_b32 {D}, {A}", 32, lambda a, b, c: (int(f"{a & M32:032b}"[::-1], 2), c)),
    (f"s_bcnt1_i32_b64 {D}, {A2}", 32, lambda a, b, c: nonzero(bin(a).count("1"))),
    (f"s_bcnt0_i32_b32 {D}, {A}", 32, lambda a, b, c: nonzero(32 - bin(a & M32).count("1"))),
    (f"s_ff1_i32_b32 {D}, {A}", 32, lambda a, b, c: (first(a & M32), c)),
    (f"s_ff0_i32_b64 {D}, {A2}", 32, lambda a, b, c: (first(~a & M64), c)),
    (f"s_flbit_i32_b32 {D}, {A}", 32, lambda a, b, c:
        (32 - (a & M32).bit_length() if a & M32 else -1, c)),
    (f"s_flbit_i32 {D}, {A}", 32, lambda a, b, c: (same_signs(a & M32, 32), c)),
    (f"s_flbit_i32_i64 {D}, {A2}", 32, lambda a, b, c: (same_signs(a, 64), c)),
    (f"s_lshl_b32 {D}, {A}, {B}", 32, lambda a, b, c: nonzero(a << (b & 31))),
    (f"s_lshr_b64 {D2}, {A2}, {B}", 64, lambda a, b, c: nonzero(a >> (b & 63), M64)),
    (f"s_ashr_i32 {D}, {A}, {B}", 32, lambda a, b, c: nonzero(s(a) >> (b & 31))),
    (f"s_ashr_i64 {D2}, {A2}, {B}", 64, lambda a, b, c: nonzero(s(a, 64) >> (b & 63), M64)),
    (f"s_bfm_b32 {D}, {A}, {B}", 32, lambda a, b, c:
        (((1 << (a & 31)) - 1) << (b & 31), c)),
    (f"s_bfe_u32 {D}, {A}, 0x70004", 32, lambda a, b, c:
        nonzero(extract(a & M32, 0x70004, 32, False))),
    (f"s_bfe_i32 {D}, {A}, 0x90013", 32, lambda a, b, c:
        nonzero(extract(a & M32, 0x90013, 32, True))),
    (f"s_bfe_i64 {D2}, {A2}, 0x150021", 64, lambda a, b, c:
        nonzero(extract(a, 0x150021, 64, True), M64)),
    (f"s_pack_lh_b32_b16 {D}, {A}, {B}", 32, lambda a, b, c:
        (a & 0xFFFF | b & 0xFFFF0000, c)),
    (f"s_add_u32 {D}, {A}, {B}", 32, lambda a, b, c:
        (a + b, int((a & M32) + (b & M32) > M32))),
    (f"s_sub_u32 {D}, {A}, {B}", 32, lambda a, b, c:
        (a - b, int((b & M32) > (a & M32)))),
    (f"s_addc_u32 {D}, {A}, {B}", 32, lambda a, b, c:
        (a + b + c, int((a & M32) + (b & M32) + c > M32))),
    (f"s_subb_u32 {D}, {A}, {B}", 32, lambda a, b, c:
        (a - b - c, int((b & M32) + c > (a & M32)))),
    (f"s_add_i32 {D}, {A}, {B}", 32, lambda a, b, c: overflows(s(a) + s(b))),
    (f"s_sub_i32 {D}, {A}, {B}", 32, lambda a, b, c: overflows(s(a) - s(b))),
    (f"s_lshl3_add_u32 {D}, {A}, {B}", 32, lambda a, b, c:
        (a * 8 + b, int(((a & M32) * 8 + (b & M32)) > M32))),
    (f"s_mul_i32 {D}, {A}, {B}", 32, lambda a, b, c: (a * b, c)),
    (f"s_mul_hi_u32 {D}, {A}, {B}", 32, lambda a, b, c: ((a & M32) * (b & M32) >> 32, c)),
    (f"s_mul_hi_i32 {D}, {A}, {B}", 32, lambda a, b, c: (s(a) * s(b) >> 32, c)),
    (f"s_abs_i32 {D}, {A}", 32, lambda a, b, c: nonzero(abs(s(a)))),
    (f"s_absdiff_i32 {D}, {A}, {B}", 32, lambda a, b, c: nonzero(abs(s(s(a) - s(b))))),
    (f"s_min_i32 {D}, {A}, {B}", 32, lambda a, b, c: (min(s(a), s(b)), int(s(a) < s(b)))),
    (f"s_max_u32 {D}, {A}, {B}", 32, lambda a, b, c:
        (max(a & M32, b & M32), int((a & M32) > (b & M32)))),
    (f"s_quadmask_b64 {D2}, {A2}", 64, lambda a, b, c: nonzero(sum(
        1 << i for i in range(16) if a >> 4 * i & 15), M64)),
    (f"s_wqm_b32 {D}, {A}", 32, lambda a, b, c: nonzero(sum(
        15 << i for i in range(0, 32, 4) if a >> i & 15))),
    # The destination is also a source, or SCC is the only result.
    (f"s_mov_b32 {D}, {A}\n  s_addk_i32 {D}, 0x8001", 32, lambda a, b, c:
        overflows(s(a) - 32767)),
    (f"s_mov_b32 {D}, {A}\n  s_mulk_i32 {D}, 0xfff9", 32, lambda a, b, c: (a * -7, c)),
    (f"s_mov_b32 {D}, {A}\n  s_cmov_b32 {D}, {B}", 32, lambda a, b, c: (b if c else a, c)),
    (f"s_mov_b32 {D}, {A}\n  s_bitset1_b32 {D}, {B}", 32, lambda a, b, c:
        (a | 1 << (b & 31), c)),
    (f"s_mov_b32 {D}, 0\n  s_cmp_lt_i32 {A}, {B}", 32, lambda a, b, c: (0, int(s(a) < s(b)))),
    (f"s_mov_b32 {D}, 0\n  s_cmp_ge_u32 {A}, {B}", 32, lambda a, b, c:
        (0, int((a & M32) >= (b & M32)))),
    (f"s_mov_b32 {D}, 0\n  s_cmp_eq_u64 {A2}, {B2}", 32, lambda a, b, c: (0, int(a == b))),
    (f"s_mov_b32 {D}, 0\n  s_cmpk_gt_i32 {A}, 0xfff0", 32, lambda a, b, c:
        (0, int(s(a) > -16))),
    (f"s_mov_b32 {D}, 0\n  s_cmpk_le_u32 {A}, 0xfff0", 32, lambda a, b, c:
        (0, int((a & M32) <= 0xFFF0))),
    (f"s_mov_b32 {D}, 0\n  s_bitcmp1_b32 {A}, {B}", 32, lambda a, b, c:
        (0, a >> (b & 31) & 1)),
    (f"s_and_saveexec_b64 {D2}, {A2}\n  s_mov_b64 s[28:29], exec\n  s_mov_b64 exec, -1",
     64, lambda a, b, c: (M64, int(a != 0))),
    (f"s_andn1_wrexec_b64 {D2}, {A2}\n  s_mov_b64 exec, -1", 64, lambda a, b, c:
        nonzero(~a, M64)),
]


def body(line):
    return f"""
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_lshl_b32 s3, s2, 5
  s_waitcnt lgkmcnt(0)
  s_load_dwordx8 s[12:19], s[4:5], s3
  v_mov_b32 v0, s3
  s_waitcnt lgkmcnt(0)
  s_mov_b64 s[24:25], 0
  s_cmp_lg_u32 s16, 0
  {line}
  s_cselect_b32 s26, 1, 0
  v_mov_b32 v2, s24
  v_mov_b32 v3, s25
  v_mov_b32 v4, s26
  global_store_dwordx3 v0, v[2:4], s[6:7]"""


@pytest.fixture(scope="module")
def module(hip):
    return hip.load(simulator.assemble(
        [simulator.kernel_asm(f"k{i}", body(line), arguments=2)
         for i, (line, _, _) in enumerate(CASES)]))


@pytest.mark.parametrize("index", range(len(CASES)),
                         ids=lambda i: CASES[i][0].split("\n")[-1].split()[0] + f"-{i}")
def test_scalar(hip, module, index):
    line, width, function = CASES[index]
    rng = np.random.default_rng(index)
    count = 40
    values = np.zeros((count, 4), np.uint64)
    values[:, :2] = rng.integers(0, 2**64, (count, 2), dtype=np.uint64)
    corners = np.array([0, 1, M64, 0x80000000, 0x7FFFFFFF, 1 << 63, 0xFFFFFFFF00000000], np.uint64)
    values[:14, 0], values[:14, 1] = rng.choice(corners, 14), rng.choice(corners, 14)
    values[14:18, 1] = values[14:18, 0]
    values[18:26, 1] = rng.integers(0, 64, 8)
    values[:, 2] = rng.integers(0, 2, count)
    result = np.zeros((count, 8), np.uint32)
    hip.run(module, f"k{index}", [values, result], grid=(count,))
    for i in range(count):
        a, b, scc = (int(v) for v in values[i, :3])
        want, want_scc = function(a, b, scc)
        got = int(result[i, 0]) | (int(result[i, 1]) << 32 if width == 64 else 0)
        assert (got, int(result[i, 2])) == (want & (1 << width) - 1, want_scc), (
            f"{line}: from {a:#x}, {b:#x}, scc {scc}")
