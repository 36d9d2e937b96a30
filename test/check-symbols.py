#!/usr/bin/env python3
"""Fails when libgist.so shows anything else than runtime/gist.symbols lists.

A function that is added to gist.h is added to the list too; one that vanishes,
or a symbol of C++ that leaks, is a mistake.

usage: check-symbols.py NM LIBRARY LIST HEADER
"""

import pathlib
import re
import subprocess
import sys


def main() -> int:
    nm, library, list_path, header = sys.argv[1:]
    text = subprocess.run(
        [nm, "--dynamic", "--defined-only", "--format=posix", library],
        check=True, capture_output=True, text=True,
    ).stdout
    shown = {line.split()[0].split("@")[0] for line in text.splitlines() if line}
    lines = pathlib.Path(list_path).read_text().split()
    listed = set(lines)
    # A declaration begins its line; types of callbacks are typedefs.
    declared = set(re.findall(
        r"^(?!typedef)[a-z].*?\b(gist_\w+)\(", pathlib.Path(header).read_text(), re.M))

    faults = [f"{name} is shown and not in the list" for name in sorted(shown - listed)]
    faults += [f"{name} is in the list and not shown" for name in sorted(listed - shown)]
    faults += [f"{name} is declared and not in the list" for name in sorted(declared - listed)]
    faults += [f"{name} is in the list and not declared" for name in sorted(listed - declared)]
    if lines != sorted(listed):
        faults.append("the list is not sorted")
    print("\n".join(faults))
    print(f"{len(shown)} symbols, {len(faults)} faults")
    return 1 if faults or not shown else 0


if __name__ == "__main__":
    sys.exit(main())
