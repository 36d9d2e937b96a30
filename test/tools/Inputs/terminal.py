"""terminal.py FILE COMMAND...: runs COMMAND with a terminal as standard input
and standard error, types the content of FILE with Python's escapes, one line
each time a prompt has come, and prints what COMMAND writes to standard output."""

import os
import pty
import select
import subprocess
import sys

keys = [
    line.encode().decode("unicode_escape").encode("latin-1") + b"\r"
    for line in open(sys.argv[1]).read().splitlines()
]
ours, theirs = pty.openpty()

environment = dict(os.environ, TERM="xterm", LC_ALL="C.UTF-8")
process = subprocess.Popen(
    sys.argv[2:],
    stdin=theirs,
    stderr=theirs,
    stdout=subprocess.PIPE,
    env=environment,
    start_new_session=True,
)
os.close(theirs)
shown = b""
isBegun = False
while True:
    readable, _, _ = select.select([ours], [], [], 60)
    if not readable:
        process.kill()
        sys.exit(f"nothing happened for a minute; shown until then: {shown!r}")
    try:
        piece = os.read(ours, 4096)
    except OSError:  # The other side is closed.
        break
    if not piece:
        break
    shown += piece
    # A prompt stands at the beginning of a line. One that is drawn again while
    # a line is edited comes before the line's end.
    if keys and shown.endswith(b"> ") and (b"\n" in shown or not isBegun):
        shown = b""
        isBegun = True
        os.write(ours, keys.pop(0))
output, _ = process.communicate()
sys.stdout.buffer.write(output)
sys.exit(process.returncode)
