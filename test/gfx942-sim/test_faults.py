"""Faults planted into compiled kernels, as a broken code generator would: a
wait or a barrier is gone, an index, a lane or a mask is off. Each must be found
by the checks or by wrong numbers. What is planted is drawn from a fixed seed,
not chosen."""

import ctypes
import pathlib
import random
import re
import subprocess

import numpy as np
import pytest

import simulator

FAULTS = 50
LEAST = 48


def compile_asm():
    source = pathlib.Path(__file__).with_name("faults.c")
    return subprocess.run([simulator.tool("clang"), *simulator.TARGET, "-O3", "-S", source,
                           "-o", "-"], check=True, capture_output=True, text=True).stdout


def bump(match):
    """The next number; keeps what stands before it."""
    return f"{match.group(1)}{int(match.group(2), 0) + 1}"


# kind -> (which lines, how the line changes; None removes it)
KINDS = {
    "wait": (r"s_waitcnt", None),
    "barrier": (r"s_barrier", None),
    "offset": (r"(ds_|global_)(?!bpermute)\S+ .*offset0?:\d+",
               lambda line: re.sub(r"(offset0?:)(\d+)", bump_dword, line, count=1)),
    "no-offset": (r"(ds_write_b|global_store|global_load)\S+ (?!.*offset)",
                  lambda line: line + (" offset:4" if "2_b" not in line else " offset0:1")),
    "shift": (r"v_lshl\S+ .*, [2-6], v", lambda line: re.sub(r"(, )([2-6])(?=, v)", bump, line,
                                                            count=1)),
    "lane": (r"row_shr:\d|row_bcast:\d+", lambda line: re.sub(
        r"(row_shr:)(\d+)", bump, line) if "row_shr" in line else re.sub(
        r"row_mask:0x[ac]", "row_mask:0x5", line)),
    "swap": (r"(ds_write_b\d+|ds_bpermute_b32) .*", lambda line: re.sub(
        r"(v\d+|v\[\d+:\d+\]), (v\d+)( |$)", r"\2, \1\3", line) if "permute" in line else
        re.sub(r"(ds_write_b\d+) (v\d+), (v\d+)$", r"\1 \3, \2", line)),
    "mask": (r"s_and_saveexec_b64", lambda line: re.sub(
        r"s_and_saveexec_b64 (\S+?), \S+", r"s_mov_b64 \1, exec", line)),
    "compare": (r"v_cmp_(gt|lt)_\S+", lambda line: re.sub(
        r"v_cmp_(gt|lt)", lambda m: {"gt": "v_cmp_le", "lt": "v_cmp_ge"}[m.group(1)], line)),
    "nop": (r"s_nop [1-9]", None),
    "matrix": (r"v_mfma", lambda line: re.sub(
        r"(v_mfma\S+ \S+ )(\S+), (\S+),", r"\1\3, \2,", line)),
}


def bump_dword(match):
    return f"{match.group(1)}{int(match.group(2)) + (4 if match.group(1) == 'offset:' else 1)}"


def places(asm):
    """Every line of a kernel's body that a kind applies to and changes."""
    lines, found, kernel = asm.split("\n"), [], None
    for number, line in enumerate(lines):
        code = line.split(";")[0].rstrip()
        if re.match(r"(gemm|reduce|scan):", code):
            kernel = code.split(":")[0]
        if code.strip() == "s_endpgm":
            kernel = None
        if not kernel:
            continue
        for kind, (pattern, change) in KINDS.items():
            if re.search(pattern, code):
                new = change(code) if change else ""
                if new != code:
                    found.append((kind, kernel, number, new))
    return lines, found


def run_all(hip, asm, kernel):
    """True if the kernel runs clean and its numbers are right."""
    try:
        code = simulator.compile_gpu(asm, language="assembler")
    except subprocess.CalledProcessError:
        return None
    rng = np.random.default_rng(1)
    if kernel == "gemm":
        k = 48
        a = rng.integers(-4, 5, (32, k)).astype(np.float16)
        b = rng.integers(-4, 5, (32, k)).astype(np.float16)
        result = np.full((32, 32), np.nan, np.float32)
        arguments, launch = [a, b, result, ctypes.c_int(k)], {"block": (128,)}
        expected = a.astype(np.float32) @ b.astype(np.float32).T
    elif kernel == "reduce":
        values = rng.integers(-100, 100, 700).astype(np.float32)
        result = np.full(3, np.nan, np.float32)
        arguments = [values, result, ctypes.c_int(700)]
        launch = {"grid": (3,), "block": (256,)}
        expected = np.add.reduceat(values, [0, 256, 512])
    else:
        values = rng.integers(-100, 100, 150).astype(np.int32)
        result = np.full(150, -1, np.int32)
        arguments, launch = [values, result, ctypes.c_int(150)], {"grid": (3,)}
        padded = np.zeros(192, np.int32)
        padded[:150] = values
        scanned = np.cumsum(padded.reshape(3, 64), axis=1, dtype=np.int32)
        # The last wave has lanes that are off when they are asked for a value.
        expected = np.roll(scanned, -1, axis=1).reshape(-1)[:150]
    try:
        hip.run(code, kernel, arguments, **launch)
    except simulator.LaunchFailed:
        return False
    return bool(np.array_equal(result, expected))


@pytest.fixture(scope="module")
def asm():
    return compile_asm()


@pytest.mark.parametrize("kernel", ["gemm", "reduce", "scan"])
def test_unharmed(hip, asm, kernel):
    assert run_all(hip, asm, kernel) is True


def test_planted(hip, asm):
    lines, found = places(asm)
    rng = random.Random(942)
    by_kind = {kind: [p for p in found if p[0] == kind] for kind in KINDS}
    planted, missed, kinds = 0, [], sorted(kind for kind in by_kind if by_kind[kind])
    for group in by_kind.values():
        rng.shuffle(group)
    while planted < FAULTS:
        kinds = [kind for kind in kinds if by_kind[kind]]
        assert kinds, f"only {planted} places to plant a fault"
        for kind in kinds:
            if planted == FAULTS:
                break
            _, kernel, number, new = by_kind[kind].pop()
            changed = lines[:number] + [new] + lines[number + 1:]
            clean = run_all(hip, "\n".join(changed), kernel)
            if clean is None:
                continue  # Not a valid instruction any more.
            planted += 1
            if clean:
                missed.append(f"{kind} in {kernel}: '{lines[number].strip()}' -> '{new.strip()}'")
    assert planted - len(missed) >= LEAST, missed
    print(f"{planted - len(missed)} of {planted} found; missed: {missed}")
