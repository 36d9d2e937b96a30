"""levels.py PAGE: prints PAGE with its blocks of IR made anew.

A block without a comment before it is an input, complete, and named by the function in
it. Other blocks are made by the comment before them, `<!-- gist-opt NAME FLAGS | FROM |
TO | KEEP -->`: NAME is an input; of what gist-opt prints for it, lines from the first that
has FROM to the next that has TO are shown, if they have KEEP, a regular expression, and of
them what its group has, if it has one. Lines of one op in a row are shown once, and long
lines are cut off."""

import pathlib
import re
import subprocess
import sys
import tempfile

WIDTH = 120
BLOCK = re.compile(r"(?:<!-- gist-opt (\w+) (.*?) \| (.*?) \| (.*?) \| (.*?) -->\n)?```mlir\n(.*?)```\n", re.S)


def get_op(line):
    """The name of the op that a line of IR begins with."""
    return re.sub(r"^[^=]*= ", "", line.strip()).split(" ")[0].split("(")[0]


def shorten(text, start, end, keep):
    """The lines that a block shows of `text`."""
    lines = text.splitlines()
    first = next(i for i, line in enumerate(lines) if re.search(start, line))
    last = next(i for i, line in enumerate(lines) if i > first and re.search(end, line))
    shown = []
    for line in lines[first:last + 1]:
        found = re.search(keep, line)
        if not found:
            continue
        line = found[1] if found.lastindex else line
        if shown and get_op(shown[-1][0]) == get_op(line):
            shown[-1][1] += 1
        else:
            shown.append([line, 1])
    indent = min(len(line) - len(line.lstrip()) for line, _ in shown)
    for line, count in shown:
        line = line[indent:]
        note = f"  // {count} times" if count > 1 else ""
        if len(line) + len(note) > WIDTH:
            line = line[:WIDTH - len(note) - 4].rstrip() + " ..."
        yield line + note


def main():
    inputs = {}

    def make(block):
        name, flags, start, end, keep, text = block.groups()
        if name is None:
            inputs[re.search(r"@(\w+)", text)[1]] = text
            return block[0]
        with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
            file.write(inputs[name])
            file.flush()
            made = subprocess.run(["gist-opt", file.name, *flags.split()], check=True,
                                  capture_output=True, text=True).stdout
        comment = block[0][:block[0].index("```mlir")]
        return f"{comment}```mlir\n" + "\n".join(shorten(made, start, end, keep)) + "\n```\n"

    sys.stdout.write(BLOCK.sub(make, pathlib.Path(sys.argv[1]).read_text()))


main()
