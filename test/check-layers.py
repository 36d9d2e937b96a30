#!/usr/bin/env python3
"""Fails when a folder includes a header of a folder above it.

LAYERS lists the folders from the lowest to the highest. A file may include
headers of its own folder and of folders before it, and nothing else. A folder
that is not listed is a failure too: a new one must be added to the list.
NARROW lists headers that only some files may include.
"""

import pathlib
import re
import sys

LAYERS = [
    # The runtime: no LLVM.
    "runtime/support",
    "runtime/format",  # layouts, for all folders above
    "runtime/module",
    "runtime/device",  # with gpu, which is part of the same library
    "runtime/ranks",
    "runtime/text",
    "runtime/grammar",
    "runtime/session",
    "runtime",
    # What files of models and plans say: no LLVM either.
    "passes/Import/Files",
    "passes/Plan/File",
    # The compiler.
    "dialect",
    "passes",  # Passes.h, which every pass includes; Pipelines is checked below.
    "passes/Kernel",
    "passes/Check",
    "passes/Target/Info",
    "passes/Cost",
    "passes/Reference",
    "passes/Import/Torch",  # graphs that torch-mlir writes
    "passes/Import",
    "passes/Plan",
    "passes/Ranks",
    "passes/Graph",
    "passes/Tile/Cpu",
    "passes/Tile/Gpu/Core",
    "passes/Tile/Gpu/Elements",
    "passes/Tile/Gpu/Matmul",
    "passes/Tile/Gpu/Attention",
    "passes/Tile/Gpu/Select",
    "passes/Tile/Gpu/Cluster",
    "passes/Tile/Gpu/Gated",
    "passes/Tile/Gpu/Experts",
    "passes/Tile/Gpu/Sample",
    "passes/Tile/Gpu",
    "passes/Tile",
    "passes/Target",
    "passes/Emit",
    "passes/Iree",
    "passes/Driver",
    # Tools, and the libraries that several of them share.
    "tools/running",
    "tools/tasks",
    "tools/planning/texts",  # string literals
    "tools/planning",
    "tools/report",
    "tools/serving",
    "tools/simulator",
    "tools/gfx942-sim",
    "tools/gist",
    "tools/gist-compile",
    "tools/gist-lsp-server",
    "tools/gist-opt",
    "tools/gist-plan",
    "tools/gist-reduce",
    "tools/gist-run",
    "tools/gist-serve",
    "tools/python",
]

# The spine orders all passes, so it stands above every stage but the driver.
SPINE = {"passes/Pipelines.cpp", "passes/Pipelines.h"}

# These see nothing of LLVM or MLIR, so that a machine without them can build
# the runtime and its tools.
PLAIN = (
    "runtime/",
    "passes/Import/Files/",
    "passes/Plan/File/",
    "tools/gist/",
    "tools/gist-plan/",
    "tools/gist-run/",
    "tools/gist-serve/",
    "tools/planning/",
    "tools/python/",
    "tools/report/",
    "tools/running/",
    "tools/serving/",
    "tools/tasks/",
)

# What is written by hand though libraries exist, or taken from a package, stands
# behind one narrow header (docs/decisions/009): the header's name, or a pattern
# of names, and the files that may include it.
NARROW = [
    (r"runtime/text/Unicode.*", r"runtime/(text|grammar)/.*"),
    (r"runtime/text/(Tokenizer|ChatTemplate)(?!\.h|Spec\.h|Import\.h).*",
     r"runtime/text/.*"),
    (r"runtime/text/TokenizerImport\.h", r"runtime/text/.*|passes/Import/Files/.*"),
    (r"runtime/device/ThreadPool\.h", r"runtime/device/.*|tools/running/Evaluation\.cpp"),
    (r"runtime/device/gpu/.*", r"runtime/device/.*"),
    (r"xxhash\.h", r"runtime/support/Hash\.cpp"),
    (r"(flatbuffers/.*|runtime/module/Format_generated\.h)", r"runtime/module/.*"),
    (r"Eigen/.*", r"tools/planning/.*"),
    (r"CLI/.*", r"tools/.*"),
    (r"nanobind/.*", r"tools/python/.*"),
]


def rank(path: str) -> float:
    """The place of a file's folder; raises ValueError where it has none."""
    if path in SPINE:
        return LAYERS.index("passes/Driver") - 0.5
    folder = str(pathlib.PurePosixPath(path).parent)
    return LAYERS.index("runtime/device" if folder == "runtime/device/gpu" else folder)


def find_faults(root: pathlib.Path) -> list[str]:
    include = re.compile(r'^#include "((?:dialect|passes|runtime|tools)/[^"]+)"')
    any_include = re.compile(r'^#include [<"]([^>"]+)[>"]')
    llvm = re.compile(r'^#include [<"](?:llvm|mlir|lld)/')
    faults = []
    files = [
        path
        for folder in ("dialect", "passes", "runtime", "tools")
        for path in sorted((root / folder).rglob("*"))
        if path.suffix in (".cpp", ".h", ".c")
    ]
    for path in files:
        name = path.relative_to(root).as_posix()
        try:
            own = rank(name)
        except ValueError:
            faults.append(f"{name}: its folder is not in LAYERS of {__file__}")
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if name.startswith(PLAIN) and llvm.match(line):
                faults.append(f"{name}:{number}: includes LLVM: {line}")
            header = any_include.match(line)
            for pattern, users in NARROW:
                if (header and re.fullmatch(pattern, header.group(1))
                        and not re.fullmatch(users, name)):
                    faults.append(f"{name}:{number}: includes what is not for it: {line}")
            found = include.match(line)
            if not found:
                continue
            try:
                other = rank(found.group(1))
            except ValueError:
                faults.append(f"{name}:{number}: unknown folder: {line}")
                continue
            if other > own:
                faults.append(f"{name}:{number}: includes upwards: {line}")
    return faults


def main() -> int:
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    faults = find_faults(root)
    print("\n".join(faults))
    print(f"{len(faults)} wrong includes")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
