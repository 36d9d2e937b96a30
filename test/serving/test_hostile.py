# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gist-serve with clients that do not behave, and at its end.

    PATH=build/dev/bin:$PATH python3 -m pytest test/serving/test_hostile.py
"""

import collections
import json
import os
import random
import resource
import signal
import socket
import subprocess
import threading
import time

import pytest
from server import Server, post_bytes, readable

TEXT = "/v1/completions"
# The tiny model writes quickly; as many texts as one request may have take
# seconds, one after the other.
ONE = ["--context", 4000, "--sequences", 1]
LONG = {"prompt": ["x"] * 128, "max_tokens": 3900, "temperature": 0, "stop": "\x00"}
LONG_STREAM = {"prompt": "x", "max_tokens": 3900, "temperature": 1, "seed": 3, "stream": True}


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    path = tmp_path_factory.mktemp("module") / "tiny.gist"
    subprocess.run(["gist-make-tiny-module", path], check=True)
    return path


@pytest.fixture(scope="module")
def server(module):
    with Server(module, *ONE, "--read-timeout", 1, "--idle-timeout", 1,
                "--write-timeout", 1, "--body-limit", 1) as server:
        yield server
        # After all of this it still works, and has given everything back.
        assert server.ask("/health")[0] == 200
        server.wait_until_idle()
        server.wait_for(lambda: server.files() < 30)
        assert server.terminate() == 0


def status_of(answer):
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.1 ") else None


@pytest.mark.parametrize("data", [
    b"\r\n", b"\x00" * 100, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"FOO / HTTP/1.1\r\n\r\n",
    b"GET  /  HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\nNo colon\r\n\r\n",
    b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 20000 + b"\r\n",
    b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\n\r\n",
    b"GET / HTTP/1.1\r\nX: " + b"a" * 100000 + b"\r\n\r\n",
    b"GET /%zz%00%ff HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    b"POST /v1/completions HTTP/1.1\r\nContent-Length: -5\r\n\r\n",
    b"POST /v1/completions HTTP/1.1\r\nContent-Type: application/json\r\n"
    b"Content-Length: 99999999999999999999\r\n\r\n",
    b"POST /v1/completions HTTP/1.1\r\nContent-Type: application/json\r\n"
    b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
    b"POST /v1/completions HTTP/1.1\r\nContent-Type: application/json\r\n"
    b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"POST /v1/completions HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=x\r\n"
    b"Content-Length: 3\r\n\r\n--x",
    b"GET / HTTP/1.1\r\nRange: bytes=99999999999999999999-\r\n\r\n",
    b"GET / HTTP/1.1\r\nRange: bytes=" + b"0-0," * 1900 + b"0-0\r\n\r\n",
    b"GET / HTTP/1.1\r\nRange: bytes=5000000-6000000\r\n\r\n",
], ids=lambda data: repr(data[:30]))
def test_malformed(server, data):
    """An answer or none, and never a server error."""
    answer = server.raw(data, patience=4)
    assert status_of(answer) is None or status_of(answer) < 500, answer[:300]
    assert server.ask("/health")[0] == 200


def test_one_request_is_not_two(server):
    """What a client says is a body is never read as a request."""
    inner = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"
    for head in (b"GET /health HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(inner),
                 b"POST /nothing HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(inner),
                 b"GET /health HTTP/1.1\r\nContent-Length: 0\r\nContent-Length: %d\r\n\r\n" %
                 len(inner),
                 b"GET /health HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"):
        assert server.raw(head + inner, patience=4).count(b"HTTP/1.1 ") == 1, head


def test_keep_alive_and_pipelines(server):
    """Requests that follow one another on a connection are answered in order."""
    one = post_bytes(TEXT, {"prompt": "a", "max_tokens": 1, "temperature": 0})
    answer = server.raw(one + b"GET /health HTTP/1.1\r\n\r\n" + one +
                        b"GET /health HTTP/1.1\r\nConnection: close\r\n\r\n")
    assert answer.count(b"HTTP/1.1 200") == 4 and answer.count(b'"status":"ok"') == 2


def test_large_bodies(server):
    body = json.dumps({"prompt": "a" * (2 << 20)}).encode()
    assert status_of(server.raw(post_bytes(TEXT, body))) == 413
    chunks = b"".join(b"10000\r\n" + b" " * 65536 + b"\r\n" for _ in range(40))
    answer = server.raw(b"POST /v1/completions HTTP/1.1\r\nContent-Type: application/json\r\n"
                        b"Transfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n")
    assert status_of(answer) == 413
    # A length that never comes takes no memory.
    before = server.resident()
    clients = [server.connect() for _ in range(50)]
    for client in clients:
        client.sendall(b"POST /v1/completions HTTP/1.1\r\nContent-Type: application/json\r\n"
                       b"Content-Length: 1000000\r\n\r\n{")
    time.sleep(0.5)
    assert server.resident() - before < 100 << 20
    for client in clients:
        client.close()
    chunked = (b"POST /v1/completions HTTP/1.1\r\nContent-Type: application/json\r\n"
               b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n")
    text = b'{"prompt":"a","max_tokens":1}'
    answer = server.raw(chunked + b"%x\r\n%s\r\n0\r\n\r\n" % (len(text), text))
    assert status_of(answer) == 200


def test_slow_clients(server):
    """The server does not wait for clients that send a byte now and then."""
    request = post_bytes(TEXT, {"prompt": "a" * 100})
    for begin in (0, 5, len(request) - 50):
        with server.connect() as client:
            start = time.monotonic()
            client.sendall(request[:begin])
            closed = False
            for byte in request[begin:-1]:
                try:
                    client.sendall(bytes([byte]))
                except OSError:
                    closed = True
                # An answer that says so, or the end of the connection.
                if closed or readable(client, 0.2):
                    closed = True
                    break
            assert closed and 0.5 < time.monotonic() - start < 5


def test_idle_connections_are_closed(server):
    with server.connect() as client:
        assert readable(client, 4) and client.recv(10) == b""


def test_garbage(server):
    """Bodies and heads of chance."""
    chance = random.Random(5)
    valid = json.dumps({"prompt": "a", "max_tokens": 2, "stop": ["x"], "logprobs": 2}).encode()
    for _ in range(150):
        body = bytearray(valid)
        for _ in range(chance.randint(1, 6)):
            body[chance.randrange(len(body))] = chance.choice(b'{}[]",:0e-\\u\xff\x00tnf')
        status, _, answer = server.ask(TEXT, bytes(body))
        assert status in (200, 400, 404), answer
    head = post_bytes(TEXT, valid, "Connection: close")
    for _ in range(60):
        data = bytearray(head)
        for _ in range(chance.randint(1, 4)):
            # Not the length, which would only be waited for.
            data[chance.randrange(60)] = chance.randrange(256)
        with server.connect() as client:
            client.sendall(data)
            client.shutdown(socket.SHUT_WR)
            answer = client.recv(100)
            assert status_of(answer) is None or status_of(answer) < 500, data


def test_disconnect_in_the_queue_and_in_a_stream(server):
    cancelled = server.metric("gist_cancelled_total")
    waiting = server.connect()
    waiting.sendall(post_bytes(TEXT, LONG))
    server.wait_for(lambda: server.metric("gist_running") == 1)
    clients = [server.connect() for _ in range(5)]
    for client in clients:
        client.sendall(post_bytes(TEXT, LONG_STREAM))
    server.wait_for(lambda: server.metric("gist_waiting") >= 100)
    for client in clients:
        client.close()
    waiting.close()
    server.wait_until_idle()
    assert server.metric("gist_cancelled_total") > cancelled + 5
    with server.connect() as client:
        client.sendall(post_bytes(TEXT, LONG_STREAM))
        assert client.recv(100).startswith(b"HTTP/1.1 200")
    server.wait_until_idle()


def test_client_that_does_not_read(server):
    """Its answer goes nowhere; others get theirs."""
    cancelled = server.metric("gist_cancelled_total")
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
    client.connect(("127.0.0.1", server.port))
    client.sendall(post_bytes(TEXT, {**LONG_STREAM, "logprobs": 20}) * 3)
    assert server.post(TEXT, {"prompt": "a", "max_tokens": 3})
    server.wait_until_idle()
    client.close()
    assert server.metric("gist_cancelled_total") >= cancelled


def test_keys(module, tmp_path):
    (tmp_path / "keys").write_text("# of the team\nalpha\nbeta\n")
    env = {**os.environ, "GIST_API_KEY": "gamma"}
    with Server(module, "--api-key-file", tmp_path / "keys", env=env) as server:
        body = {"prompt": "a", "max_tokens": 1}
        for key in ("alpha", "beta", "gamma"):
            assert server.post(TEXT, body, headers={"Authorization": "Bearer " + key})
        for headers in ({}, {"Authorization": "Bearer alph"}, {"Authorization": "alpha"},
                        {"Authorization": "Bearer # of the team"}):
            assert server.error(TEXT, body, 401, headers=headers)["code"] == "invalid_api_key"
            assert server.ask("/v1/models", headers=headers)[0] == 401
            assert server.ask("/metrics", headers=headers)[0] == 401
            assert server.ask("/health", headers=headers)[0] == 200
        assert server.ask(TEXT, body)[1]["WWW-Authenticate"] == "Bearer"


def test_full_queue(module):
    with Server(module, *ONE, "--queue", 2) as server:
        busy = [server.connect() for _ in range(3)]
        for client in busy:
            client.sendall(post_bytes(TEXT, {**LONG, "prompt": ["x"] * 40}))
            server.wait_for(lambda: server.metric("gist_running") == 1)
        found = {}

        def ask(number):
            found[number] = server.ask(TEXT, {"prompt": "a", "max_tokens": 1})

        threads = [threading.Thread(target=ask, args=[i]) for i in range(6)]
        for thread in threads:
            thread.start()
        for client in busy:
            client.close()
        for thread in threads:
            thread.join()
        refused = [answer for answer in found.values() if answer[0] == 429]
        assert refused and all(answer[0] in (200, 429) for answer in found.values())
        assert refused[0][2]["error"]["code"] == "queue_full"
        assert 1 <= int(refused[0][1]["Retry-After"]) <= 60
        server.wait_until_idle()
        assert server.post(TEXT, {"prompt": "a", "max_tokens": 1})


def test_too_many_connections(module):
    with Server(module, "--connections", 4) as server:
        clients = [server.connect() for _ in range(4)]
        server.wait_for(lambda: b"too_many_connections" in server.raw(b"", 5))
        for client in clients:
            client.close()
        server.wait_for(lambda: b"200 OK" in server.raw(
            b"GET /health HTTP/1.1\r\nConnection: close\r\n\r\n"))


def test_ten_thousand_connections(module):
    """As many at once as files may be open; memory does not grow with them."""
    with Server(module) as server:
        assert server.post(TEXT, {"prompt": "a", "max_tokens": 1})
        before = server.resident()
        room = min(resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 200, 5000)
        held = collections.deque()
        for _ in range(10000):
            if len(held) == room:
                held.popleft().close()
            held.append(server.connect())
        assert server.resident() - before < 256 << 20
        for client in held:
            client.close()
        server.wait_for(lambda: b"200 OK" in server.raw(
            b"GET /health HTTP/1.1\r\nConnection: close\r\n\r\n"))
        assert server.post(TEXT, {"prompt": "a", "max_tokens": 1})


def test_time_limit(module):
    with Server(module, *ONE, "--request-timeout", 1, "--read-timeout", 1) as server:
        error = server.error(TEXT, LONG, 504)
        assert error["code"] == "timeout"
        server.wait_until_idle()


def test_drain_lets_answers_end(module):
    with Server(module, *ONE) as server:
        client = server.connect()
        client.sendall(post_bytes(TEXT, {**LONG, "prompt": ["x"] * 30}, "Connection: close"))
        server.wait_for(lambda: server.metric("gist_running") == 1)
        server.process.send_signal(signal.SIGTERM)
        server.wait_for(lambda: server.ask("/health")[0] == 503)
        assert server.error(TEXT, {"prompt": "a"}, 503)["code"] == "stopping"
        answer = b""
        while piece := client.recv(1 << 20):
            answer += piece
        body = json.loads(answer.partition(b"\r\n\r\n")[2])
        assert len(body["choices"]) == 30
        assert server.process.wait(20) == 0
        assert not any("cut short" in line for line in server.lines)


def test_drain_has_an_end(module):
    with Server(module, *ONE, "--drain-timeout", 1) as server:
        client = server.connect()
        client.sendall(post_bytes(TEXT, {**LONG, "prompt": ["x"] * 128}))
        server.wait_for(lambda: server.metric("gist_running") == 1)
        stream = server.connect()
        stream.sendall(post_bytes(TEXT, LONG_STREAM))
        server.wait_for(lambda: server.metric("gist_waiting") >= 100)
        start = time.monotonic()
        assert server.terminate() == 0
        assert time.monotonic() - start < 8
        assert b"503 Service Unavailable" in client.recv(1 << 16)
        data = b""
        while piece := stream.recv(1 << 16):
            data += piece
        # The stream is cut short, or was not let in any more on a slow machine.
        assert b'"code":"stopping"' in data
        assert data.startswith(b"HTTP/1.1 503") or data.rstrip().endswith(b"0")
        server.wait_for(lambda: any("cut short" in line for line in server.lines))


def test_second_signal_is_the_end(module):
    with Server(module, *ONE) as server:
        client = server.connect()
        client.sendall(post_bytes(TEXT, LONG))
        server.wait_for(lambda: server.metric("gist_running") == 1)
        server.process.send_signal(signal.SIGINT)
        server.wait_for(lambda: server.ask("/health")[0] == 503)
        start = time.monotonic()
        assert server.terminate() == 0 and time.monotonic() - start < 8


@pytest.mark.parametrize("arguments, code, words", [
    ([], 2, "models is required"),
    (["missing.gist"], 1, "missing.gist"),
    (["MODULE", "MODULE"], 1, "two models are called 'tiny'"),
    (["MODULE", "--host", "not an address"], 1, "'not an address' is not an address"),
    (["MODULE", "--port", "70000"], 2, "70000"),
    (["MODULE", "--api-key", "two words"], 1, "API key"),
    (["=MODULE"], 1, "is not a module or NAME=MODULE"),
    (["MODULE", "--context", "1000000"], 1, "1000000"),
])
def test_usage(module, arguments, code, words):
    command = [a.replace("MODULE", str(module)) for a in arguments]
    result = subprocess.run(["gist-serve", *command], capture_output=True, text=True, timeout=60)
    assert result.returncode == code and words in result.stderr, result.stderr
    assert result.stderr.count("error:") == (1 if code == 1 else 0)


def test_port_that_is_taken(module):
    with Server(module) as server:
        result = subprocess.run(["gist-serve", module, "--port", str(server.port)],
                                capture_output=True, text=True, timeout=60)
        assert result.returncode == 1 and "cannot listen" in result.stderr
