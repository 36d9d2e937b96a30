"""Fails when `TOOL --version` does not begin with the tool's name and the version
in a file. Usage: versions.py FILE TOOL..."""

import pathlib
import re
import subprocess
import sys

version = pathlib.Path(sys.argv[1]).read_text().strip()
assert re.fullmatch(r"\d+\.\d+\.\d+", version), version
for tool in sys.argv[2:]:
    said = subprocess.run([tool, "--version"], capture_output=True, text=True, check=True).stdout
    assert re.match(rf"{tool} {re.escape(version)}[,\n]", said), f"{tool} says {said!r}, expected {version}"
