#!/usr/bin/env python3
"""Fails when docs/security.md names a limit or a test that is not in the source.

A row of the table of limits names a constant, its value and its file. Other tables
name the tests that keep a promise: `XTest `Case`` is in test/unit/XTest.cpp, and
`file.mlir (`name`)` is a file of test/ in which the name stands.
"""

import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1]).resolve()
page = (root / "docs/security.md").read_text()
wrong = []

limits = re.findall(r"^\| `(k\w+)` \| ([^|]+?) \| ([\w/.]+) \|", page, re.MULTILINE)
for name, value, file in limits:
    source = (root / file).read_text()
    if not re.search(rf"\b{name} = {re.escape(value)}[;,]", source):
        wrong.append(f"{file}: {name} is not {value}")
if len(limits) < 20:
    wrong.append(f"the table has only {len(limits)} limits")

cases = []
for test, names in re.findall(r"\b(\w+Test) ((?:`\w+`(?:, )?)+)", page):
    source = (root / f"test/unit/{test}.cpp").read_text()
    for name in re.findall(r"\w+", names):
        cases.append(name)
        if not re.search(rf"^TEST(?:_F|_P)?\(\w+, {name}\)", source, re.MULTILINE):
            wrong.append(f"test/unit/{test}.cpp has no test {name}")
if len(cases) < 10:
    wrong.append(f"the page names only {len(cases)} unit tests")

# A path, or the name of a file beside the one before it.
tests = {}
for path in (root / "test").rglob("*"):
    tests.setdefault(path.name, []).append(path)
for file, names in re.findall(r"(?<![\w/])((?:test/)?[\w/-]+\.(?:mlir|test|py|sh))\b((?: \(`\w+`\))?)", page):
    found = [path for path in tests.get(pathlib.Path(file).name, []) if str(path).endswith(f"/{file}")]
    name = names.strip(" (`)")
    if not found:
        wrong.append(f"there is no {file}")
    elif name and not any(re.search(rf"\b{name}\b", path.read_text()) for path in found):
        wrong.append(f"{file} does not have {name}")

for each in wrong:
    print(f"docs/security.md: {each}")
if not wrong:
    print(f"{len(limits)} limits and {len(cases)} unit tests are as docs/security.md says")
sys.exit(1 if wrong else 0)
