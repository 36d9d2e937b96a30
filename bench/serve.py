#!/usr/bin/env python3
# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gist-serve beside llama.cpp's server: one model file, the same threads, the same
clients with the same requests, one server after the other in every round. See
bench/README.md."""

import argparse
import asyncio
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import results

WORDS = ("the sea was calm and the old keeper of the light wrote down what he saw in a "
         "book that nobody would ever read but him ").split()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gist-serve", required=True, metavar="PATH", help="of a release build")
    parser.add_argument("--gist-compile", required=True, metavar="PATH")
    parser.add_argument("--model", required=True, type=Path, metavar="GGUF")
    parser.add_argument("--llama-server", metavar="PATH", help="without it, gist-serve alone")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--clients", default="1,4,16", metavar="N,...")
    parser.add_argument("--requests", type=int, default=4, help="of each client")
    parser.add_argument("--words", type=int, default=100, help="of each prompt")
    parser.add_argument("--tokens", type=int, default=64, help="of each answer")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write JSON")
    return parser.parse_args()


def prompt(client, number, words):
    """A prompt; no two share a prefix, so that prefix caches gain nothing."""
    start = client * 7 + number * 3
    return f"Entry {client}-{number}: " + " ".join(
        WORDS[(start + i * (client % 5 + 1)) % len(WORDS)] for i in range(words))


async def ask(port, body):
    """One streamed answer: when it was asked for, when each piece came, and how
    many tokens there were."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    data = json.dumps(body).encode()
    start = time.perf_counter()
    writer.write(b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                 b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(data) + data)
    times, usage = [], None
    while line := await reader.readline():
        if not line.startswith(b"data: {"):
            continue
        event = json.loads(line[6:])
        if "error" in event:
            raise RuntimeError(event["error"])
        if event.get("choices") and event["choices"][0].get("text"):
            times.append(time.perf_counter())
        usage = event.get("usage") or usage
    writer.close()
    if not usage:
        raise RuntimeError("the server ended a stream without usage")
    return start, times, usage["completion_tokens"]


async def load(port, clients, options):
    """All clients at once; each sends its next request when the last is answered."""
    answers = []

    async def client(number):
        for i in range(options.requests):
            answers.append(await ask(port, {
                "prompt": prompt(number, i, options.words), "max_tokens": options.tokens,
                "temperature": 0, "stream": True, "stream_options": {"include_usage": True}}))

    start = time.perf_counter()
    await asyncio.gather(*(client(i) for i in range(clients)))
    seconds = time.perf_counter() - start
    gaps = sorted(b - a for _, times, _ in answers for a, b in zip(times, times[1:]))
    firsts = sorted(times[0] - begin for begin, times, _ in answers if times)
    return {"tokens": sum(tokens for _, _, tokens in answers), "seconds": seconds,
            "first_median": statistics.median(firsts), "first_p99": percentile(firsts, 0.99),
            "gap_median": statistics.median(gaps), "gap_p99": percentile(gaps, 0.99)}


def percentile(values, part):
    return values[min(len(values) - 1, int(part * len(values)))]


class Running:
    """A server in a process of its own, ready to answer."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE, text=True)
        self.port = None
        for line in self.process.stderr:
            if found := re.search(r"listening on .*:(\d+)", line):
                self.port = int(found[1])
                break
        if not self.port:
            raise RuntimeError(f"{command[0]} did not start")
        # Reads the rest of the log, so that the pipe does not fill.
        import threading
        threading.Thread(target=self.process.stderr.read, daemon=True).start()
        for _ in range(600):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health"):
                    return
            except OSError:
                time.sleep(0.1)
        raise RuntimeError(f"{command[0]} does not answer")

    def close(self):
        self.process.terminate()
        self.process.wait()


def main():
    options = arguments()
    counts = [int(n) for n in options.clients.split(",")]
    most = max(counts)
    # Room for the prompt, whose words may be two tokens each, and the answer.
    context = 2 * options.words + options.tokens + 64
    measured = {}
    with tempfile.TemporaryDirectory() as folder:
        module = Path(folder) / "model.gist"
        subprocess.run([options.gist_compile, options.model, "-o", module, "--progress=off"],
                       check=True)
        servers = {"gist-serve": [options.gist_serve, module, "--port", "0", "-t",
                                  str(options.threads), "--context", str(context),
                                  "--sequences", str(most)]}
        if options.llama_server:
            servers["llama-server"] = [
                options.llama_server, "-m", options.model, "--port", "18435", "-t",
                str(options.threads), "-tb", str(options.threads), "-c", str(context * most),
                "-np", str(most), "--no-webui"]
        for number in range(options.rounds):
            for name, command in servers.items():
                server = Running(list(map(str, command)))
                asyncio.run(load(server.port, 1, argparse.Namespace(
                    requests=1, words=options.words, tokens=options.tokens)))  # warm
                for clients in counts:
                    found = asyncio.run(load(server.port, clients, options))
                    measured.setdefault((name, clients), []).append(found)
                    print(f"round {number + 1}, {name}, {clients} clients: "
                          f"{found['tokens'] / found['seconds']:.1f} tokens/s", file=sys.stderr)
                server.close()
    print(f"{results.machine()}, {options.threads} threads, prompts of {options.words} words, "
          f"answers of {options.tokens} tokens, medians of {options.rounds} rounds; "
          f"load before: {os.getloadavg()[0]:.1f}\n")
    columns = {"server": None, "clients": None, "tokens/s": 1, "first token, ms": 0,
               "between tokens, ms": 1, "99 of 100 wait at most, ms": 1}
    rows = []
    for (name, clients), rounds in measured.items():
        middle = lambda what: statistics.median(map(what, rounds))
        rows.append([name, clients, middle(lambda r: r["tokens"] / r["seconds"]),
                     *(1e3 * middle(lambda r, key=key: r[key])
                       for key in ("first_median", "gap_median", "gap_p99"))])
    print(results.markdown(columns, rows))
    if options.json:
        results.write(options.json, columns, rows, threads=options.threads, rounds=options.rounds)


if __name__ == "__main__":
    main()
