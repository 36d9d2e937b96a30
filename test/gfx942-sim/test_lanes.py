"""Exchanges between lanes, under an exec mask: DPP, permutes, swizzles, lane
reads and writes. The result as a function of all lanes' values."""

import numpy as np
import pytest

import simulator

MASK = 0xFFFF_FFFF_FFFF_00FF
ON = [MASK >> lane & 1 for lane in range(64)]


def dpp(source, bound=False, rows=0xF, banks=0xF):
    """What DPP does for v_add_u32 d, x(dpp), y: `source(lane)` is the lane read
    or None."""
    def result(x, y, old):
        out = list(old)
        for lane in range(64):
            at = source(lane)
            valid = at is not None and ON[at]
            enabled = ON[lane] and rows >> lane // 16 & 1 and banks >> lane % 16 // 4 & 1
            if enabled and (valid or bound):
                out[lane] = (x[at] if valid else 0) + y[lane]
        return out
    return result


def row(lane, column):
    return lane // 16 * 16 + column if 0 <= column < 16 else None


DPP = [
    ("quad_perm:[1,0,3,3]", dpp(lambda l: l // 4 * 4 + (1, 0, 3, 3)[l % 4])),
    ("row_shl:3", dpp(lambda l: row(l, l % 16 + 3))),
    ("row_shr:5", dpp(lambda l: row(l, l % 16 - 5))),
    ("row_ror:6", dpp(lambda l: row(l, (l % 16 - 6) % 16))),
    ("row_mirror", dpp(lambda l: row(l, 15 - l % 16))),
    ("row_half_mirror", dpp(lambda l: l // 8 * 8 + 7 - l % 8)),
    ("wave_shr:1", dpp(lambda l: l - 1 if l else None)),
    ("wave_rol:1", dpp(lambda l: (l + 1) % 64)),
    ("row_bcast:15", dpp(lambda l: l // 16 * 16 - 1 if l >= 16 else None)),
    ("row_bcast:31", dpp(lambda l: 31 if l >= 32 else None)),
    ("row_newbcast:9", dpp(lambda l: row(l, 9))),
]
CASES = [(f"v_add_u32_dpp v10, v2, v4 {text} row_mask:0xf bank_mask:0xf", f) for text, f in DPP]
CASES += [
    ("v_add_u32_dpp v10, v2, v4 row_shr:5 row_mask:0xf bank_mask:0xf bound_ctrl:0",
     dpp(lambda l: row(l, l % 16 - 5), bound=True)),
    ("v_add_u32_dpp v10, v2, v4 row_ror:1 row_mask:0xa bank_mask:0x7",
     dpp(lambda l: row(l, (l % 16 - 1) % 16), rows=0xA, banks=0x7)),
    # y holds byte addresses here: 4 * lane.
    ("ds_bpermute_b32 v10, v6, v2 offset:8\n  s_waitcnt lgkmcnt(0)", lambda x, y, old: [
        (x[p] if ON[p] else 0) if ON[l] else old[l] for l in range(64)
        for p in [(PERM[l] + 2) % 64]]),
    ("ds_permute_b32 v10, v6, v2\n  s_waitcnt lgkmcnt(0)", lambda x, y, old: [
        max([(s, x[s]) for s in range(64) if ON[s] and PERM[s] == l],
            default=(0, 0))[1] if ON[l] else old[l] for l in range(64)]),
    ('ds_swizzle_b32 v10, v2 offset:swizzle(BITMASK_PERM,"01pip")\n  s_waitcnt lgkmcnt(0)',
     lambda x, y, old: [(x[p] if ON[p] else 0) if ON[l] else old[l] for l in range(64)
                        for p in [l & 32 | ((l & 7) | 8) ^ 2]]),
    ("ds_swizzle_b32 v10, v2 offset:swizzle(QUAD_PERM,3,1,0,2)\n  s_waitcnt lgkmcnt(0)",
     lambda x, y, old: [(x[p] if ON[p] else 0) if ON[l] else old[l] for l in range(64)
                        for p in [l // 4 * 4 + (3, 1, 0, 2)[l % 4]]]),
    ("ds_swizzle_b32 v10, v2 offset:swizzle(SWAP,16)\n  s_waitcnt lgkmcnt(0)",
     lambda x, y, old: [(x[p] if ON[p] else 0) if ON[l] else old[l] for l in range(64)
                        for p in [l ^ 16]]),
    ("v_readlane_b32 s20, v2, 37\n  s_nop 4\n  v_mov_b32 v10, s20",
     lambda x, y, old: [x[37] if ON[l] else old[l] for l in range(64)]),
    ("v_readlane_b32 s20, v2, 12\n  s_nop 4\n  v_mov_b32 v10, s20",  # A lane that is off.
     lambda x, y, old: [x[12] if ON[l] else old[l] for l in range(64)]),
    ("s_mov_b32 s20, 77\n  v_writelane_b32 v10, s20, 12",
     lambda x, y, old: [77 if l == 12 else old[l] for l in range(64)]),
    ("s_lshl_b64 exec, exec, 5\n  v_readfirstlane_b32 s20, v2\n  s_nop 4\n  v_mov_b32 v10, s20",
     lambda x, y, old: [x[5] if (MASK << 5) >> l & 1 else old[l] for l in range(64)]),
]
PERM = [(17 * lane + 3) % 60 for lane in range(64)]  # Some lanes are named twice.


def body(line):
    return f"""
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
  global_load_dword v2, v1, s[4:5]
  global_load_dword v4, v1, s[4:5] offset:256
  global_load_dword v6, v1, s[4:5] offset:512
  global_load_dword v10, v1, s[4:5] offset:768
  s_mov_b32 exec_lo, {MASK & 0xFFFFFFFF:#x}
  s_mov_b32 exec_hi, {MASK >> 32:#x}
  s_waitcnt vmcnt(0)
  {line}
  s_mov_b64 exec, -1
  global_store_dword v1, v10, s[6:7]"""


@pytest.fixture(scope="module")
def module(hip):
    return hip.load(simulator.assemble(
        [simulator.kernel_asm(f"k{i}", body(line), lds=256, arguments=2)
         for i, (line, _) in enumerate(CASES)]))


@pytest.mark.parametrize("index", range(len(CASES)), ids=lambda i: CASES[i][0].split("\n")[0])
def test_exchange(hip, module, index):
    _, function = CASES[index]
    rng = np.random.default_rng(index)
    values = rng.integers(1, 2**20, (4, 64)).astype(np.uint32)
    values[2] = 4 * np.array(PERM)
    result = np.zeros(64, np.uint32)
    hip.run(module, f"k{index}", [values, result])
    expected = function(*(values[k].astype(int).tolist() for k in (0, 1, 3)))
    assert result.tolist() == expected
