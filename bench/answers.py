#!/usr/bin/env python3
# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What gist-serve saves and what it adds, each in turns with a server or a request that
does without: the first token of a second turn, whose conversation the server knows;
memory of sixteen clients with one system prompt; a token of an answer that is held to a
schema. See bench/README.md."""

import argparse
import http.client
import json
import os
import random
import re
import statistics
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import results

WORDS = "the sea was calm and the old keeper of the light wrote down what he saw in a book by the lamp".split()
SCHEMA = {"type": "object", "required": ["entries"], "additionalProperties": False, "properties": {"entries": {
    "type": "array", "minItems": 40, "maxItems": 40, "items": {
        "type": "object", "required": ["name", "kind", "count"], "additionalProperties": False, "properties": {
            "name": {"type": "string", "maxLength": 20}, "kind": {"enum": ["bird", "boat", "storm"]},
            "count": {"type": "integer", "minimum": 0, "maximum": 500}}}}}}
COLUMNS = {"model": None, "what": None, "with": 3, "without": 3, "ratio": 3, "unit": None}


class Server:
    def __init__(self, options, *more):
        self.process = subprocess.Popen(
            [options.gist_serve, f"m={options.model.split('=')[-1]}", "--port", "0", "--threads", str(options.threads),
             "--context", str(options.context), *map(str, more)], stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            if found := re.search(r"listening on http://.*:(\d+)", line):
                self.port = int(found[1])
                break
        else:
            sys.exit("gist-serve did not start")
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def metric(self, name):
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        connection.request("GET", "/metrics")
        return float(re.search(rf"^{name} (\S+)$", connection.getresponse().read().decode(), re.M)[1])

    def memory(self):
        """Bytes; pages that are mapped several times count once."""
        text = Path(f"/proc/{self.process.pid}/smaps_rollup").read_text()
        return int(re.search(r"^Pss:\s+(\d+)", text, re.M)[1]) << 10

    def ask(self, messages, tokens, **more):
        """A streamed answer: when its pieces came, its text and what was counted."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        body = {"messages": messages, "max_tokens": tokens, "temperature": 0, "stream": True,
                "stream_options": {"include_usage": True}, **more}
        start, times, text, usage = time.perf_counter(), [], "", None
        connection.request("POST", "/v1/chat/completions", json.dumps(body), {"Content-Type": "application/json"})
        response = connection.getresponse()
        if response.status != 200:
            sys.exit(response.read().decode())
        for line in response:
            if not line.startswith(b"data: {"):
                continue
            event = json.loads(line[6:])
            usage = event.get("usage") or usage
            if event["choices"] and event["choices"][0]["delta"].get("content"):
                times.append(time.perf_counter() - start)
                text += event["choices"][0]["delta"]["content"]
        return times, text, usage


def words(count, seed):
    choose = random.Random(seed)
    return " ".join(choose.choice(WORDS) for _ in range(count))


def second_turn(options):
    """Seconds to the first token after a question behind so many tokens, which the server has read or has not."""
    known, new, counts = [], [], []
    for round in range(options.rounds):
        talk = [{"role": "user", "content": words(options.past, round)}]
        with Server(options) as server:
            _, text, usage = server.ask(talk, 16)
            counts.append(usage["total_tokens"])
            talk += [{"role": "assistant", "content": text}, {"role": "user", "content": "Say that again, please."}]
            known.append(server.ask(talk, 2, min_tokens=2)[0][0])
        with Server(options) as server:
            server.ask([{"role": "user", "content": "Hello"}], 2)
            new.append(server.ask(talk, 2, min_tokens=2)[0][0])
    return f"first token, {min(counts)} tokens before it", statistics.median(known), statistics.median(new), "s"


def sixteen(options, same):
    """MiB that the sequences of 16 clients take, of the process and as the server counts them."""
    most = [0, 0]
    with Server(options, "--sequences", 16) as server:
        server.ask([{"role": "user", "content": "Hello"}], 2)
        before = server.memory(), server.metric("gist_state_bytes")
        talks = [[{"role": "system", "content": words(options.system, 0 if same else i + 1)},
                  {"role": "user", "content": f"Question {i}?"}] for i in range(16)]
        if same:
            server.ask(talks[0], 2)
        with ThreadPoolExecutor(len(talks)) as clients:
            answers = [clients.submit(server.ask, talk, 32) for talk in talks]
            while not all(answer.done() for answer in answers):
                now = server.memory() - before[0], server.metric("gist_state_bytes") - before[1]
                most = [max(pair) for pair in zip(most, now)]
                time.sleep(0.05)
        for answer in answers:
            answer.result()
    return [value / 2**20 for value in most]


def schemas(options):
    """Milliseconds of a token that follows another, with a schema and without."""
    ask = [{"role": "user", "content": "Write a long list of what the keeper of a lighthouse saw."}]
    held = {"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": SCHEMA}}}
    times = {True: [], False: []}
    with Server(options) as server:
        for round in range(options.rounds + 1):
            for is_held in (True, False):
                # An answer that ended sooner would be one of other tokens.
                more = held if is_held else {"min_tokens": options.tokens}
                seconds, _, usage = server.ask(ask, options.tokens, **more)
                if round:
                    each = (seconds[-1] - seconds[0]) / (usage["completion_tokens"] - 1)
                    times[is_held].append(each * 1e3)
    return [statistics.median(times[True]), statistics.median(times[False])]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gist-serve", required=True, metavar="PATH", help="of a release build")
    parser.add_argument("--model", required=True, metavar="[NAME=]MODULE")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--what", default="turn,memory,schema")
    parser.add_argument("--past", type=int, default=4000, help="words before the second turn")
    parser.add_argument("--system", type=int, default=1500, help="words of a system prompt")
    parser.add_argument("--tokens", type=int, default=128, help="of an answer with a schema")
    parser.add_argument("--context", type=int, default=0, help="0: the module's own")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write JSON; rows of a file that is there stay")
    options = parser.parse_args()
    found = []
    if "turn" in options.what:
        found.append(second_turn(options))
    if "memory" in options.what:
        same, apart = sixteen(options, True), sixteen(options, False)
        found.append(["16 clients, one system prompt or 16: process", same[0], apart[0], "MiB"])
        found.append(["16 clients, one system prompt or 16: state", same[1], apart[1], "MiB"])
    if "schema" in options.what:
        found.append(["a token, with and without a schema", *schemas(options), "ms"])
    name = options.model.split("=")[0] if "=" in options.model else Path(options.model).stem
    rows = [[name, what, a, b, a / b, unit] for what, a, b, unit in found]
    print(results.markdown(COLUMNS, results.rounded(COLUMNS, rows)))
    if options.json:
        before = json.loads(options.json.read_text())["rows"] if options.json.exists() else []
        keys = {(row[0], row[1]) for row in rows}
        results.write(options.json, COLUMNS, [row for row in before if (row[0], row[1]) not in keys] + rows,
                      threads=options.threads)


if __name__ == "__main__":
    main()
