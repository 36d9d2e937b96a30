# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Feeds damaged IR to gist-opt: it may refuse, it must not crash or hang.

Usage: mutate_ir.py [options] GIST_OPT_FORKS TEST_FOLDER

Each case is one part of an .mlir test, with a few tokens or lines changed. It
goes through the parser and verifier, and through the passes of each RUN line of
its own file. What kills or stalls gist-opt is kept in --keep, with the command
that does it again.
"""

import argparse
import os
import pathlib
import random
import re
import shlex
import subprocess
import sys
import time

TOKEN = re.compile(r"[%@#^!]?[\w$.]+|\S")
NUMBER = re.compile(r"(?<![\w.%@#])-?\d+(?:\.\d+(?:e[+-]?\d+)?)?")
SIZE = re.compile(r"(?:(?<=[<x])|(?<=<))(\d+|\?)(?=x|>)")
ATTRIBUTE = re.compile(r"[\w.$]+\s*=\s*[^,{}<>]+")
# Ends of ranges, and sizes whose products or sums wrap.
NUMBERS = [
    "0", "1", "-1", "2", "3", "7", "31", "33", "127", "255", "256", "257", "4097", "65536",
    "16777217", "2147483647", "2147483648", "4294967296", "4611686018427387904",
    "9223372036854775807", "-9223372036854775808", "18446744073709551616", "?",
    "0.0", "-0.0", "1.0e-45", "1.0e30", "0x7FC00000", "0x7F800000", "0xFF800000",
]  # fmt: skip
SIZES = [
    "0", "1", "2", "3", "5", "7", "8", "10", "16", "24", "31", "32", "33", "48", "63", "64", "65", "96", "128",
    "129", "255", "256", "257", "512", "576", "1024", "4097", "65536", "4294967296", "4611686018427387904", "?",
]  # fmt: skip
ELEMENTS = ["f16", "bf16", "f32", "f64", "i8", "i32", "i64"]
TYPES = [
    "f16", "bf16", "f32", "f64", "i1", "i8", "i32", "i64", "index", "tensor<?x64xf32>",
    "tensor<0x0xf16>", "tensor<8x3x64xbf16>", "tensor<*xf32>", "tensor<f32>", "!gist.selection<?>",
    "!gist.selection<3x8>", "tensor<4xi8>", "memref<8x64xf32>", "vector<4xf32>", "tensor<1x1x1xf32>",
]  # fmt: skip
ATTRIBUTES = ["1 : i64", "1 : i32", "-1 : i64", "unit", '"text"', "[]", "[1]", "{}", "1.0 : f32", "@f", "i32"]
# What MLIR's own parser dies of, in mlir-opt as well: not ours to refuse.
UPSTREAM = re.compile(
    r"array<(?!i\d|f\d)|permutation\s*(?!\s*=\s*\[[0-9, ]*\])|from_elements.*\b\d{10,}"
    r'|iterator_types\s*(?!\s*=\s*\[(?:\s*"\w*"\s*,?)*\])'
)


def replace(text, span, new):
    return text[: span[0]] + new + text[span[1] :]


def spans(pattern, text):
    return [match.span() for match in pattern.finditer(text)]


def change_number(text, rng):
    found = spans(NUMBER, text)
    return replace(text, rng.choice(found), rng.choice(NUMBERS)) if found else text


def change_number_everywhere(text, rng):
    """A size that all types agree on: most such files are still valid."""
    found = sorted(set(SIZE.findall(text)))
    if not found:
        return text
    old, new = rng.choice(found), rng.choice(SIZES)
    return re.sub(rf"(?<![\w.%@#-]){old}(?=x|>)|(?<=x){old}(?=x|>)", new, text)


def change_type_everywhere(text, rng):
    old, new = rng.choice(ELEMENTS), rng.choice(ELEMENTS)
    return re.sub(rf"(?<=x){old}\b|(?<![\w%@#]){old}\b", new, text)


def change_type(text, rng):
    found = spans(re.compile(r"\b(?:f16|bf16|f32|f64|i\d+|index)\b|(?:tensor|memref|vector)<[^<>]*>"), text)
    return replace(text, rng.choice(found), rng.choice(TYPES)) if found else text


def change_attribute(text, rng):
    """Drops one, gives it another value, or has it twice."""
    found = spans(ATTRIBUTE, text)
    if not found:
        return text
    begin, end = rng.choice(found)
    whole = text[begin:end]
    name = whole.split("=")[0].rstrip()
    new = rng.choice(["", name, f"{name} = {rng.choice(ATTRIBUTES)}", f"{whole}, {whole}"])
    return replace(text, (begin, end), new)


def change_token(text, rng):
    found = spans(TOKEN, text)
    if not found:
        return text
    begin, end = rng.choice(found)
    other = rng.choice(found)
    new = rng.choice(["", text[other[0] : other[1]], text[begin:end] + " " + text[begin:end]])
    return replace(text, (begin, end), new)


def swap_alike(text, rng):
    """Swaps two tokens of one kind: two values, two numbers, two types."""
    found = spans(TOKEN, text)
    if not found:
        return text
    first = rng.choice(found)
    kind = text[first[0]]
    alike = [s for s in found if text[s[0]] == kind and s != first]
    if not alike:
        return text
    a, b = sorted([first, rng.choice(alike)])
    return text[: a[0]] + text[b[0] : b[1]] + text[a[1] : b[0]] + text[a[0] : a[1]] + text[b[1] :]


def change_lines(text, rng):
    """Removes an op, doubles it, or swaps two."""
    lines = text.split("\n")
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    kind = rng.randrange(3)
    if kind == 0:
        del lines[i]
    elif kind == 1:
        lines.insert(j, lines[i])
    else:
        lines[i], lines[j] = lines[j], lines[i]
    return "\n".join(lines)


def drop_body(text, rng):
    """A function without its body: a declaration."""
    found = list(re.finditer(r"^(func\.func [^\n]*?(?:\n[^\n]*?)?)\s*\{\n.*?^\}", text, re.M | re.S))
    if not found:
        return text
    match = rng.choice(found)
    return replace(text, match.span(), match.group(1).replace("@", "private @", 1) if "private" not in match.group(1) else match.group(1))


MUTATIONS = [change_number_everywhere] * 12 + [change_type_everywhere] * 4
MUTATIONS += [change_number] * 5 + [change_type] * 3 + [change_attribute] * 4 + [change_token] * 3
MUTATIONS += [swap_alike] * 3 + [change_lines] * 2 + [drop_body]


def mutate(text, rng):
    for _ in range(rng.choice([1, 1, 2, 3])):
        text = rng.choice(MUTATIONS)(text, rng)
    return text


def commands_of(path, text):
    """The arguments of gist-opt in the RUN lines of a file, without the input."""
    text = re.sub(r"\\\n//\s*RUN:\s*", "", text)
    commands = [[]]  # the parser and the verifiers alone
    for line in re.findall(r"RUN:(.*)", text):
        line = line.replace("%source_root", str(path.parents[-2]))
        match = re.search(r"\bgist-opt\b([^|><]*)", line)
        if not match or "%s" not in match.group(1):
            continue
        words = [w for w in shlex.split(match.group(1)) if w not in ("%s", "2")]
        kept, skip = [], False
        for word in words:
            if skip or word == "-o":
                skip = word == "-o"
                continue
            if word.lstrip("-") in ("split-input-file", "verify-diagnostics"):
                continue
            kept.append(re.sub(r"output=%t\S*", "output=/dev/null", word))
        if not any("%" in word for word in kept) and kept not in commands:
            commands.append(kept)
    return commands


def parts_of(folder):
    """Every part of every test, and the commands of its file."""
    found = []
    for path in sorted(folder.rglob("*.mlir")):
        text = path.read_text()
        commands = commands_of(path, text)
        if len(commands) == 1 and "gist-opt" not in text:
            continue
        text = re.sub(r"^\s*//(?! -----).*\n", "", text, flags=re.M)
        for part in re.split(r"^// -----.*$", text, flags=re.M):
            if part.strip() and len(part) < 20000:
                found.append((path.relative_to(folder), part, commands))
    return found


class Forks:
    """A process that runs commands of gist-opt; its answers are one line each."""

    def __init__(self, program, seconds, said):
        self.said = said  # what the commands print
        environment = {**os.environ, "LLVM_DISABLE_SYMBOLIZATION": "1", "LLVM_DISABLE_CRASH_REPORT": "1"}
        self.process = subprocess.Popen(
            [program, str(seconds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
            text=True,
            env=environment,
        )

    def run(self, arguments, path):
        self.said.seek(0)
        self.said.truncate()
        line = "\t".join([*arguments, str(path), "-o", "/dev/null"])
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        if not answer:
            raise RuntimeError("gist-opt-forks ended")
        return answer


def why(said):
    """What was said of the fault: an assertion, or how it began."""
    said.seek(0)
    lines = said.read().decode(errors="replace").splitlines()
    for line in lines:
        if "Assertion" in line or "LLVM ERROR" in line or "unreachable" in line:
            return line.strip()
    return "; ".join(line.strip() for line in lines[:3])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=500, help="damaged files")
    parser.add_argument("--seconds", type=float, default=0, help="stop after this time; 0: when all are done")
    parser.add_argument("--limit", type=int, default=60, help="seconds of processor time for one command")
    parser.add_argument("--only", default="", help="only tests whose path has this in it")
    parser.add_argument("--keep", type=pathlib.Path, default=pathlib.Path("found"))
    options = parser.parse_args()

    rng = random.Random(options.seed)
    parts = [p for p in parts_of(options.folder.resolve()) if options.only in str(p[0])]
    options.keep.mkdir(parents=True, exist_ok=True)
    case = options.keep / f"case-{options.seed}.mlir"
    started = time.monotonic()
    files = runs = accepted = found = 0
    with open(options.keep / f"said-{options.seed}", "w+b", buffering=0) as said:
        forks = Forks(options.program, options.limit, said)
        while files < options.count:
            if options.seconds and time.monotonic() - started > options.seconds:
                break
            name, part, commands = rng.choice(parts)
            text = mutate(part, rng)
            if UPSTREAM.search(text):
                continue
            case.write_text(text)
            files += 1
            for arguments in commands:
                answer = forks.run(arguments, case)
                runs += 1
                if answer == "exit 0":
                    accepted += 1
                elif answer != "exit 1":
                    found += 1
                    kept = options.keep / f"{options.seed}-{files}-{found}.mlir"
                    kept.write_text(f"// {answer}: {why(said)}\n// gist-opt {shlex.join(arguments)}\n{text}")
                    print(f"{answer}: {name}: gist-opt {shlex.join(arguments)} {kept}\n  {why(said)}", flush=True)
                elif not arguments:
                    break  # Not a file of ours: passes would say the same.
    print(f"{files} damaged files, {runs} runs, {accepted} accepted, {found} crashes and hangs")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
