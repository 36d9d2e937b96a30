#!/usr/bin/env python3
# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Figures live once: bench programs write what they measured as JSON, files of
docs/performance/data are such JSON, and pages have tables that are made from them.

    bench/results.py            # writes the tables of all pages again
    bench/results.py --check    # fails where a page differs from the data

A table in a page stands between two comments. Titles of columns choose some of the
columns, and `[column = value | value]` some of the rows:

    <!-- table cpu-peers [engine = Gist | llama.cpp]: engine | decode, tokens/s -->
    <!-- end -->

`--check` also wants every speed in the prose of README.md and of docs/performance to be
a figure of the data, and no word there on how things were at another time.
"""

import json
import platform
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "docs/performance/data"


# ----------------------------------------------------------------------------
# For programs that measure
# ----------------------------------------------------------------------------


def said_by(*command):
    """The output of a program, or nothing where it fails."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def machine():
    """The CPU in words."""
    names = re.findall(r"^Model name:\s*(.+)", said_by("lscpu"), re.MULTILINE)
    return " ".join([*names, platform.machine(), platform.system()])


def commit():
    """Of the sources; a plus says that files were changed since."""
    head = said_by("git", "-C", str(ROOT), "rev-parse", "--short", "HEAD")
    return head + ("+" if said_by("git", "-C", str(ROOT), "status", "--short", "-uno") else "")


def command():
    """The command line, without the folders of this machine and where JSON goes."""
    program, words = Path(sys.argv[0]).resolve(), sys.argv[1:]
    if "--json" in words:
        place = words.index("--json")
        del words[place:place + 2]
    name = program.relative_to(ROOT) if ROOT in program.parents else program.name
    return shlex.join([str(name), *(re.sub(r"(?<![^=,])/\S*/", "", word) for word in words)])


def about(**more):
    """What a file says of its figures beside the figures."""
    return {"machine": machine(), "commit": commit(), "command": command()} | more


def rounded(columns, rows):
    """Rows whose numbers have the decimals that `columns` ({title: decimals, or None})
    gives them."""
    return [[round(cell, digits or None) if digits is not None and isinstance(cell, float) else cell
             for digits, cell in zip(columns.values(), row)] for row in rows]


def write(path, columns, rows, **more):
    """A file of figures: a line for each key and each row. `more` adds to about(), or replaces it."""
    head = {key: value for key, value in about(**more).items() if value}
    text = lambda value: json.dumps(value, ensure_ascii=False)
    keys = [f" {text(key)}: {text(value)}" for key, value in (head | {"columns": list(columns)}).items()]
    lines = ",\n  ".join(map(text, rounded(columns, rows)))
    # A run may be ended while it writes: the file before stays until this one is whole.
    part = Path(f"{path}.part")
    part.write_text("{\n" + ",\n".join([*keys, f' "rows": [\n  {lines}\n ]']) + "\n}\n")
    part.replace(path)


def markdown(columns, rows):
    """A table. A column's decimals are those that `columns` gives, or those of its longest number."""
    numbers = [[row[i] for row in rows if isinstance(row[i], (int, float))]
               for i in range(len(columns))]
    longest = [max((len(repr(x).partition(".")[2]) for x in column if isinstance(x, float)),
                   default=0) for column in numbers]
    digits = [a if b is None else b for a, b in zip(longest, columns.values())] if isinstance(
        columns, dict) else longest

    def cell(value, count):
        if isinstance(value, float):
            return f"{value:,.{count}f}"
        return "–" if value is None else f"{value:,}" if isinstance(value, int) else value

    lines = [list(columns)] + [list(map(cell, row, digits)) for row in rows]
    widths = [max(map(len, column)) for column in zip(*lines)]
    # Text to the left, numbers to the right.
    shown = ["| " + " | ".join(text.rjust(width) if column else text.ljust(width)
                               for text, width, column in zip(line, widths, numbers)) + " |"
             for line in lines]
    rule = "|" + "|".join("-" * (width + 1) + (":" if column else "-")
                          for width, column in zip(widths, numbers)) + "|"
    return "\n".join([shown[0], rule, *shown[1:]])


# ----------------------------------------------------------------------------
# The pages
# ----------------------------------------------------------------------------

TABLE = re.compile(r"(<!-- table ([\w.-]+)(?: \[(.+?) = (.+?)\])?(?:: (.+?))? -->\n).*?(<!-- end -->)",
                   re.DOTALL)
NUMBER = r"\d[\d,]*(?:\.\d+)?"
SPEED = re.compile(rf"((?:{NUMBER}(?:,| and| to| or)?\s)+)"
                   r"(?:tokens/s|times (?:as fast|the speed)|of the work)")
DIARY = re.compile(r"\b(?:newest|earlier (?:run|version)s?|(?:run|version|code) before)\b")


def read(name):
    data = json.loads((DATA / f"{name}.json").read_text())
    return data | from_certificates(data["certificates"]) if "certificates" in data else data


def from_certificates(files):
    """Columns and rows of {title: file of gist-plan combine}."""
    columns, rows = ["held out"], {}
    for plan, file in files.items():
        columns += [f"{plan}: {what}" for what in ("asked", "measured", "bound", "verdict")]
        found = json.loads((DATA.parent / "certificates" / file).read_text())["gist_certificates"][0]
        title = found.get("work_title", "attention work, the most of a text")
        work = {"text": title, "ratio": found["work"]}
        for part in [*found["parts"], found["all_tasks"], work]:
            cells = [part.get(key) for key in ("promised", "ratio", "bound", "verdict")]
            name = part["text"].replace(".txt", f", {part.get('part')}")
            rows.setdefault(name, [name]).extend(
                round(cell, 3) if isinstance(cell, float) else cell for cell in cells)
    return {"columns": columns, "rows": list(rows.values())}


def make_table(found):
    _, name, key, values, titles, _ = found.groups()
    data = read(name)
    columns, rows = data["columns"], data["rows"]
    if key:
        rows = [row for row in rows if str(row[columns.index(key)]) in values.split(" | ")]
    if titles:
        chosen = [columns.index(title) for title in titles.split(" | ")]
        columns, rows = [columns[i] for i in chosen], [[row[i] for i in chosen] for row in rows]
    return found[1] + "\n" + markdown(columns, rows) + "\n\n" + found[6]


def faults(page, text, figures):
    """What is wrong with a page apart from its tables."""
    prose = re.sub(r"^    [^\n]*$|^```.*?^```|`[^`\n]*`", "", TABLE.sub("", text),
                   flags=re.MULTILINE | re.DOTALL)
    is_performance = page.parent == DATA.parent
    for found in SPEED.finditer(prose):
        for number in re.findall(NUMBER, found[1]):
            value, digits = float(number.replace(",", "")), len(number.partition(".")[2])
            if not any(round(figure, digits) == value for figure in figures):
                yield f"{found[0]!r} is in no file of data"
    if is_performance and page.name != "README.md" and re.search(r"^\|", prose, re.MULTILINE):
        yield "has a table that is not made from data"
    if is_performance or page.parent == ROOT:
        yield from (f"{word!r} tells of another time" for word in DIARY.findall(prose))


def main():
    is_check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not is_check:
        sys.exit(__doc__)
    files = sorted(DATA.glob("*.json"))
    figures = {cell for file in files for row in read(file.stem)["rows"] for cell in row
               if isinstance(cell, (int, float))}
    used, wrong = set(), []
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    pages.remove(DATA.parent / "log.md")
    for page in pages:
        name, text = page.relative_to(ROOT), page.read_text()
        used |= {found[2] for found in TABLE.finditer(text)}
        made = TABLE.sub(make_table, text)
        if made != text and is_check:
            wrong.append(f"{name}: a table is not what the data says; bench/results.py writes it")
        elif made != text:
            page.write_text(made)
        if page == ROOT / "README.md" or page.parent == DATA.parent:
            wrong += [f"{name}: {fault}" for fault in faults(page, made, figures)]
    wrong += [f"{file.name}: no page shows it" for file in files if file.stem not in used]
    print("\n".join(wrong) or f"{len(files)} files of figures are what the pages say")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
