#!/usr/bin/env python3
# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Minutes of clients that ask, disconnect, send garbage and stall, all at once.

    PATH=build/dev/bin:$PATH python3 test/serving/soak.py --minutes 30 [MODULE]

Fails when an answer is a server error, when a greedy answer changes or is not
what a schema, a format or a tool asks for, when the server ends, or when it keeps
memory, threads or files. Without a module it serves two tiny ones with guesses by
look-up; gist-compile makes the second, which has two adapters.
"""

import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter

from server import Server, post_bytes

TEXT, CHAT = "/v1/completions", "/v1/chat/completions"
CITY = {"type": "object", "required": ["city", "days"], "additionalProperties": False,
        "properties": {"city": {"enum": ["Paris", "Rome"]}, "days": {"type": "integer", "minimum": 1, "maximum": 9}}}
TOOLS = [{"type": "function", "function": {"name": "visit", "parameters": CITY}},
         {"type": "function", "function": {"name": "time"}}]


def is_city(text):
    value = json.loads(text)
    return set(value) == {"city", "days"} and value["city"] in ("Paris", "Rome") and value["days"] in range(1, 10)


def is_call(message):
    (call,) = message["tool_calls"]
    name, arguments = call["function"]["name"], call["function"]["arguments"]
    return arguments == "{}" if name == "time" else name == "visit" and is_city(arguments)


# Fields of chats, and whether a message is what they ask for.
HELD = [
    ({"response_format": {"type": "json_schema", "json_schema": {"name": "city", "schema": CITY}}},
     lambda message: is_city(message["content"])),
    ({"response_format": {"type": "json_object"}}, lambda message: type(json.loads(message["content"])) is dict),
    ({"response_format": {"type": "grammar", "grammar": 'root ::= ("x" | "yz"){3}'}},
     lambda message: message["content"].replace("yz", "x") == "xxx"),
    ({"tools": TOOLS, "tool_choice": "required"}, is_call),
    ({"tools": TOOLS, "tool_choice": {"type": "function", "function": {"name": "visit"}}}, is_call)]


class Soak:
    def __init__(self, server, seconds):
        self.server, self.end = server, time.monotonic() + seconds
        self.counts, self.faults, self.lock = Counter(), [], threading.Lock()
        self.expected = {}
        self.models = [model["id"] for model in server.ask("/v1/models")[2]["data"]]

    def count(self, what):
        with self.lock:
            self.counts[what] += 1

    def fault(self, words):
        with self.lock:
            self.faults.append(words)

    def body(self, chance):
        fields = [{}, {"n": 3}, {"n": 2, "best_of": 4}, {"presence_penalty": 1.5},
                  {"frequency_penalty": 0.5, "logit_bias": {"90": 3, "65": -100}},
                  {"repetition_penalty": 1.3}, {"min_tokens": 4, "stop": [97, "b"]},
                  {"stop_token_ids": [98], "logprobs": 2}]
        return {"model": chance.choice(self.models),
                "prompt": chance.choice(["a", "Hello", "x" * 200, "äöü " * 9, "and so on " * 20]),
                "max_tokens": chance.choice([1, 5, 40]), "temperature": 0,
                **chance.choice(fields)}

    def ask(self, chance):
        """A greedy answer, which is always the same."""
        body = self.body(chance)
        status, _, answer = self.server.ask(TEXT, body)
        self.count(f"answers {status}")
        if status == 429:
            return
        if status != 200:
            self.fault(f"status {status}: {answer}")
            return
        text, key = [c["text"] for c in answer["choices"]], json.dumps(body)
        with self.lock:
            if self.expected.setdefault(key, text) != text:
                self.faults.append(f"{key} gave {text!r} after {self.expected[key]!r}")

    def stream(self, chance):
        count = chance.choice([1, 1, 3])
        events = self.server.events(CHAT, {
            "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 20, "n": count})
        self.count("streams")
        ends = [c["finish_reason"] for e in events for c in e["choices"] if c["finish_reason"]]
        if len(ends) != count or not set(ends) <= {"stop", "length"}:
            self.fault(f"a stream of {count} answers ended with {ends}")

    def hold(self, chance):
        """An answer is what its format or its tools ask for, or was cut."""
        fields, is_right = chance.choice(HELD)
        answer = self.server.post(CHAT, {
            **fields, "messages": [{"role": "user", "content": "Hi"}], "max_tokens": chance.choice([8, 200]),
            "temperature": chance.choice([0, 1, 2]), "n": chance.choice([1, 2]),
            # So that most answers end.
            "logit_bias": {str(ord(letter)): 6 for letter in '"}]'}})
        for choice in answer["choices"]:
            self.count("held answers" if choice["finish_reason"] != "length" else "held answers, cut")
            if choice["finish_reason"] != "length" and not is_right(choice["message"]):
                self.fault(f"{fields} gave {choice}")

    def respond(self, chance):
        """A stream of the Responses API, of text or of what a schema says."""
        body = {"input": "Hi", "max_output_tokens": 20}
        if chance.random() < 0.5:
            body["text"] = {"format": {"type": "json_schema", "name": "n", "schema": {"enum": ["a", "b"]}}}
        last = self.server.response_events(body)[-1]
        self.count("responses")
        if last["type"] not in ("response.completed", "response.incomplete"):
            self.fault(f"a response ended with {last}")

    def tokens(self, chance):
        """A text is the same after both ways."""
        text = chance.choice(["a", "Hello", "äöü €"])
        tokens = self.server.post("/tokenize", {"prompt": text})["tokens"]
        if self.server.post("/detokenize", {"tokens": tokens})["prompt"] != text:
            self.fault(f"{text} became {tokens} and something else")
        self.count("tokens")

    def disconnect(self, chance):
        """Gone in the middle of a request or of its answer."""
        body = {**self.body(chance), "stream": chance.random() < 0.5, "max_tokens": 300}
        if body["stream"]:
            body.pop("best_of", None)
        data = post_bytes(TEXT, body)
        with self.server.connect() as client:
            client.sendall(data[:chance.randint(1, len(data))])
            if chance.random() < 0.5:
                client.sendall(data[:10])
                time.sleep(chance.random() * 0.05)
        self.count("disconnects")

    def garbage(self, chance):
        data = bytearray(post_bytes(TEXT, self.body(chance), "Connection: close"))
        for _ in range(chance.randint(1, 8)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        answer = self.server.raw(bytes(data), patience=3)
        self.count("garbage")
        # 501 and 505 would be the client's fault too, but we have neither.
        if answer.startswith(b"HTTP/1.1 5"):
            self.fault(f"{bytes(data)} gave {answer[:200]}")

    def stall(self, chance):
        """Sends half of a request, or reads nothing."""
        with self.server.connect() as client:
            body = {**self.body(chance), "max_tokens": 300, "stream": True}
            body.pop("best_of", None)
            data = post_bytes(TEXT, body)
            client.sendall(data if chance.random() < 0.5 else data[:len(data) // 2])
            time.sleep(chance.random() * 4)
        self.count("stalls")

    def client(self, number):
        chance = random.Random(number)
        kinds = [self.ask, self.ask, self.ask, self.stream, self.disconnect, self.garbage,
                 self.stall, self.tokens, self.respond, self.hold]
        # One kind always, so that each is there all the time; then all.
        while time.monotonic() < self.end and len(self.faults) < 10:
            kind = kinds[number % len(kinds)] if number < len(kinds) else chance.choice(kinds)
            try:
                kind(chance)
            except OSError as error:
                if self.server.process.poll() is not None:
                    self.fault(f"the server ended with {self.server.process.returncode}")
                    return
                # A connection that the server closed first, while we still sent.
                self.count(f"closed: {type(error).__name__}")
            except Exception as error:  # An answer has not what it should have.
                if "429" not in str(error) and "queue_full" not in str(error):
                    self.fault(f"{kind.__name__}: {error!r}")

    def run(self, clients):
        threads = [threading.Thread(target=self.client, args=[i]) for i in range(clients)]
        for thread in threads:
            thread.start()
        warm = None
        start = time.monotonic()
        while any(thread.is_alive() for thread in threads):
            time.sleep(0.5)
            # What is there after a fifth of the time should be all there ever is.
            if warm is None and time.monotonic() - start > (self.end - start) / 5:
                warm = self.server.resident()
        for thread in threads:
            thread.join()
        return warm or self.server.resident()


def make_modules(folder):
    from test_batch import long_module, write_two_adapters
    subprocess.run(["gist-make-tiny-module", folder / "tiny.gist", "7", "--rewinds"], check=True)
    red, blue = write_two_adapters(folder)
    adapted = long_module(folder, "--kv-type=f32", "--adapter", f"red={red}", "--adapter", f"blue={blue}")
    return folder / "tiny.gist", adapted, "--draft", "lookup"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("module", nargs="?", type=pathlib.Path)
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--clients", type=int, default=24)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        served = [options.module] if options.module else make_modules(pathlib.Path(folder))
        with Server(*served, "--context", 1000, "--read-timeout", 2, "--write-timeout", 2, "--idle-timeout", 2,
                    "--queue", 64) as server:
            threads, files = server.threads(), server.files()
            soak = Soak(server, options.minutes * 60)
            warm = soak.run(options.clients)
            if server.process.poll() is None:
                server.wait_until_idle()
                # The connections of the last moment.
                server.wait_for(lambda: server.threads() <= threads + 2)
                if server.files() > files + 2:
                    soak.fault(f"{server.files()} files are open; there were {files}")
                grown = (server.resident() - warm) / 2**20
                print(f"memory: {warm / 2**20:.1f} MiB when warm, {grown:+.1f} MiB at the end")
                if grown > 32:
                    soak.fault(f"memory grew by {grown:.1f} MiB")
                if server.terminate() != 0:
                    soak.fault("the server did not end well")
            else:
                soak.fault(f"the server ended with {server.process.returncode}: {server.lines}")
    for what, count in sorted(soak.counts.items()):
        print(f"{count:8} {what}")
    for words in soak.faults[:10]:
        print("fault:", words, file=sys.stderr)
    return 1 if soak.faults else 0


if __name__ == "__main__":
    sys.exit(main())
