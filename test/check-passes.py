#!/usr/bin/env python3
"""Fails when a pass has no lit test of its own.

A pass `-gist-x-y` of passes/Passes.td has a file x-y.mlir (or x-y.test, where
the pass needs a model) below test/, and a RUN line of that file names the flag.
"""

import pathlib
import re
import sys


def main():
    root = pathlib.Path(sys.argv[1])
    tables = sorted((root / "passes").rglob("*.td"))
    flags = [
        flag
        for table in tables
        for flag in re.findall(r'\bPass<\s*"gist-([a-z0-9-]+)"', table.read_text())
    ]
    if not flags:
        return "found no pass in passes/*.td"
    tests = {}
    for suffix in ("mlir", "test"):
        for path in (root / "test").rglob(f"*.{suffix}"):
            tests.setdefault(path.stem, []).append(path)
    errors = []
    for flag in flags:
        if flag not in tests:
            errors.append(f"-gist-{flag} has no test: expected test/passes/*/{flag}.mlir")
            continue
        named = re.compile(rf"RUN:.*-gist-{flag}(?![a-z0-9-])")
        if not any(named.search(path.read_text()) for path in tests[flag]):
            paths = ", ".join(str(path.relative_to(root)) for path in tests[flag])
            errors.append(f"{paths}: no RUN line has -gist-{flag}")
    return "\n".join(errors)


if __name__ == "__main__":
    problem = main()
    if problem:
        sys.exit(problem)
