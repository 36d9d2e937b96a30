# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gives odd modules to every pass and every pipeline of gist-opt, alone: each may
refuse them, none may crash.

Usage: every_pass.py GIST_OPT GIST_OPT_FORKS FILE

FILE has parts between lines of // -----. A pass gets each of them as it is, and
with a target on the module.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

from mutate_ir import Forks, why

TARGETS = [[], ["-gist-set-target=target=cpu"], ["-gist-set-target=target=gfx942"]]
# What one must say to get any further than options. Files are not written.
OPTIONS = {
    "gist-set-target": "target=cpu",
    "gist-check-stage": "stage=tiles",
    "gist-write-cpu-code": "output=/dev/null",
    "gist-write-gpu-code": "output=/dev/null",
    "gist-add-nll-entry": "from=k",
    "gist-add-observe-entry": "from=k",
}


def main():
    program, forks, source = sys.argv[1:]
    said = subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
    passes = sorted(set(re.findall(r"^\s+--(gist-[a-z0-9-]+)", said, re.M)))
    assert len(passes) > 40, passes
    parts = re.split(r"^// -----.*$", pathlib.Path(source).read_text(), flags=re.M)
    runs = found = 0
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile(buffering=0) as out:
        process = Forks(forks, 60, out)
        for number, part in enumerate(parts):
            case = pathlib.Path(folder) / f"{number}.mlir"
            case.write_text(part)
            for name in passes:
                option = f"-{name}={OPTIONS[name]}" if name in OPTIONS else f"-{name}"
                for target in TARGETS:
                    answer = process.run([*target, option], case)
                    runs += 1
                    if answer not in ("exit 0", "exit 1"):
                        found += 1
                        print(f"{answer}: part {number}: {' '.join(target)} {option}\n  {why(out)}")
    print(f"{len(passes)} passes and pipelines, {runs} runs, {found} crashes and hangs")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
