#!/usr/bin/env python3
"""Fails when a library calls one that it does not link.

A linker takes a symbol from any static library on its command line, so a call
from a lower folder to a higher one links silently. This reads which
libraries each one declares, and the symbols that it uses and defines.

usage: check-links.py NM LINKS

LINKS has a line for each library: its name, its file, the libraries it links.
"""

import collections
import pathlib
import subprocess
import sys


def read_symbols(nm: str, archive: str) -> tuple[set[str], set[str]]:
    """The global symbols that `archive` defines, and those that it only uses."""
    text = subprocess.run(
        [nm, "--extern-only", "--format=posix", archive],
        check=True, capture_output=True, text=True,
    ).stdout
    defined, used = set(), set()
    for line in text.splitlines():
        fields = line.split()
        if len(fields) < 2 or line.endswith(":"):
            continue
        # Weak definitions (inline functions) stand in every library.
        (used if fields[1] in "Uvw" else defined).add(fields[0])
    return defined, used - defined


def main() -> int:
    nm, path = sys.argv[1:]
    links: dict[str, list[str]] = {}
    symbols = {}
    for line in pathlib.Path(path).read_text().splitlines():
        name, archive, *direct = line.split()
        links[name] = direct
        symbols[name] = read_symbols(nm, archive)

    def reach(name: str, seen: set[str]) -> set[str]:
        for other in links[name]:
            if other not in seen:
                seen.add(other)
                reach(other, seen)
        return seen

    owners = collections.defaultdict(set)
    for name, (defined, _) in symbols.items():
        for symbol in defined:
            owners[symbol].add(name)

    faults = []
    for name, (_, used) in symbols.items():
        allowed = reach(name, set()) | {name}
        for symbol in sorted(used):
            if owners[symbol] and not owners[symbol] & allowed:
                wrong = ", ".join(sorted(owners[symbol]))
                faults.append(f"{name} calls {symbol} of {wrong}, which it does not link")
    print("\n".join(faults))
    print(f"{len(symbols)} libraries, {len(faults)} wrong calls")
    return 1 if faults or not symbols else 0


if __name__ == "__main__":
    sys.exit(main())
