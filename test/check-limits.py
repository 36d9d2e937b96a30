#!/usr/bin/env python3
"""Fails when a limit in docs/security.md is not what the source says.

A row of the table names a constant, its value and its file. The file must define
the constant with that value.
"""

import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
page = (root / "docs/security.md").read_text()
rows = re.findall(r"^\| `(k\w+)` \| ([^|]+?) \| ([\w/.]+) \|", page, re.MULTILINE)
wrong = []
for name, value, file in rows:
    source = (root / file).read_text()
    if not re.search(rf"\b{name} = {re.escape(value)}[;,]", source):
        wrong.append(f"{file}: {name} is not {value}")
if len(rows) < 20:
    wrong.append(f"docs/security.md: the table has only {len(rows)} limits")
print("\n".join(wrong) or f"{len(rows)} limits are as docs/security.md says")
sys.exit(1 if wrong else 0)
