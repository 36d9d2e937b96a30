"""check_pieces.py MODULE: the text that is generated is the text of the tokens, a space
for each mark, and a first space goes only where nothing was before."""

import subprocess
import sys

from with_pieces import CONTROL, MARK, pieces


def generate(*options):
    command = ["gist-run", "generate", sys.argv[1], "-n", "12", "--ignore-end", *options]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


for prompt in ["ab a", "z", ""]:
    # Several draws, so that some begin with a space.
    for seed in range(12):
        options = ["-p", prompt, "--temperature", "8", "--seed", str(seed)]
        ids = [int(line) for line in generate("--print-tokens", *options).split()]
        texts = [pieces[i] if i < len(pieces) else ("", 0, 0) for i in ids]
        text = "".join(t.replace(MARK, " ") for t, _, kind in texts if kind not in (2, CONTROL))
        if not prompt:
            text = text.removeprefix(" ")
        found = generate(*options)
        assert found.rstrip("\n") == text.rstrip("\n"), (prompt, ids, found)
print("texts are those of the tokens")
