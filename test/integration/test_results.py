# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""bench/results.py: files of figures, and pages that differ from them.

    python3 -m pytest test/integration/test_results.py
"""

import json
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import results

COLUMNS = {"engine": None, "decode, tokens/s": 1, "clients": None}


def test_file_and_table(tmp_path):
    rows = [["Gist", 1280.04, 16], ["another", 2.0, None]]
    results.write(tmp_path / "f.json", COLUMNS, rows, machine="a machine", load=None)
    found = json.loads((tmp_path / "f.json").read_text())
    assert found["rows"] == [["Gist", 1280.0, 16], ["another", 2.0, None]]
    assert found["machine"] == "a machine" and found["command"] and "load" not in found
    # What a program prints is what a page has.
    table = results.markdown(COLUMNS, rows)
    assert table == results.markdown(found["columns"], found["rows"])
    assert table.splitlines()[2] == "| Gist    |          1,280.0 |      16 |"
    assert table.splitlines()[3] == "| another |              2.0 |       – |"


@pytest.fixture
def tree(tmp_path):
    for name in ("bench/results.py", "README.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    return tmp_path


def check(tree):
    done = subprocess.run([sys.executable, tree / "bench/results.py", "--check"],
                          capture_output=True, text=True)
    return done.returncode, done.stdout


@pytest.mark.parametrize("file, old, new, fault", [
    ("README.md", "1,256.6", "1,300.0", "README.md: a table is not what the data says"),
    ("docs/performance/data/cpu-peers.json", "1256.6", "1300.0", "cpu.md: a table is not what"),
    ("README.md", "## How", "It writes 12.345 tokens/s.\n\n## How", "is in no file of data"),
    ("docs/performance/cpu.md", "## Precision", "In the newest run\n\n## Precision", "another time"),
    ("docs/performance/cpu.md", "## Precision", "| a |\n|---|\n\n## Precision", "not made from data"),
    ("docs/performance/cpu.md", "table cpu-precision", "tables", "cpu-precision.json: no page"),
])
def test_check(tree, file, old, new, fault):
    assert check(tree)[0] == 0
    text = (tree / file).read_text()
    assert old in text
    (tree / file).write_text(text.replace(old, new, 1))
    status, said = check(tree)
    assert status == 1 and fault in said
