"""The simulator against the manual's own definitions: every vector instruction
whose pseudocode the interpreter understands, on random and extreme sources."""

import re
import subprocess

import numpy as np
import pytest

import pseudocode
import simulator
from test_instructions import MASK, VCC, M64, body, sources

pcode = pytest.importorskip("tinygrad.runtime.autogen.amd.cdna.str_pcode")

ABSENT = "the simulator stops at it with its name: no kernel of ours uses it"
EXPLAINED = {
    "v_rsq_f32_e32": "the formula rounds twice; the hardware promises one ulp",
    **dict.fromkeys(["v_cubeid_f32_e64", "v_cubesc_f32_e64", "v_cubetc_f32_e64",
                     "v_cubema_f32_e64", "v_mad_f16"], ABSENT),
}


def operands(text):
    """Registers of the destination and sources, by the widths the text names."""
    def pair(name, register):
        wide = re.search(rf"\b{name}\.[uifb]64", text)
        return f"v[{register}:{register + 1}]" if wide else f"v{register}"
    names = ["D0", "S0", "S1", "S2"]
    return [pair(name, register) for name, register in zip(names, (10, 2, 4, 6))
            if name == "D0" or re.search(rf"\b{name}\b", text)]


def candidates():
    for op, text in pcode.PCODE.items():
        family = type(op).__name__
        if family not in ("VOP1Op", "VOP2Op", "VOP3Op", "VOP3POp", "VOPCOp"):
            continue
        name = op.name.lower()
        if name.startswith("v_cmpx") or "OPSEL" in text or "SIMM" in text or "laneId]" in \
                text.replace("u64[laneId]", ""):
            continue
        if family == "VOPCOp":
            if not name.startswith("v_cmp_"):
                continue
            registers = ["vcc"] + operands(text.replace("D0.u64", "D0"))[1:]
        else:
            if "VCC" in text or "D0.u64[laneId]" in text or "EXEC" in text:
                continue
            registers = operands(text)
        try:
            machine = pseudocode.Machine(text)
            evaluate(machine, 5, 3, 7, 1, 0)
        except pseudocode.Unknown:
            continue
        except (ArithmeticError, ValueError, KeyError, AttributeError):
            continue
        yield name, text, f"{name} " + ", ".join(registers)


def evaluate(machine, a, b, c, d, lane):
    result = machine.run(S0=(a, 64), S1=(b, 64), S2=(c, 64), D0=(d, 64), VCC=(VCC, 64),
                         EXEC=(MASK, 64), SCC=(0, 1), laneId=(lane, 32))
    return result["D0"][0] & M64, result["VCC"][0] & M64


def assembles(lines):
    """The lines that the assembler accepts for gfx942, found in one run of it."""
    source = "\n".join(lines)
    result = subprocess.run(
        [simulator.tool("llvm-mc"), "-triple=amdgcn-amd-amdhsa", "-mcpu=gfx942", "-o", "/dev/null"],
        input=source, capture_output=True, text=True)
    bad = {int(n) - 1 for n in re.findall(r"<stdin>:(\d+):\d+: error", result.stderr)}
    return [i for i in range(len(lines)) if i not in bad]


ALL = list(candidates())
CASES = [ALL[i] for i in assembles([line for _, _, line in ALL])]


def kind_of(text):
    if re.search(r"\.f64", text):
        return "wide_float"
    if re.search(r"\.f16", text):
        return "half"
    return "float" if re.search(r"\.f32", text) else "plain"


def is_nan(bits, text):
    kind = kind_of(text)
    if kind == "wide_float":
        return np.isnan(np.uint64(bits).view(np.float64))
    if kind == "float":
        return np.isnan(np.uint32(bits & 0xFFFFFFFF).view(np.float32))
    # Which NaN NumPy gives depends on the machine that runs it.
    return bool(re.search(r"D0\.f16", text)) and np.isnan(np.uint16(bits & 0xFFFF).view(np.float16))


def test_coverage():
    """The number of instructions that the interpreter understands must not shrink."""
    assert len(CASES) >= 290


@pytest.fixture(scope="module")
def module(hip):
    return hip.load(simulator.assemble(
        [simulator.kernel_asm(f"k{i}", body(line), arguments=2)
         for i, (_, _, line) in enumerate(CASES)]))


@pytest.mark.parametrize("index", range(len(CASES)), ids=[name for name, _, _ in CASES])
def test_definition(hip, module, index):
    name, text, line = CASES[index]
    if name in EXPLAINED:
        pytest.skip(EXPLAINED[name])
    values = sources(kind_of(text), np.random.default_rng(index))
    result = np.zeros((2, 64), np.uint64)
    hip.run(module, f"k{index}", [values, result])
    machine = pseudocode.Machine(text)
    wide = "v[10:11]" in line
    compare = " vcc," in line
    half = re.search(r"D0\.[uif]16\b", text) and not compare
    for lane in range(64):
        a, b, c, d = (int(values[k, lane]) for k in range(4))
        if not MASK >> lane & 1:
            continue
        with np.errstate(all="ignore"):
            d0, _ = evaluate(machine, a, b, c, d, lane)
        if compare:
            got, want = int(result[1, 0]) >> lane & 1, d0 >> lane & 1
        else:
            mask = M64 if wide else 0xFFFF if half else 0xFFFFFFFF
            got, want = int(result[0, lane]) & mask, d0 & mask
            if is_nan(got, text) and is_nan(want, text):
                continue
        assert got == want, (f"{line}: lane {lane}: {got:#x}, the manual says {want:#x} from "
                             f"{a:#x} {b:#x} {c:#x} {d:#x}:\n{text}")
