# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Faults for kernels that the compiler made: where their assembly can be broken,
and how. Each is one line that is changed or gone."""

import collections
import re

Fault = collections.namedtuple("Fault", "kind line old new")

#: counter -> the most that may be in flight on gfx942: waits for nothing
COUNTERS = {"vmcnt": 63, "lgkmcnt": 15}


def add(pattern, amount, which=0):
    """Adds to one of the numbers that `pattern` matches in a line."""

    def change(line, rng):
        matches = list(re.finditer(pattern, line))
        match = matches[which] if which else rng.choice(matches)
        value = int(match.group(1), 0) + amount
        return line[: match.start(1)] + str(value) + line[match.end(1) :]

    return change


def weaken(line, rng):
    """One of the counters is waited for one load less, or not at all."""
    parts = re.findall(r"(vmcnt|lgkmcnt)\((\d+)\)", line)
    counter, count = rng.choice(parts)
    new = min(int(count) + 1, COUNTERS[counter]) if rng.random() < 0.5 else COUNTERS[counter]
    return line.replace(f"{counter}({count})", f"{counter}({new})")


def turn(line, rng):
    """A comparison that takes its border to the other side."""
    pairs = {"lt": "le", "le": "lt", "gt": "ge", "ge": "gt"}
    return re.sub(r"(v_cmp_)(lt|le|gt|ge)(?=_[iu]\d+)",
                  lambda m: m.group(1) + pairs[m.group(2)], line)


def move_lanes(line, rng):
    """Takes a value from other lanes."""
    if "quad_perm" in line:
        return re.sub(r"quad_perm:\[\d,\d,\d,\d\]", "quad_perm:[0,0,3,3]", line)
    if "row_mask" in line and "row_bcast" in line:
        return re.sub(r"row_mask:0x\w+", "row_mask:0x5", line)
    if "swizzle" in line and "SWAP" in line:
        return re.sub(r"SWAP,(\d+)", lambda m: f"SWAP,{32 // int(m.group(1))}", line)
    return re.sub(r"(row_(?:ror|shr|shl|newbcast):)(\d+)",
                  lambda m: f"{m.group(1)}{int(m.group(2)) % 15 + 1}", line)


def flip(line, rng):
    """A mask of lanes loses its lowest bit, a partner is another lane."""
    mask = int(re.search(r" (\d+), v", line).group(1))
    new = mask & (mask - 1) if "v_and" in line else mask ^ 3
    return re.sub(r" \d+, v", f" {new}, v", line, count=1)


def swap_operands(line, rng):
    """The two operands of a matrix product."""
    return re.sub(r"(v_mfma\S+ \S+) (\S+), (\S+),", r"\1 \3, \2,", line)


#: kind -> (lines it applies to, how they change; None removes them)
KINDS = {
    "wait gone": (r"s_waitcnt \S*cnt", None),
    "wait weak": (r"s_waitcnt \S*cnt", weaken),
    "barrier gone": (r"s_barrier", None),
    "LDS offset": (r"ds_(read|write)\S+ .*offset\d?:(\d+)", add(r"offset\d?:(\d+)", 8)),
    "global offset": (r"global_(load|store)\S+ .*offset:(\d+)", add(r"offset:(\d+)", 8)),
    "index": (r"v_(lshl|lshr|mad_[iu]|mul_[iu]|bfe_u)\w+ (.*, )?\d\d?(,|$)",
              add(r"[ ,](\d\d?)(?=,|$)", 1)),
    "lanes": (r"row_\w+:|quad_perm|ds_swizzle", move_lanes),
    "lane mask": (r"v_(xor|and)_b32\S* \S+ \d+, v", flip),
    "bound": (r"v_cmp_(lt|le|gt|ge)_[iu]\d+", turn),
    "mask gone": (r"s_and_saveexec_b64", lambda line, rng: re.sub(
        r"s_and_saveexec_b64 (\S+?), \S+", r"s_mov_b64 \1, exec", line)),
    "distance": (r"s_nop \d+", None),
    "operands": (r"v_mfma", swap_operands),
}


def find(assembly, rng):
    """Every fault of the kernels in `assembly`, in order."""
    lines = [line.split(";")[0].strip() for line in assembly.split("\n")]
    faults, is_inside = [], False
    for number, line in enumerate(lines):
        if re.match(r"[A-Za-z_]\w*:$", line):
            is_inside = True
        if line == "s_endpgm":
            is_inside = False
        for kind, (pattern, change) in KINDS.items():
            if not is_inside or not re.search(pattern, line):
                continue
            new = change(line, rng) if change else ""
            if new != line and not changes_nothing(kind, lines, number):
                faults.append(Fault(kind, number, line, new))
    return faults


def changes_nothing(kind, lines, number):
    """Changes that are not faults, whatever the inputs."""
    if kind == "bound":
        # min(i, n - 1), which is a comparison and a choice between what was
        # compared, is the same with or without the equal sign.
        mask = re.search(r" (vcc|s\[\d+:\d+\])", lines[number]).group(1)
        use = next((i for i in range(number + 1, len(lines)) if mask in lines[i]), number)
        return re.match(r"v_cndmask|s_and_b64 .*exec$", lines[use]) and (
            "v_cndmask" in lines[use] or "s_cselect" in lines[use + 1])
    if kind == "barrier gone":
        # Nothing is in LDS yet, and no loop comes back.
        before, after = lines[:number], lines[number + 1 :]
        is_first = not any(re.match(r"ds_(read|write|add|or|max|min)|.* lds$", l) for l in before)
        labels = {line[:-1] for line in before if line.endswith(":")}
        return is_first and not any("branch" in l and l.split()[-1] in labels for l in after)
    if kind == "distance":
        # Between two loads it ends a clause of them, which a card that restarts
        # them after a page fault needs: xnack is off.
        memory = r"(global|flat|buffer|s)_(load|store)"
        around = lines[number - 1], lines[number + 1]
        return all(re.match(memory, line) for line in around)
    return False


def probe(fault):
    """In a fault's place, a trap that shows whether a test can tell: the place is
    reached, and where a mask is concerned it then is another one in some lane."""
    test = ""
    if fault.kind == "bound":
        mask = re.search(r" (vcc|s\[\d+:\d+\])", fault.old).group(1)
        equal = re.sub(r"_(lt|le|gt|ge)_", "_eq_", fault.old)
        test = f"{equal}\n s_nop 4\n s_cmp_eq_u64 {mask}, 0\n s_cbranch_scc1 .Lprobe"
    if fault.kind == "mask gone":
        saved, mask = re.search(r"(\S+), (\S+)$", fault.old).groups()
        if saved != mask:
            test = f"s_andn2_b64 {saved}, exec, {mask}\n s_cbranch_scc0 .Lprobe"
    return fault._replace(new=f"{test}\n s_trap 2\n.Lprobe:\n {fault.old}")


def plant(assembly, fault):
    lines = assembly.split("\n")
    lines[fault.line] = fault.new
    return "\n".join(lines)
