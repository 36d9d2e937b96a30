# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gist-serve under 10,000 connections at once, most of which do not behave.

    PATH=build/dev/bin:$PATH python3 -m pytest -s test/serving/test_flood.py

Takes minutes; test/run.sh --full runs it.
"""

import asyncio
import collections
import resource
import subprocess
import threading
import time

import pytest
from server import Server, post_bytes

CONNECTIONS = 10_000
TEXT = "/v1/completions"
MIB = 1 << 20
HEAD = f"POST {TEXT} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n".encode()


async def slowly(writer, data):
    for byte in data:
        writer.write(bytes([byte]))
        await writer.drain()
        await asyncio.sleep(0.2)


async def body_of(writer, size):
    writer.write(HEAD + b"Content-Length: %d\r\n\r\n" % size)
    for _ in range(size // 65536):
        writer.write(b" " * 65536)
        await writer.drain()


async def send(writer, kind):
    match kind:
        case "idle":
            pass
        case "slow head":
            await slowly(writer, HEAD * 10)
        case "slow body":
            writer.write(HEAD + b"Content-Length: 1000\r\n\r\n")
            await slowly(writer, b"{" * 1000)
        case "large body":
            await body_of(writer, MIB - 65536)
        case "too large body":
            await body_of(writer, 1 << 30)
        case "no HTTP":
            writer.write(b"\x00\xff\r\n\r\n" * 100)
        case "no JSON":
            writer.write(post_bytes(TEXT, b"[" * 100_000))
        case "question":
            writer.write(post_bytes(TEXT, {"prompt": "a", "max_tokens": 5, "temperature": 0},
                                    "Connection: close"))


KINDS = ["idle", "slow head", "slow body", "large body", "too large body", "no HTTP", "no JSON",
         "question"]


async def client(port, kind):
    """Sends until it is done or the server has enough; what that says to it."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    sending = asyncio.create_task(send(writer, kind))
    try:
        answer = await asyncio.wait_for(reader.read(64), 120)
        found = answer.split(b" ")[1].decode() if answer.startswith(b"HTTP/1.1 ") else "closed"
    except ConnectionError:
        found = "closed"
    except TimeoutError:
        found = "nothing in 120 s"
    sending.cancel()
    writer.transport.abort()
    return found


async def clients(port, number, seen):
    """A client that finds no room tries again."""
    kind = KINDS[number % len(KINDS)]
    # All at once would keep the first ones from sending while the others connect.
    await asyncio.sleep(number / 2000)
    for _ in range(100 if kind == "question" else 1):
        found = await client(port, kind)
        seen[kind, found] += 1
        if found == "200":
            break
        await asyncio.sleep(1)


async def flood(port, seen):
    await asyncio.gather(*(clients(port, number, seen) for number in range(CONNECTIONS)))


def test_flood(tmp_path):
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard < CONNECTIONS + 1000:
        pytest.skip(f"only {hard} files may be open")
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    subprocess.run(["gist-make-tiny-module", tmp_path / "tiny.gist"], check=True)
    with Server(tmp_path / "tiny.gist", "--read-timeout", 20, "--idle-timeout", 20,
                "--body-limit", 1) as server:
        server.ask("/health")
        before, peak, over = server.resident(), [0, 0], threading.Event()

        def watch():
            while not over.wait(0.05) and server.process.poll() is None:
                peak[:] = max(peak[0], server.resident()), max(peak[1], server.threads())

        watcher = threading.Thread(target=watch)
        watcher.start()
        seen = collections.Counter()
        start = time.monotonic()
        asyncio.run(flood(server.port, seen))
        seconds = time.monotonic() - start
        over.set()
        watcher.join()
        for (kind, found), count in sorted(seen.items()):
            print(f"{kind}: {found}: {count}")
        print(f"{seconds:.0f} s; {before / MIB:.0f} MiB before, {peak[0] / MIB:.0f} at most, "
              f"{peak[1]} threads at most")
        assert server.process.poll() is None
        # Every request has ended, and none with an error of the server.
        allowed = {"200", "400", "408", "413", "429", "503", "closed"}
        assert {found for _, found in seen} <= allowed
        assert seen["question", "200"] == CONNECTIONS // len(KINDS)
        for kind, expected in [("no JSON", "400"), ("no HTTP", "400"), ("large body", "400"),
                               ("too large body", "413")]:
            assert seen[kind, expected] > 0, kind
        # A body of one MiB, and what is made of it, for each of 512 connections.
        assert peak[0] - before < 512 * 2 * MIB
        # Now it is there for others, as if nothing had been.
        server.wait_for(lambda: server.files() < 30, 60)
        server.wait_until_idle()
        assert server.ask(TEXT, {"prompt": "a", "max_tokens": 5, "temperature": 0})[0] == 200
        assert server.terminate() == 0
