# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Feeds damaged IR to gist-opt: it may refuse, it must not crash.

Usage: mutate_ir.py GIST_OPT SEED COUNT FILE...

Each case is one function of the given files with a few tokens swapped, dropped
or replaced. Cases go to gist-opt many at a time; when a batch dies its cases
are tried one by one, and the one that kills it is printed.
"""

import random
import re
import subprocess
import sys

TOKEN = re.compile(r"%[\w#]+|@\w+|!?\w+(?:\.\w+)*|[-+]?\d[\w.+-]*|\S")
NUMBERS = ["0", "-1", "1", "2", "?", "9223372036854775807", "0x7FC00000", "1.0e30"]
TYPES = [
    "tensor<?x64xf32>",
    "tensor<0x0xf16>",
    "tensor<8x3x64xbf16>",
    "tensor<*xf32>",
    "!gist.selection<?>",
    "!gist.selection<3x8>",
    "tensor<4xi8>",
    "memref<8x64xf32>",
    "vector<4xf32>",
    "index",
]
BATCH = 40


def cases(paths):
    functions = []
    for path in paths:
        text = re.sub(r"//.*", "", open(path, encoding="utf-8").read())
        functions += [f for f in re.split(r"(?=^func\.func)", text, flags=re.M) if "gist." in f]
    return functions


def mutate(text, rng):
    for _ in range(rng.randint(1, 3)):
        spans = [m.span() for m in TOKEN.finditer(text)]
        begin, end = rng.choice(spans)
        kind = rng.randrange(5)
        if kind == 0:
            new = ""
        elif kind == 1:
            b, e = rng.choice(spans)
            new = text[b:e]
        elif kind == 2:
            new = rng.choice(NUMBERS)
        elif kind == 3:
            new = rng.choice(TYPES)
        else:
            new = text[begin:end] + " " + text[begin:end]
        text = text[:begin] + new + text[end:]
    return text


def crashed(tool, flags, text):
    """True when gist-opt ended other than by saying yes (0) or no (1)."""
    run = subprocess.run(
        [tool, "-split-input-file", "--allow-unregistered-dialect=false", *flags, "-o", "/dev/null"],
        input=text.encode(),
        capture_output=True,
        timeout=120,
        check=False,
    )
    return run.returncode not in (0, 1)


def main():
    tool, seed, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    rng = random.Random(seed)
    functions = cases(sys.argv[4:])
    done = 0
    while done < count:
        batch = [mutate(rng.choice(functions), rng) for _ in range(BATCH)]
        done += BATCH
        for flags in (["-canonicalize"], ["-gist-decompose"]):
            if not crashed(tool, flags, "\n// -----\n".join(batch)):
                continue
            for text in batch:
                if crashed(tool, flags, text):
                    print(f"gist-opt {' '.join(flags)} crashed on:\n{text}")
            return 1
    print(f"{done} damaged functions, no crash")
    return 0


if __name__ == "__main__":
    sys.exit(main())
