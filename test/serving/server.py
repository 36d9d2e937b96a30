# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A gist-serve that a test started, and clients of it."""

import http.client
import json
import pathlib
import re
import select
import signal
import socket
import subprocess
import sys
import threading
import time


class Server:
    """Runs while the `with` block does; `lines` is what it said."""

    def __init__(self, *arguments, env=None):
        self.process = subprocess.Popen(
            ["gist-serve", *map(str, arguments), "--port", "0"], stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL, text=True, env=env)
        self.lines = []
        for line in self.process.stderr:
            self.lines.append(line)
            if found := re.search(r"listening on http://.*:(\d+)", line):
                self.port = int(found[1])
                break
        else:
            raise RuntimeError("gist-serve did not start: " + "".join(self.lines))
        threading.Thread(target=lambda: self.lines.extend(self.process.stderr),
                         daemon=True).start()
        self.url = f"http://127.0.0.1:{self.port}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def terminate(self, timeout=30):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout)

    def resident(self):
        """Bytes of memory."""
        text = pathlib.Path(f"/proc/{self.process.pid}/statm").read_text()
        return int(text.split()[1]) * 4096

    def threads(self):
        return len(list(pathlib.Path(f"/proc/{self.process.pid}/task").iterdir()))

    def files(self):
        return len(list(pathlib.Path(f"/proc/{self.process.pid}/fd").iterdir()))

    def ask(self, path, body=None, method=None, headers=None, timeout=60):
        """The status, the headers and the body of an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            if body is not None and not isinstance(body, (bytes, str)):
                body = json.dumps(body)
            sent = {"Content-Type": "application/json"} if body is not None else {}
            connection.request(method or ("GET" if body is None else "POST"), path, body,
                               {**sent, **(headers or {})})
            answer = connection.getresponse()
            content = answer.read()
        finally:
            connection.close()
        if content and answer.getheader("Content-Type", "").startswith("application/json"):
            content = json.loads(content)
        return answer.status, answer.headers, content

    def post(self, path, body, **options):
        """The body of an answer that must be 200."""
        status, _, answer = self.ask(path, body, **options)
        assert status == 200, answer
        return answer

    def error(self, path, body, status=400, **options):
        """The error object of an answer that must have this status."""
        found, _, answer = self.ask(path, body, **options)
        assert found == status, (found, answer)
        assert set(answer) == {"error"}
        assert set(answer["error"]) == {"message", "type", "param", "code"}
        assert answer["error"]["message"].endswith((".", "…"))
        return answer["error"]

    def events(self, path, body):
        """The events of a stream, without the last, which must be [DONE]."""
        status, headers, content = self.ask(path, {**body, "stream": True})
        assert status == 200, content
        assert headers["Content-Type"] == "text/event-stream"
        lines = [line for line in content.decode().split("\n\n") if line]
        assert lines.pop() == "data: [DONE]"
        assert all(line.startswith("data: ") for line in lines if not line.startswith(":"))
        return [json.loads(line[6:]) for line in lines if not line.startswith(":")]

    def response_events(self, body):
        """The events of a stream of /v1/responses, numbered and named twice."""
        status, headers, content = self.ask("/v1/responses", {**body, "stream": True})
        assert status == 200, content
        assert headers["Content-Type"] == "text/event-stream"
        events = []
        for text in content.decode().split("\n\n"):
            if not text or text.startswith(":"):
                continue
            name, data = text.split("\n")
            events.append(json.loads(data.removeprefix("data: ")))
            assert name == "event: " + events[-1]["type"]
            assert events[-1]["sequence_number"] == len(events) - 1
        return events

    def connect(self):
        """A plain socket."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=30)

    def raw(self, data, patience=30):
        """What comes back for these bytes, until the connection ends or nothing
        comes for `patience` seconds."""
        with self.connect() as client:
            try:
                client.sendall(data)
            except OSError:
                pass  # It may have closed already; what it said is still there.
            client.settimeout(patience)
            answer = b""
            try:
                while piece := client.recv(65536):
                    answer += piece
            except (TimeoutError, ConnectionError):
                pass
            return answer

    def metric(self, name, headers=None):
        _, _, text = self.ask("/metrics", headers=headers)
        return float(re.search(rf"^{re.escape(name)} (\S+)$", text.decode(), re.M)[1])

    def wait_for(self, condition, seconds=20):
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, "it did not happen in time"
            time.sleep(0.02)

    def wait_until_idle(self):
        self.wait_for(lambda: self.metric("gist_running") == 0 and
                      self.metric("gist_waiting") == 0)


def compile_llama(folder, *options):
    """The tiny Llama with a tokenizer, as a module."""
    inputs = pathlib.Path(__file__).parents[1]
    if not (folder / "llama").exists():
        subprocess.run([sys.executable, inputs / "tools/Inputs/with_pieces.py",
                        inputs / "models/llama", folder / "llama"], check=True)
    module = folder / f"llama{len(options)}.gist"
    subprocess.run(["gist-compile", folder / "llama", "-o", module, "--progress=off", *options],
                   check=True)
    return module


def post_bytes(path, body, *headers):
    """A request as bytes."""
    if not isinstance(body, bytes):
        body = json.dumps(body).encode()
    lines = [f"POST {path} HTTP/1.1", "Host: x", "Content-Type: application/json",
             f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def readable(client, seconds):
    return bool(select.select([client], [], [], seconds)[0])
