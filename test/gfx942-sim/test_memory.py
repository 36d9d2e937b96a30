"""Memory instructions: widths, extensions, halves, bounds of buffers, apertures
and atomics. Buffer 0 is read, buffer 1 written; s[4:5] and s[6:7] point there,
v1 is 4 * lane."""

import numpy as np
import pytest

import simulator

HEAD = """
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
"""
WAIT = "  s_waitcnt vmcnt(0) lgkmcnt(0)\n"
STORE = "  global_store_dword v1, v2, s[6:7]\n"
LANES = np.arange(64)


def run(hip, body, data, out, **launch):
    code = simulator.assemble([simulator.kernel_asm("k", HEAD + body, lds=4096, arguments=2)])
    hip.run(code, "k", [data, out], **launch)
    return out


@pytest.mark.parametrize("name,dtype,high,keeps", [
    ("ubyte", np.uint8, False, False), ("sbyte", np.int8, False, False),
    ("ushort", np.uint16, False, False), ("sshort", np.int16, False, False),
    ("ubyte_d16", np.uint8, False, True), ("sbyte_d16_hi", np.int8, True, True),
    ("short_d16", np.uint16, False, True), ("short_d16_hi", np.uint16, True, True)])
def test_narrow_loads(hip, name, dtype, high, keeps):
    data = np.random.default_rng(0).integers(0, 256, 256).astype(np.uint8)
    out = run(hip, f"""  v_mov_b32 v2, 0x12345678
  global_load_{name} v2, v1, s[4:5]
""" + WAIT + STORE, data, np.zeros(64, np.uint32))
    size = np.dtype(dtype).itemsize
    values = np.array([data[4 * l:4 * l + size].view(dtype)[0] for l in LANES]).astype(np.int64)
    expected = values & 0xFFFFFFFF
    if keeps:
        expected = values & 0xFFFF
        expected = expected << 16 | 0x5678 if high else expected | 0x12340000
    np.testing.assert_array_equal(out, expected.astype(np.uint32))


def test_narrow_stores(hip):
    data = np.random.default_rng(1).integers(0, 2**32, 64, dtype=np.uint32)
    out = run(hip, "  global_load_dword v2, v1, s[4:5]\n" + WAIT + """
  global_store_byte v1, v2, s[6:7]
  global_store_byte_d16_hi v1, v2, s[6:7] offset:1
  global_store_short_d16_hi v1, v2, s[6:7] offset:2
""", data, np.zeros(64, np.uint32))
    np.testing.assert_array_equal(
        out, data & 0xFF | (data >> 16 & 0xFF) << 8 | data & 0xFFFF0000)


def test_lds_shapes(hip):
    """Round trips of every width and of both forms with two addresses."""
    data = np.random.default_rng(2).integers(0, 2**32, 256, dtype=np.uint32)
    out = run(hip, """  v_lshlrev_b32 v3, 4, v0
  global_load_dwordx4 v[4:7], v3, s[4:5]
  s_waitcnt vmcnt(0)
  ds_write_b128 v3, v[4:7]
  ds_read_b96 v[8:10], v3 offset:4
  ds_write2st64_b32 v1, v4, v5 offset0:4 offset1:6
  ds_read2_b32 v[12:13], v1 offset0:0 offset1:1
  v_and_b32 v11, 0xf8, v1
  ds_read2st64_b64 v[14:17], v11 offset0:2 offset1:3
  s_waitcnt lgkmcnt(0)
  v_lshlrev_b32 v18, 5, v0
  global_store_dwordx3 v18, v[8:10], s[6:7]
  global_store_dword v18, v14, s[6:7] offset:12
  global_store_dwordx2 v18, v[12:13], s[6:7] offset:16
  global_store_dwordx2 v18, v[16:17], s[6:7] offset:24
""", data, np.zeros((64, 8), np.uint32))
    rows = data.reshape(64, 4)
    np.testing.assert_array_equal(out[:, :3], rows[:, 1:])
    np.testing.assert_array_equal(out[:, 4], data[LANES])
    np.testing.assert_array_equal(out[:, 5], data[LANES + 1])
    # Word 256 * 4 + lane holds v4, word 256 * 6 + lane holds v5; a b64 unit of
    # st64 is 512 bytes: units 2 and 3 are words 256 and 384.
    even = LANES // 2 * 2
    np.testing.assert_array_equal(out[:, 3], rows[even, 0])
    np.testing.assert_array_equal(out[:, 6], rows[even, 1])
    np.testing.assert_array_equal(out[:, 7], rows[even + 1, 1])


def test_buffers(hip):
    """Past the records a load gives zero and a store does nothing, for each dword."""
    data = np.arange(1, 65, dtype=np.uint32)
    out = run(hip, """
  s_mov_b32 s8, s4
  s_mov_b32 s9, s5
  s_movk_i32 s10, 200
  s_mov_b32 s11, 0x00020000
  s_mov_b32 s12, s6
  s_mov_b32 s13, s7
  s_movk_i32 s14, 120
  s_mov_b32 s15, 0x00020000
  s_mov_b32 s16, 8
  buffer_load_dwordx2 v[2:3], v1, s[8:11], s16 offen offset:4
  s_waitcnt vmcnt(0)
  v_add_u32 v2, v2, v3
  buffer_store_dword v2, v1, s[12:15], 0 offen
""", data, np.full(64, 7, np.uint32))
    padded = np.where(np.arange(80) < 50, np.concatenate([data, np.zeros(16, np.uint32)]), 0)
    expected = padded[LANES + 3] + padded[LANES + 4]
    np.testing.assert_array_equal(out, np.where(LANES < 30, expected, 7))


def test_structured_buffer(hip):
    """idxen: the index counts records of `stride` bytes."""
    data = np.arange(100, 164, dtype=np.uint32)
    out = run(hip, """
  s_mov_b32 s8, s4
  s_or_b32 s9, s5, 0x80000
  s_movk_i32 s10, 20
  s_mov_b32 s11, 0x00020000
  buffer_load_dword v2, v0, s[8:11], 0 idxen offset:4
""" + WAIT + STORE, data, np.zeros(64, np.uint32))
    np.testing.assert_array_equal(out, np.where(LANES < 20, data[np.minimum(2 * LANES + 1, 63)], 0))


def test_flat_reaches_lds(hip):
    data = np.arange(64, dtype=np.uint32) * 5
    out = run(hip, """  s_mov_b64 s[8:9], src_shared_base
  v_mov_b32 v3, s9
  v_mov_b32 v2, v1
  global_load_dword v4, v1, s[4:5]
  s_waitcnt vmcnt(0)
  flat_store_dword v[2:3], v4 offset:256
  s_waitcnt vmcnt(0) lgkmcnt(0)
  ds_read_b32 v2, v1 offset:256
""" + WAIT + STORE, data, np.zeros(64, np.uint32))
    np.testing.assert_array_equal(out, data)


def in_order(function, start, values):
    """The old values of each lane, and the final memory."""
    old = []
    for value in values:
        old.append(start)
        start = function(start, int(value))
    return old, start


def s32(x):
    return x - 2**32 if x >= 2**31 else x


ATOMICS = [
    ("add", lambda m, d: (m + d) % 2**32), ("sub", lambda m, d: (m - d) % 2**32),
    ("smin", lambda m, d: min(m, d, key=s32)), ("umax", lambda m, d: max(m, d)),
    ("xor", lambda m, d: m ^ d), ("swap", lambda m, d: d),
    ("inc", lambda m, d: 0 if m >= d else m + 1),
    ("dec", lambda m, d: d if m == 0 or m > d else m - 1)]


@pytest.mark.parametrize("name,function", ATOMICS, ids=[a[0] for a in ATOMICS])
def test_atomics(hip, name, function):
    """All lanes at one address; lanes take their turn in order."""
    data = np.random.default_rng(3).integers(0, 2**32, 64, dtype=np.uint32)
    if name in ("inc", "dec"):
        data %= 9
    out = np.zeros(65, np.uint32)
    out[64] = 5
    run(hip, f"""  v_mov_b32 v3, 0
  global_load_dword v4, v1, s[4:5]
  s_waitcnt vmcnt(0)
  global_atomic_{name} v2, v3, v4, s[6:7] offset:256 sc0
""" + WAIT + STORE, data, out)
    old, final = in_order(function, 5, data)
    assert out.tolist() == old + [final]


def test_compare_and_swap(hip):
    """The operands of a compare-and-swap: memory instructions take the new value first, LDS
    instructions the compared one."""
    out = np.zeros(65, np.uint32)
    out[64] = 3
    run(hip, """  v_mov_b32 v3, 0
  v_add_u32 v4, 1, v0
  v_mov_b32 v5, v0
  global_atomic_cmpswap v2, v3, v[4:5], s[6:7] offset:256 sc0
""" + WAIT + STORE, np.zeros(1, np.uint32), out)
    assert out.tolist() == [3] * 4 + list(range(4, 64)) + [64]
    out = run(hip, """  v_mov_b32 v3, 0
  v_mov_b32 v4, 3
  ds_write_b32 v3, v4
  v_add_u32 v4, 1, v0
  ds_cmpst_rtn_b32 v2, v3, v0, v4
""" + WAIT + STORE, np.zeros(1, np.uint32), np.zeros(64, np.uint32))
    assert out.tolist() == [3] * 4 + list(range(4, 64))


def test_float_atomics(hip):
    data = np.random.default_rng(4).standard_normal(64).astype(np.float32)
    out = np.zeros(66, np.float32)
    run(hip, """  v_mov_b32 v3, 0
  global_load_dword v4, v1, s[4:5]
  s_waitcnt vmcnt(0)
  global_atomic_add_f32 v2, v3, v4, s[6:7] offset:256 sc0
  v_cvt_pkrtz_f16_f32 v5, 1.0, 2.0
  global_atomic_pk_add_f16 v3, v5, s[6:7] offset:260
""" + WAIT + STORE, data, out)
    old, total = [], np.float32(0)
    for value in data:
        old.append(total)
        total = np.float32(total + value)
    np.testing.assert_array_equal(out[:65], np.array(old + [total], np.float32))
    np.testing.assert_array_equal(out[65:].view(np.float16), [64, 128])


def test_scalar_loads(hip):
    data = np.arange(50, 114, dtype=np.uint32)
    out = run(hip, """
  s_movk_i32 s20, 0x40
  s_load_dwordx2 s[16:17], s[4:5], s20 offset:0x8
  s_mov_b32 s8, s4
  s_mov_b32 s9, s5
  s_movk_i32 s10, 12
  s_mov_b32 s11, 0
  s_buffer_load_dwordx2 s[18:19], s[8:11], 0x8
  s_waitcnt lgkmcnt(0)
  s_add_u32 s16, s16, s17
  s_add_u32 s18, s18, s19
  v_mov_b32 v2, s16
  v_mov_b32 v3, s18
  v_cmp_gt_u32 vcc, 32, v0
  s_nop 1
  v_cndmask_b32 v2, v2, v3, vcc
""" + STORE, data, np.zeros(64, np.uint32))
    assert out.tolist() == [52] * 32 + [68 + 69] * 32
