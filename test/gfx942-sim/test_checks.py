"""Each check finds what it is for, names it, and leaves the repaired kernel
alone: every case is a pair of kernels that differ in one line."""

import re

import numpy as np
import pytest

import simulator

HEAD = """
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
"""
LOAD = HEAD + "  global_load_dword v2, v1, s[4:5]\n"
STORE = "  global_store_dword v1, v2, s[6:7]\n"
STAGE = LOAD + "  s_waitcnt vmcnt(0)\n  ds_write_b32 v1, v2\n"
# Reads the word of the lane in the other half of a workgroup of two waves.
OTHER = "  v_xor_b32 v3, 0x100, v1\n"
MATRIX = HEAD + """
  v_mov_b32 v4, 0
  v_mov_b32 v5, 0
  v_mov_b32 v6, 0
  v_mov_b32 v7, 0
  v_mov_b32 v2, 0
  v_mov_b32 v3, 0
  s_nop 1
  v_mfma_f32_16x16x16_f16 v[4:7], v[2:3], v[2:3], v[4:7]
"""

# name, kernel with one line marked by a leading "!" that the bad one lacks, the
# report, waves
CASES = [
    ("wait-vmem", LOAD + "! s_waitcnt vmcnt(0)\n  v_add_u32 v2, 1, v2\n" + STORE,
     r"'v_add_u32_e32 v2, 1, v2': reads v2 before the wait .* vmcnt of at most 0", 1),
    ("wait-vmem-count", LOAD + """
  global_load_dword v3, v1, s[4:5]
! s_waitcnt vmcnt(1)
  v_add_u32 v2, 1, v2
  s_waitcnt vmcnt(0)
""" + STORE, r"reads v2 before the wait .* vmcnt of at most 1", 1),
    ("wait-smem", "  s_load_dwordx4 s[4:7], s[0:1], 0x0\n! s_waitcnt lgkmcnt(0)\n"
     "  v_mov_b32 v2, 0\n  v_lshlrev_b32 v1, 2, v0\n" + STORE,
     r"reads s6 before the wait .* lgkmcnt of at most 0", 1),
    ("wait-lds", STAGE + "  ds_read_b32 v2, v1\n! s_waitcnt lgkmcnt(0)\n" + STORE,
     r"reads v2 before the wait .* lgkmcnt of at most 0", 1),
    ("wait-overwrite", LOAD + "! s_waitcnt vmcnt(0)\n  v_mov_b32 v2, 0\n" + STORE,
     r"writes v2 before the wait", 1),
    ("wait-before-barrier", STAGE + "! s_waitcnt lgkmcnt(0)\n  s_barrier\n" + OTHER +
     "  ds_read_b32 v2, v3\n  s_waitcnt lgkmcnt(0)\n" + STORE,
     r"reads 4 bytes of LDS at byte 256, which another wave wrote since the last "
     r"barrier \(wave 1\)", 2),
    ("wait-atomic-before-barrier", STAGE + "  s_waitcnt lgkmcnt(0)\n  s_barrier\n"
     "  ds_add_u32 v1, v2\n! s_waitcnt lgkmcnt(0)\n  s_barrier\n" + OTHER +
     "  ds_read_b32 v2, v3\n  s_waitcnt lgkmcnt(0)\n" + STORE,
     r"LDS at byte \d+, which another wave wrote since the last barrier", 2),
    ("race", STAGE + "  s_waitcnt lgkmcnt(0)\n! s_barrier\n" + OTHER +
     "  ds_read_b32 v2, v3\n  s_waitcnt lgkmcnt(0)\n" + STORE,
     r"LDS at byte \d+, which (another wave wrote|was never written)", 2),
    ("race-write-after-read", STAGE + "  s_waitcnt lgkmcnt(0)\n  s_barrier\n" + OTHER +
     "  ds_read_b32 v2, v3\n  s_waitcnt lgkmcnt(0)\n! s_barrier\n  ds_write_b32 v1, v2\n",
     r"of LDS .* which another wave (read|wrote) since the last barrier", 2),
    ("lds-undefined", HEAD + "  v_mov_b32 v2, 1\n! ds_write_b32 v1, v2\n"
     "  ds_read_b32 v2, v1\n  s_waitcnt lgkmcnt(0)\n" + STORE,
     r"lane 0, .* reads 4 bytes of LDS at byte 0, which was never written", 1),
    ("undefined-data", HEAD + "! v_mov_b32 v2, 1\n" + STORE, r"lane 0, .* uses v2, which was "
     r"never written", 1),
    ("undefined-through-alu", HEAD + "! v_mov_b32 v3, 1\n  v_add_u32 v2, v3, v0\n" + STORE,
     r"uses v2, which was never written or was computed from", 1),
    # v5 is never written: the lower half of a sum needs the lower halves alone.
    ("undefined-lower-half", HEAD + "! v_mov_b32 v4, 1\n"
     "  v_mad_u64_u32 v[4:5], s[20:21], v0, 3, v[4:5]\n  v_mov_b32 v2, v4\n" + STORE,
     r"uses v2, which was never written or was computed from", 1),
    # The same where the carry, which needs both halves, takes the place of a factor.
    ("undefined-lower-half-beside-carry", HEAD + "  s_mov_b32 s20, 3\n! v_mov_b32 v4, 1\n"
     "  v_mad_u64_u32 v[4:5], s[20:21], v0, s20, v[4:5]\n  v_mov_b32 v2, v4\n" + STORE,
     r"uses v2, which was never written or was computed from", 1),
    # Nor v5 here: both results take the lower half of the second factor.
    ("undefined-packed-half", HEAD + "  v_mov_b32 v2, 1.0\n  v_mov_b32 v3, 1.0\n"
     "! v_mov_b32 v4, 1.0\n  v_pk_mul_f32 v[2:3], v[2:3], v[4:5] op_sel_hi:[1,0]\n"
     "  v_mov_b32 v2, v3\n" + STORE, r"uses v2, which was never written or was computed from", 1),
    # Nor s21 here: only the lower half of the copy is used.
    ("undefined-copied-half", HEAD + "! s_mov_b32 s20, 1\n  v_mov_b64 v[2:3], s[20:21]\n"
     + STORE, r"uses v2, which was never written or was computed from", 1),
    ("undefined-address", HEAD + "  v_mov_b32 v2, 1\n! v_mov_b32 v3, 0\n"
     "  global_store_dword v3, v2, s[6:7]\n", r"uses v3, which was never written", 1),
    ("undefined-branch", HEAD + "  v_mov_b32 v2, 1\n! s_mov_b32 s20, 0\n"
     "  s_cmp_eq_u32 s20, 0\n  s_cbranch_scc1 1\n  s_nop 0\n" + STORE,
     r"uses scc, which was never written", 1),
    ("undefined-exec", HEAD + "  v_mov_b32 v2, 1\n! s_mov_b64 s[20:21], -1\n"
     "  s_and_saveexec_b64 s[22:23], s[20:21]\n" + STORE, r"uses s20, which was never written", 1),
    ("hazard-valu-mfma", MATRIX.replace("  s_nop 1\n", "! s_nop 1\n") +
     "  s_nop 7\n  v_mov_b32 v2, v4\n" + STORE,
     r"hazard: VALU result read by a matrix operation .* 1 wait states between, needs 2", 1),
    # Four passes on the XDL pipeline: 4 + 3.
    ("hazard-mfma-valu", MATRIX + "  s_nop 5\n! s_nop 0\n  v_mov_b32 v2, v4\n" + STORE,
     r"hazard: matrix result read \(register v4\): 6 wait states between, needs 7", 1),
    ("hazard-mfma-store", MATRIX + "! s_nop 6\n  global_store_dword v1, v4, s[6:7]\n",
     r"hazard: matrix result read \(register v4\)", 1),
    ("hazard-mfma-a", MATRIX + "! s_nop 6\n"
     "  v_mfma_f32_16x16x16_f16 v[8:11], v[4:5], v[2:3], 0\n",
     r"hazard: matrix result read as A or B", 1),
    ("hazard-mfma-overwrite", MATRIX + "! s_nop 6\n  v_mov_b32 v4, 0\n",
     r"hazard: matrix result overwritten", 1),
    ("hazard-trans", HEAD + "  v_mov_b32 v3, 1.0\n  v_rcp_f32 v2, v3\n! s_nop 0\n"
     "  v_add_f32 v2, v2, v2\n" + STORE, r"hazard: transcendental result read", 1),
    ("hazard-sgpr-vmem", HEAD + "  v_mov_b32 v2, 1\n  s_mov_b32 s21, 0\n  s_mov_b32 s22, 0\n  s_mov_b32 s23, 0\n"
     "  v_readfirstlane_b32 s20, v2\n! s_nop 4\n  buffer_load_dword v2, v1, s[20:23], 0 offen\n  s_waitcnt vmcnt(0)\n",
     r"hazard: SGPR from VALU read by VMEM", 1),
    ("hazard-dpp", HEAD + "  v_mov_b32 v3, 1\n! s_nop 1\n"
     "  v_mov_b32_dpp v2, v3 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf\n" + STORE,
     r"hazard: VALU result read through DPP", 1),
    ("hazard-readlane", HEAD + "  v_mov_b32 v2, 1\n! s_nop 0\n  v_readfirstlane_b32 s20, v2\n" +
     STORE, r"hazard: VALU result read by v_readlane", 1),
]


def variants(text):
    good = text.replace("! ", "  ")
    bad = "\n".join(line for line in text.split("\n") if not line.startswith("!"))
    return good, bad


def run(hip, body, waves):
    code = simulator.assemble([simulator.kernel_asm("planted", body, lds=512, arguments=2)])
    data = np.arange(64 * waves, dtype=np.uint32)
    hip.run(code, "planted", [data, np.zeros_like(data)], block=(64 * waves,))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_found(hip, case):
    name, text, pattern, waves = case
    good, bad = variants(text)
    run(hip, good, waves)
    with pytest.raises(simulator.LaunchFailed) as failure:
        run(hip, bad, waves)
    report = str(failure.value)
    assert re.search(pattern, report), report
    assert report.startswith("kernel 'planted', workgroup (0, 0, 0), wave ")


def test_checks_can_be_disabled(hip):
    _, bad = variants(CASES[0][1])
    hip.configure("checks", 0)
    try:
        run(hip, bad, 1)
    finally:
        hip.configure("checks", 1)


@pytest.mark.parametrize("line,pattern", [
    ("  global_load_dword v2, v1, s[4:5] offset:4\n", "lane 63, .* loads 4 bytes out of bounds"
     ".*: byte 256 of an allocation of 256 bytes"),
    ("  v_mov_b32 v2, 0\n  global_store_dword v1, v2, s[6:7] offset:-4\n",
     "lane 0, .* stores 4 bytes out of bounds"),
    ("  global_load_dword v2, v1, s[4:5] offset:2\n", "lane 0, .* misaligned"),
    ("  v_mov_b32 v2, 0\n  ds_write_b32 v1, v2 offset:260\n",
     "lane 63, .* writes 4 bytes out of bounds at byte 512 of 512 bytes of LDS"),
    ("  v_mov_b32 v2, 0\n  ds_write_b32 v1, v2 offset:2\n", "lane 0, .* misaligned"),
    ("  v_mov_b32 v2, 0\n  global_atomic_add_x2 v1, v[0:1], s[6:7]\n", "lane 1, .* misaligned"),
    ("  v_mov_b32 v200, 0\n", "names a register beyond"),
    ("  s_trap 2\n", "trapped"),
    ("  v_cvt_off_f32_i4_sdwa v2, v1 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD\n"
     "  v_mqsad_u32_u8 v[4:7], v[0:1], v0, v[4:7]\n",
     "'v_mqsad_u32_u8 .*': this instruction is not implemented"),
])
def test_named(hip, line, pattern):
    with pytest.raises(simulator.LaunchFailed, match=pattern):
        run(hip, HEAD + line, 1)


@pytest.mark.parametrize("line", ["global_load_dword v2, v1, s[4:5] offset:2",
                                  "global_store_dword v1, v1, s[6:7] offset:1"])
def test_global_memory_at_any_byte(hip, line):
    """The card allows it, and the simulator unless it is told to be strict."""
    most = HEAD + "  v_cmp_gt_u32 vcc, 63, v0\n  s_and_b64 exec, exec, vcc\n"
    with pytest.raises(simulator.LaunchFailed, match="misaligned"):
        run(hip, f"{most}  {line}\n", 1)
    hip.configure("alignment", simulator.REQUIRED)
    try:
        run(hip, f"{most}  {line}\n", 1)
        for other in "ds_write_b32 v1, v1 offset:2", "global_atomic_add v1, v1, s[6:7] offset:2":
            with pytest.raises(simulator.LaunchFailed, match="misaligned"):
                run(hip, f"{most}  {other}\n", 1)
    finally:
        hip.configure("alignment", simulator.STRICT)


def test_divergent_barrier(hip):
    """One wave ends without the barrier the other waits at."""
    body = HEAD + """
  v_readfirstlane_b32 s20, v0
  s_cmp_eq_u32 s20, 0
  s_cbranch_scc1 1
  s_barrier
"""
    with pytest.raises(simulator.LaunchFailed, match="divergent barrier: 1 of 2 waves"):
        run(hip, body, 2)


def test_load_to_lds(hip):
    """The load into LDS needs its wait before LDS is read."""
    text = HEAD + """
  s_mov_b32 m0, 0
  s_nop 0
  global_load_lds_dword v1, s[4:5]
! s_waitcnt vmcnt(0)
  ds_read_b32 v2, v1
  s_waitcnt lgkmcnt(0)
""" + STORE
    good, bad = variants(text)
    code = simulator.assemble([simulator.kernel_asm("planted", good, lds=512, arguments=2)])
    data, result = np.arange(64, dtype=np.uint32) * 3, np.zeros(64, np.uint32)
    hip.run(code, "planted", [data, result])
    np.testing.assert_array_equal(result, data)
    with pytest.raises(simulator.LaunchFailed, match="load into LDS is still in flight"):
        run(hip, bad, 1)


def test_prefetch_to_lds(hip):
    """The usual double buffering is clean: the load of the next tile into the
    other half of LDS is in flight across a barrier while this one is read."""
    body = HEAD + """
  s_mov_b32 m0, 0
  s_nop 0
  global_load_lds_dword v1, s[4:5]
  s_waitcnt vmcnt(0)
  s_barrier
  v_and_b32 v4, 0xfc, v1
  v_sub_u32 v4, 0xfc, v4
  s_movk_i32 m0, 0x100
  s_nop 0
  global_load_lds_dword v1, s[4:5]
  ds_read_b32 v2, v4
  s_waitcnt lgkmcnt(0)
  s_barrier
  s_waitcnt vmcnt(0)
  s_barrier
  s_mov_b32 m0, 0
  s_nop 0
  global_load_lds_dword v1, s[4:5]
  ds_read_b32 v3, v4 offset:256
  s_waitcnt vmcnt(0) lgkmcnt(0)
  v_add_u32 v2, v2, v3
""" + STORE
    data, result = np.arange(64, dtype=np.uint32) * 3, np.zeros(64, np.uint32)
    code = simulator.assemble([simulator.kernel_asm("k", body, lds=512, arguments=2)])
    hip.run(code, "k", [data, result])
    np.testing.assert_array_equal(result, 2 * data[::-1])


def test_hang(hip):
    hip.configure("max-instructions", 100000)
    try:
        with pytest.raises(simulator.LaunchFailed, match="still runs after"):
            run(hip, "  s_branch 65535\n", 1)
    finally:
        hip.configure("max-instructions", 4_000_000_000)


def test_bank_conflicts(hip):
    """Column access of a 32-dword row hits one bank 32 times: 31 extra cycles
    for each half of the wave; padded rows have none."""
    for stride, expected in ((128, 62), (132, 0)):
        body = HEAD + f"""
  v_and_b32 v3, 31, v0
  s_movk_i32 s20, {stride}
  v_mul_u32_u24 v3, s20, v3
  v_mov_b32 v2, 1
  ds_write_b32 v3, v2
"""
        code = simulator.assemble([simulator.kernel_asm("k", body, lds=8192, arguments=2)])
        data = np.zeros(64, np.uint32)
        hip.run(code, "k", [data, data.copy()])
        assert hip.counters()["lds.conflict_cycles"] == expected
