"""crash.py FIFO PROGRAM ARGUMENT...: lets a program open FIFO as its input, ends it
there as a bug would, and prints what it says. Once it opens the file, it has
installed what handles a crash. With - for FIFO it is a language server, which must
have answered a request first."""

import json
import os
import signal
import subprocess
import sys

fifo, *command = sys.argv[1:]
if fifo != "-":
    if os.path.exists(fifo):
        os.unlink(fifo)
    os.mkfifo(fifo)
process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE)
if fifo != "-":
    writer = os.open(fifo, os.O_WRONLY)  # Waits for the reader.
else:
    request = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize",
                          "params": {"processId": 1, "rootUri": "file:///", "capabilities": {}}})
    process.stdin.write(f"Content-Length: {len(request)}\r\n\r\n{request}".encode())
    process.stdin.flush()
    process.stdout.read(1)
process.send_signal(signal.SIGABRT)
print(process.communicate()[1].decode())
