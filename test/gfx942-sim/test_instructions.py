"""One instruction at a time. Each line gives the assembly, and the result as a
function of one lane's sources, written from the ISA manual's definition.

a, b, c are the sources as unsigned integers of the width the instruction reads
(32 bits unless the line says 64), d is the old destination, l the lane.
"""

import struct
from fractions import Fraction

import numpy as np
import pytest

import simulator

M32, M64 = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF


def s(x, bits=32):
    x &= (1 << bits) - 1
    return x - (1 << bits) if x >> (bits - 1) else x


def f(x):
    return np.float32(struct.unpack("<f", struct.pack("<I", x & M32))[0])


def fb(x):
    return struct.unpack("<I", struct.pack("<f", np.float32(x)))[0]


def h(x):
    return np.uint16(x & 0xFFFF).view(np.float16)


def hb(x):
    return int(np.float16(x).view(np.uint16))


def g(x):
    return np.float64(struct.unpack("<d", struct.pack("<Q", x & M64))[0])


def gb(x):
    return struct.unpack("<Q", struct.pack("<d", np.float64(x)))[0]


def round_fraction(x, dtype):
    """A fraction to the nearest float, ties to even, by NumPy's neighbours."""
    guess = dtype(float(x))
    best = None
    for candidate in (np.nextafter(guess, dtype(-np.inf)), guess,
                      np.nextafter(guess, dtype(np.inf))):
        if not np.isfinite(candidate):
            continue
        error = abs(Fraction(float(candidate)) - x)
        even = int(candidate.view(f"u{candidate.itemsize}")) & 1
        if best is None or (error, even) < best[0]:
            best = ((error, even), candidate)
    return best[1]


def fma(x, y, z, dtype):
    """Exact, then one rounding."""
    if not all(np.isfinite(v) for v in (x, y, z)):
        with np.errstate(all="ignore"):
            return dtype(float(x) * float(y) + float(z))
    exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
    if exact == 0:
        with np.errstate(all="ignore"):
            return dtype(x) * dtype(y) + dtype(z)
    with np.errstate(over="ignore"):
        if abs(exact) > Fraction(float(np.finfo(dtype).max)):
            return dtype(float("inf") if exact > 0 else float("-inf"))
    return round_fraction(exact, dtype)


def pair(low, high):
    return (low & 0xFFFF) | (high & 0xFFFF) << 16


def halves(x):
    return x & 0xFFFF, x >> 16 & 0xFFFF


def sat(x, low, high):
    return min(max(x, low), high)


def bitcount(x):
    return bin(x).count("1")


def perm(a, b, sel):
    data = (a << 32 | b).to_bytes(8, "little")
    out = 0
    for i in range(4):
        k = sel >> 8 * i & 0xFF
        byte = (0xFF if k >= 13 else 0 if k == 12 else
                (0xFF if data[2 * (k - 8) + 1] & 0x80 else 0) if k >= 8 else data[k])
        out |= byte << 8 * i
    return out


V, V2, V4 = "v10, v2", "v10, v2, v4", "v10, v2, v4, v6"
W = "v[10:11]"
# (assembly, result) with 32-bit sources.
PLAIN = [
    (f"v_mov_b32 {V}", lambda a, b, c, d, l: a),
    (f"v_not_b32 {V}", lambda a, b, c, d, l: ~a),
    (f"v_bfrev_b32 {V}", lambda a, b, c, d, l: int(f"{a:032b}"[::-1], 2)),
    (f"v_ffbh_u32 {V}", lambda a, b, c, d, l: 32 - a.bit_length() if a else M32),
    (f"v_ffbl_b32 {V}", lambda a, b, c, d, l: (a & -a).bit_length() - 1 if a else M32),
    (f"v_ffbh_i32 {V}", lambda a, b, c, d, l:
        next((i for i in range(1, 32) if (a >> (31 - i) & 1) != a >> 31), M32)),
    (f"v_add_u32 {V2}", lambda a, b, c, d, l: a + b),
    (f"v_add_u32_e64 {V2} clamp", lambda a, b, c, d, l: min(a + b, M32)),
    (f"v_sub_u32 {V2}", lambda a, b, c, d, l: a - b),
    (f"v_sub_u32_e64 {V2} clamp", lambda a, b, c, d, l: max(a - b, 0)),
    (f"v_subrev_u32 {V2}", lambda a, b, c, d, l: b - a),
    (f"v_add_i32 {V2} clamp", lambda a, b, c, d, l: sat(s(a) + s(b), -2**31, 2**31 - 1)),
    (f"v_sub_i32 {V2}", lambda a, b, c, d, l: a - b),
    (f"v_add3_u32 {V4}", lambda a, b, c, d, l: a + b + c),
    (f"v_xad_u32 {V4}", lambda a, b, c, d, l: (a ^ b) + c),
    (f"v_lshl_add_u32 {V4}", lambda a, b, c, d, l: (a << (b & 31)) + c),
    (f"v_add_lshl_u32 {V4}", lambda a, b, c, d, l: (a + b) << (c & 31)),
    (f"v_lshl_or_b32 {V4}", lambda a, b, c, d, l: a << (b & 31) | c),
    (f"v_and_or_b32 {V4}", lambda a, b, c, d, l: a & b | c),
    (f"v_or3_b32 {V4}", lambda a, b, c, d, l: a | b | c),
    (f"v_bfi_b32 {V4}", lambda a, b, c, d, l: a & b | ~a & c),
    (f"v_bfe_u32 {V4}", lambda a, b, c, d, l: a >> (b & 31) & ((1 << (c & 31)) - 1)),
    (f"v_bfe_i32 {V4}", lambda a, b, c, d, l:
        s(a) >> (b & 31) if (b & 31) + (c & 31) > 31 and c & 31 else
        s(a >> (b & 31), c & 31) if c & 31 else 0),
    (f"v_bfm_b32 {V2}", lambda a, b, c, d, l: ((1 << (a & 31)) - 1) << (b & 31)),
    (f"v_alignbit_b32 {V4}", lambda a, b, c, d, l: (a << 32 | b) >> (c & 31)),
    (f"v_alignbyte_b32 {V4}", lambda a, b, c, d, l: (a << 32 | b) >> 8 * (c & 3)),
    (f"v_perm_b32 {V4}", lambda a, b, c, d, l: perm(a, b, c & 0x0F0F0F0F | c & 0x01010101)),
    (f"v_bcnt_u32_b32 {V2}", lambda a, b, c, d, l: bitcount(a) + b),
    (f"v_lshlrev_b32 {V2}", lambda a, b, c, d, l: b << (a & 31)),
    (f"v_lshrrev_b32 {V2}", lambda a, b, c, d, l: b >> (a & 31)),
    (f"v_ashrrev_i32 {V2}", lambda a, b, c, d, l: s(b) >> (a & 31)),
    (f"v_lshlrev_b16 {V2}", lambda a, b, c, d, l: b << (a & 15) & 0xFFFF),
    (f"v_ashrrev_i16 {V2}", lambda a, b, c, d, l: s(b, 16) >> (a & 15) & 0xFFFF),
    (f"v_add_u16 {V2}", lambda a, b, c, d, l: a + b & 0xFFFF),
    (f"v_mul_lo_u16 {V2}", lambda a, b, c, d, l: a * b & 0xFFFF),
    (f"v_max_i16 {V2}", lambda a, b, c, d, l: max(s(a, 16), s(b, 16)) & 0xFFFF),
    (f"v_mad_u16 {V4}", lambda a, b, c, d, l: (a * b + c & 0xFFFF) | d & 0xFFFF0000),
    (f"v_mad_u16 {V4} op_sel:[1,0,1,1]", lambda a, b, c, d, l:
        ((a >> 16) * b + (c >> 16) & 0xFFFF) << 16 | d & 0xFFFF),
    (f"v_and_b32 {V2}", lambda a, b, c, d, l: a & b),
    (f"v_xnor_b32 {V2}", lambda a, b, c, d, l: ~(a ^ b)),
    (f"v_mul_lo_u32 {V2}", lambda a, b, c, d, l: a * b),
    (f"v_mul_hi_u32 {V2}", lambda a, b, c, d, l: a * b >> 32),
    (f"v_mul_hi_i32 {V2}", lambda a, b, c, d, l: s(a) * s(b) >> 32),
    (f"v_mul_u32_u24 {V2}", lambda a, b, c, d, l: (a & 0xFFFFFF) * (b & 0xFFFFFF)),
    (f"v_mul_i32_i24 {V2}", lambda a, b, c, d, l: s(a, 24) * s(b, 24)),
    (f"v_mul_hi_i32_i24 {V2}", lambda a, b, c, d, l: s(a, 24) * s(b, 24) >> 32),
    (f"v_mad_u32_u24 {V4}", lambda a, b, c, d, l: (a & 0xFFFFFF) * (b & 0xFFFFFF) + c),
    (f"v_mad_i32_i16 {V4}", lambda a, b, c, d, l: s(a, 16) * s(b, 16) + c),
    (f"v_min_i32 {V2}", lambda a, b, c, d, l: min(s(a), s(b))),
    (f"v_max_u32 {V2}", lambda a, b, c, d, l: max(a, b)),
    (f"v_med3_i32 {V4}", lambda a, b, c, d, l: sorted((s(a), s(b), s(c)))[1]),
    (f"v_max3_u32 {V4}", lambda a, b, c, d, l: max(a, b, c)),
    (f"v_sad_u8 {V4}", lambda a, b, c, d, l: c + sum(
        abs((a >> i & 255) - (b >> i & 255)) for i in (0, 8, 16, 24))),
    (f"v_lerp_u8 {V4}", lambda a, b, c, d, l: sum(
        ((a >> i & 255) + (b >> i & 255) + (c >> i & 1)) // 2 << i for i in (0, 8, 16, 24))),
    (f"v_mbcnt_lo_u32_b32 {V2}", lambda a, b, c, d, l:
        b + bitcount(a & (1 << min(l, 32)) - 1)),
    (f"v_mbcnt_hi_u32_b32 {V2}", lambda a, b, c, d, l:
        b + bitcount(a & ((1 << l) - 1 >> 32))),
    (f"v_add_co_u32 v10, vcc, v2, v4", lambda a, b, c, d, l: a + b),
    (f"v_cndmask_b32 v10, v2, v4, vcc", lambda a, b, c, d, l:
        b if VCC >> l & 1 else a),
    (f"v_addc_co_u32 v10, vcc, v2, v4, vcc", lambda a, b, c, d, l:
        a + b + (VCC >> l & 1)),
    (f"v_subb_co_u32 v10, vcc, v2, v4, vcc", lambda a, b, c, d, l:
        a - b - (VCC >> l & 1)),
    # Constants.
    ("v_add_u32 v10, -16, v2", lambda a, b, c, d, l: a - 16),
    ("v_add_u32 v10, 0x12345678, v2", lambda a, b, c, d, l: a + 0x12345678),
    ("v_xor_b32 v10, 1.0, v2", lambda a, b, c, d, l: a ^ 0x3F800000),
    ("v_xor_b32 v10, 0.15915494, v2", lambda a, b, c, d, l: a ^ 0x3E22F983),
    # SDWA.
    ("v_add_u32_sdwa v10, v2, v4 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE "
     "src0_sel:BYTE_2 src1_sel:WORD_1", lambda a, b, c, d, l:
        ((a >> 16 & 255) + (b >> 16) & 0xFFFF) << 16 | d & 0xFFFF),
    ("v_add_u32_sdwa v10, sext(v2), v4 dst_sel:BYTE_1 dst_unused:UNUSED_PAD "
     "src0_sel:BYTE_0 src1_sel:DWORD", lambda a, b, c, d, l:
        (s(a, 8) + b & 255) << 8),
    ("v_add_u32_sdwa v10, v2, v4 dst_sel:WORD_0 dst_unused:UNUSED_SEXT "
     "src0_sel:DWORD src1_sel:DWORD", lambda a, b, c, d, l: s(a + b, 16)),
    # Dot products.
    (f"v_dot4_i32_i8 {V4}", lambda a, b, c, d, l: c + sum(
        s(a >> i, 8) * s(b >> i, 8) for i in (0, 8, 16, 24))),
    (f"v_dot4_u32_u8 {V4}", lambda a, b, c, d, l: c + sum(
        (a >> i & 255) * (b >> i & 255) for i in (0, 8, 16, 24))),
    (f"v_dot2_i32_i16 {V4}", lambda a, b, c, d, l: c + sum(
        s(a >> i, 16) * s(b >> i, 16) for i in (0, 16))),
    # Packed.
    (f"v_pk_add_u16 {V2}", lambda a, b, c, d, l:
        pair(a + b, (a >> 16) + (b >> 16))),
    (f"v_pk_sub_i16 {V2} clamp", lambda a, b, c, d, l:
        pair(sat(s(a, 16) - s(b, 16), -32768, 32767),
             sat(s(a >> 16, 16) - s(b >> 16, 16), -32768, 32767))),
    (f"v_pk_mad_u16 {V4} op_sel:[1,0,0] op_sel_hi:[0,1,1]", lambda a, b, c, d, l:
        pair((a >> 16) * b + c, a * (b >> 16) + (c >> 16))),
    (f"v_pk_lshlrev_b16 {V2}", lambda a, b, c, d, l:
        pair(b << (a & 15), (b >> 16) << (a >> 16 & 15))),
    # Conversions.
    (f"v_cvt_f32_i32 {V}", lambda a, b, c, d, l: fb(np.float32(np.int32(s(a))))),
    (f"v_cvt_f32_u32 {V}", lambda a, b, c, d, l: fb(np.float32(np.uint32(a)))),
    (f"v_cvt_f32_ubyte2 {V}", lambda a, b, c, d, l: fb(a >> 16 & 255)),
    (f"v_cvt_pk_i16_i32 {V2}", lambda a, b, c, d, l:
        pair(sat(s(a), -32768, 32767), sat(s(b), -32768, 32767))),
    (f"v_cvt_pk_u16_u32 {V2}", lambda a, b, c, d, l: pair(min(a, 65535), min(b, 65535))),
]

# Sources are floats of many magnitudes.
FLOAT = [
    (f"v_add_f32 {V2}", lambda a, b, c, d: f(a) + f(b)),
    (f"v_sub_f32 {V2}", lambda a, b, c, d: f(a) - f(b)),
    (f"v_subrev_f32 {V2}", lambda a, b, c, d: f(b) - f(a)),
    (f"v_mul_f32 {V2}", lambda a, b, c, d: f(a) * f(b)),
    ("v_mul_f32_e64 v10, -v2, |v4|", lambda a, b, c, d: -f(a) * abs(f(b))),
    ("v_add_f32_e64 v10, v2, v4 clamp", lambda a, b, c, d:
        np.float32(min(max(f(a) + f(b), 0), 1))),
    ("v_add_f32_e64 v10, v2, v4 mul:4", lambda a, b, c, d:
        (f(a) + f(b)) * np.float32(4)),
    ("v_add_f32_e64 v10, v2, v4 div:2", lambda a, b, c, d:
        (f(a) + f(b)) * np.float32(0.5)),
    (f"v_min_f32 {V2}", lambda a, b, c, d: min(f(a), f(b))),
    (f"v_max_f32 {V2}", lambda a, b, c, d: max(f(a), f(b))),
    (f"v_med3_f32 {V4}", lambda a, b, c, d: sorted((f(a), f(b), f(c)))[1]),
    (f"v_fma_f32 {V4}", lambda a, b, c, d: fma(f(a), f(b), f(c), np.float32)),
    (f"v_fmac_f32 {V2}", lambda a, b, c, d: fma(f(a), f(b), f(d), np.float32)),
    ("v_fmaak_f32 v10, v2, v4, 0x41200000", lambda a, b, c, d:
        fma(f(a), f(b), np.float32(10), np.float32)),
    ("v_fmamk_f32 v10, v2, 0x41200000, v4", lambda a, b, c, d:
        fma(f(a), np.float32(10), f(b), np.float32)),
    (f"v_floor_f32 {V}", lambda a, b, c, d: np.floor(f(a))),
    (f"v_ceil_f32 {V}", lambda a, b, c, d: np.ceil(f(a))),
    (f"v_trunc_f32 {V}", lambda a, b, c, d: np.trunc(f(a))),
    (f"v_rndne_f32 {V}", lambda a, b, c, d: np.rint(f(a))),
    ("v_ldexp_f32 v10, v2, 3", lambda a, b, c, d: np.ldexp(f(a), 3)),
    (f"v_frexp_mant_f32 {V}", lambda a, b, c, d: np.frexp(f(a))[0]),
]

# Result bits from float sources.
FLOAT_BITS = [
    (f"v_cvt_i32_f32 {V}", lambda a, b, c, d: int(sat(int(f(a)), -2**31, 2**31 - 1))),
    (f"v_cvt_u32_f32 {V}", lambda a, b, c, d: int(sat(int(f(a)), 0, M32))),
    (f"v_cvt_flr_i32_f32 {V}", lambda a, b, c, d:
        int(sat(int(np.floor(f(a))), -2**31, 2**31 - 1))),
    (f"v_frexp_exp_i32_f32 {V}", lambda a, b, c, d: int(np.frexp(f(a))[1])),
    (f"v_cvt_f16_f32 {V}", lambda a, b, c, d: hb(f(a))),
]

# Sources are pairs of f16.
HALF = [
    (f"v_add_f16 {V2}", lambda a, b, c, d: hb(h(a) + h(b))),
    (f"v_mul_f16 {V2}", lambda a, b, c, d: hb(h(a) * h(b))),
    (f"v_max_f16 {V2}", lambda a, b, c, d: hb(max(h(a), h(b)))),
    (f"v_fma_f16 {V4}", lambda a, b, c, d:
        hb(fma(h(a), h(b), h(c), np.float16)) | d & 0xFFFF0000),
    (f"v_cvt_f32_f16 {V}", lambda a, b, c, d: fb(np.float32(h(a)))),
    (f"v_pk_add_f16 {V2}", lambda a, b, c, d:
        pair(hb(h(a) + h(b)), hb(h(a >> 16) + h(b >> 16)))),
    (f"v_pk_mul_f16 {V2} op_sel:[1,0] op_sel_hi:[0,1] neg_lo:[1,0]", lambda a, b, c, d:
        pair(hb(-h(a >> 16) * h(b)), hb(h(a) * h(b >> 16)))),
    (f"v_pk_fma_f16 {V4}", lambda a, b, c, d:
        pair(hb(fma(h(a), h(b), h(c), np.float16)),
             hb(fma(h(a >> 16), h(b >> 16), h(c >> 16), np.float16)))),
    ("v_fma_mix_f32 v10, v2, v4, v6 op_sel:[1,0,0] op_sel_hi:[1,1,1]",
     lambda a, b, c, d: fb(fma(np.float32(h(a >> 16)), np.float32(h(b)),
                               np.float32(h(c)), np.float32))),
    (f"v_dot2_f32_f16 v10, v2, v4, 0", lambda a, b, c, d:
        fb(np.float32(h(a)) * np.float32(h(b)) +
           np.float32(h(a >> 16)) * np.float32(h(b >> 16)))),
    (f"v_pack_b32_f16 {V2} op_sel:[0,1,0]", lambda a, b, c, d: pair(a, b >> 16)),
]

# Sources and result of 64 bits, floats for the second list.
A2, B2, C2 = "v[2:3]", "v[4:5]", "v[6:7]"
WIDE = [
    (f"v_mov_b64 {W}, {A2}", lambda a, b, c, l: a),
    (f"v_lshlrev_b64 {W}, v4, {A2}", lambda a, b, c, l: a << (b & 63)),
    (f"v_lshrrev_b64 {W}, v4, {A2}", lambda a, b, c, l: a >> (b & 63)),
    (f"v_ashrrev_i64 {W}, v4, {A2}", lambda a, b, c, l: s(a, 64) >> (b & 63)),
    (f"v_lshl_add_u64 {W}, {A2}, 3, {C2}", lambda a, b, c, l: (a << 3) + c),
    (f"v_mad_u64_u32 {W}, vcc, v2, v4, {C2}", lambda a, b, c, l:
        (a & M32) * (b & M32) + c),
    (f"v_mad_i64_i32 {W}, vcc, v2, v4, {C2}", lambda a, b, c, l: s(a) * s(b) + c),
    (f"v_pk_mov_b32 {W}, {A2}, {B2} op_sel:[1,0]", lambda a, b, c, l:
        a >> 32 | (b & M32) << 32),
]
WIDE_FLOAT = [
    (f"v_add_f64 {W}, {A2}, {B2}", lambda a, b, c: gb(g(a) + g(b))),
    (f"v_mul_f64 {W}, {A2}, -{B2}", lambda a, b, c: gb(g(a) * -g(b))),
    (f"v_fma_f64 {W}, {A2}, {B2}, {C2}", lambda a, b, c:
        gb(fma(g(a), g(b), g(c), np.float64))),
    (f"v_max_f64 {W}, {A2}, {B2}", lambda a, b, c: gb(max(g(a), g(b)))),
    (f"v_add_f64 {W}, {A2}, 0.5", lambda a, b, c: gb(g(a) + 0.5)),
    (f"v_floor_f64 {W}, {A2}", lambda a, b, c: gb(np.floor(g(a)))),
]
PAIR_FLOAT = [  # Two f32 in a register pair.
    (f"v_pk_add_f32 {W}, {A2}, {B2}", lambda a, b, c: [f(a) + f(b), f(a >> 32) + f(b >> 32)]),
    (f"v_pk_mul_f32 {W}, {A2}, {B2} op_sel:[1,0] op_sel_hi:[0,1]", lambda a, b, c:
        [f(a >> 32) * f(b), f(a) * f(b >> 32)]),
    (f"v_pk_fma_f32 {W}, {A2}, {B2}, {C2} neg_lo:[0,0,1]", lambda a, b, c:
        [fma(f(a), f(b), -f(c), np.float32),
         fma(f(a >> 32), f(b >> 32), f(c >> 32), np.float32)]),
]

# Compares write vcc.
COMPARE = [
    ("v_cmp_lt_i32 vcc, v2, v4", lambda a, b: s(a) < s(b)),
    ("v_cmp_ge_u32 vcc, v2, v4", lambda a, b: a >= b),
    ("v_cmp_eq_u16 vcc, v2, v4", lambda a, b: (a ^ b) & 0xFFFF == 0),
    ("v_cmp_gt_f32 vcc, v2, v4", lambda a, b: f(a) > f(b)),
    ("v_cmp_nlt_f32 vcc, v2, v4", lambda a, b: not f(a) < f(b)),
    ("v_cmp_u_f32 vcc, v2, v4", lambda a, b: np.isnan(f(a)) or np.isnan(f(b))),
    ("v_cmp_o_f32 vcc, v2, v4", lambda a, b: not (np.isnan(f(a)) or np.isnan(f(b)))),
    ("v_cmp_ne_u64 vcc, v[2:3], v[4:5]", None),
]

VCC = 0xF0F0A5A5_0FF01234
MASK = 0x7FFF_FFFF_0000_FFFE  # Lanes that are on.


def body(line):
    """Loads v[2:7] and the old v[10:11] per lane, runs the line under MASK,
    stores v[10:11] and vcc."""
    return f"""
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v1, 3, v0
  s_waitcnt lgkmcnt(0)
  global_load_dwordx2 v[2:3], v1, s[4:5]
  global_load_dwordx2 v[4:5], v1, s[4:5] offset:512
  global_load_dwordx2 v[6:7], v1, s[4:5] offset:1024
  global_load_dwordx2 v[10:11], v1, s[4:5] offset:1536
  s_mov_b32 vcc_lo, {VCC & M32:#x}
  s_mov_b32 vcc_hi, {VCC >> 32:#x}
  s_mov_b32 exec_lo, {MASK & M32:#x}
  s_mov_b32 exec_hi, {MASK >> 32:#x}
  s_waitcnt vmcnt(0)
  {line}
  s_mov_b64 exec, -1
  s_nop 4
  v_mov_b32 v12, vcc_lo
  v_mov_b32 v13, vcc_hi
  global_store_dwordx2 v1, v[10:11], s[6:7]
  global_store_dwordx2 v1, v[12:13], s[6:7] offset:512"""


TABLES = {"plain": PLAIN, "float": FLOAT, "float_bits": FLOAT_BITS, "half": HALF,
          "wide": WIDE, "wide_float": WIDE_FLOAT, "pair_float": PAIR_FLOAT,
          "compare": COMPARE}
CASES = [(kind, index) for kind, table in TABLES.items() for index in range(len(table))]


@pytest.fixture(scope="module")
def module(hip):
    return hip.load(simulator.assemble(
        [simulator.kernel_asm(f"{kind}{index}", body(TABLES[kind][index][0]), arguments=2)
         for kind, index in CASES]))


def sources(kind, rng):
    """Four columns of 64 x 64 bits, with the corners of each format in front."""
    if kind in ("float", "float_bits", "pair_float"):
        values = (rng.standard_normal((4, 128)) *
                  2.0 ** rng.integers(-20, 20, (4, 128))).astype(np.float32)
        values[:, :6] = rng.permuted([[0.0, 1.0, -1.5, 2.5, 1e-40, -7e4]] * 4, axis=1)
        return values.view(np.uint64)
    if kind == "half":
        values = (rng.standard_normal((4, 256)) *
                  2.0 ** rng.integers(-12, 6, (4, 256))).astype(np.float16)
        values[:, :4] = rng.permuted([[0.0, 1.0, 6e-8, -0.5]] * 4, axis=1)
        return values.view(np.uint64)
    if kind == "wide_float":
        return (rng.standard_normal((4, 64)) *
                2.0 ** rng.integers(-30, 30, (4, 64))).view(np.uint64)
    values = rng.integers(0, 2**64, (4, 64), dtype=np.uint64)
    corners = [0, M64, 1, 0x8000000080000000, 0x7FFFFFFF7FFFFFFF, 0x00FF00FF0000FFFF]
    values[:, :6] = rng.permuted(np.array([corners] * 4, np.uint64), axis=1)
    if kind == "compare":
        values[1, 20:30] = values[0, 20:30]
        values[0, 30:34] = 0x7FC00000  # NaN as f32.
    return values


@pytest.mark.parametrize("kind,index", CASES,
                         ids=[TABLES[k][i][0].split()[0] + f"-{i}" for k, i in CASES])
def test_instruction(hip, module, kind, index):
    line, function = TABLES[kind][index]
    rng = np.random.default_rng(index)
    values = sources(kind, rng)
    if "v_perm" in line:  # Selectors that mean something.
        values[2] = rng.integers(0, 14, (64, 8)).astype(np.uint8).view(np.uint64)[:, 0]
    result = np.zeros((2, 64), np.uint64)
    hip.run(module, f"{kind}{index}", [values, result])
    vcc = int(result[1, 0])
    expected_vcc = 0
    for lane in range(64):
        a, b, c, d = (int(values[k, lane]) for k in range(4))
        on = MASK >> lane & 1
        got = int(result[0, lane])
        with np.errstate(all="ignore"):
            if kind == "compare":
                wide = function is None
                expected_vcc |= (on and (a != b if wide else
                                         bool(function(a & M32, b & M32)))) << lane
                continue
            if not on:
                want = d
            elif kind == "wide":
                want = function(a, b, c, lane) & M64
            elif kind == "wide_float":
                want = function(a, b, c)
            elif kind == "pair_float":
                low, high = function(a, b, c)
                want = fb(low) | fb(high) << 32
            else:
                a, b, c, low = a & M32, b & M32, c & M32, d & M32
                if "v_perm" in line:
                    want = perm(a, b, c)
                elif kind == "plain":
                    want = function(a, b, c, low, lane)
                elif kind == "float":
                    want = fb(function(a, b, c, low))
                else:
                    want = function(a, b, c, low)
                want = want & M32 | d & ~M32
        assert got == want, (f"{line}: lane {lane}: {got:#x}, expected {want:#x} from "
                             f"{a:#x} {b:#x} {c:#x} {d:#x}")
    if kind == "compare":
        assert vcc == expected_vcc


def test_denormals_flushed(hip):
    """With the mode that flushes, a denormal source or result is a zero."""
    code = simulator.assemble([simulator.kernel_asm(
        "k", body("v_mul_f32 v10, v2, v4"), arguments=2, denormals=0)])
    values = np.zeros((4, 64, 2), np.float32)
    values[0, :, 0] = 1e-40, *([1e-20] * 63)
    values[1, :, 0] = 1e10, *([-1e-20] * 63)
    result = np.zeros((2, 64, 2), np.uint32)
    # Lane 0 is off under MASK; lane 1 underflows, lane 2 reads a denormal.
    values[0, 2, 0], values[1, 2, 0] = 1e-40, 1e10
    hip.run(code, "k", [values, result])
    assert result[0, 1, 0] == 0x80000000
    assert result[0, 2, 0] == 0
