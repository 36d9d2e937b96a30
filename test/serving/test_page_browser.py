# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The page of gist-serve in a browser: a question is typed, an answer appears.

    PATH=build/dev/bin:$PATH python3 -m pytest test/serving/test_page_browser.py

Skipped where there is no Chromium (Debian's package chromium).
"""

import base64
import http.client
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import time

import pytest
from server import Server

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(not BROWSER, reason="there is no chromium on this machine")


# An answer is there whole, and its text.
ANSWERED = "!running && !!document.getElementById('again')"
# What is wider than the screen, but for code, which scrolls.
WIDER = """[...document.querySelectorAll('body, body *')].filter(e => !e.closest('pre') &&
  (e.getBoundingClientRect().right > innerWidth + .5 || (e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0 &&
   !['SELECT', 'INPUT'].includes(e.tagName)))).map(e => e.outerHTML.slice(0, 80))"""
ANSWER = "[...document.querySelectorAll('article.assistant')].at(-1)?.textContent"


class Page:
    """A page that is driven through the browser's debugging port: one socket,
    messages of JSON in frames of a WebSocket."""

    def __init__(self, folder, url, width=1400):
        self.process = subprocess.Popen(
            [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0",
             f"--user-data-dir={folder / 'profile'}", url],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        port_file = folder / "profile/DevToolsActivePort"
        for _ in range(600):
            if port_file.exists() and port_file.read_text().count("\n"):
                break
            time.sleep(0.1)
        port = int(port_file.read_text().splitlines()[0])
        for _ in range(100):
            connection = http.client.HTTPConnection("127.0.0.1", port)
            connection.request("GET", "/json")
            pages = [p for p in json.load(connection.getresponse()) if p["type"] == "page"]
            if pages and pages[0]["url"].startswith("http"):
                break
            time.sleep(0.1)
        path = pages[0]["webSocketDebuggerUrl"].partition(str(port))[2]
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
            "Sec-WebSocket-Version: 13\r\n\r\n".encode())
        self.input = self.socket.makefile("rb")
        while self.input.readline().strip():
            pass
        self.count = 0
        # A window cannot be as narrow as a telephone.
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=700, deviceScaleFactor=1, mobile=False)
        self.wait_for("document.readyState == 'complete' && !!document.getElementById('form')")

    def command(self, method, **parameters):
        self.count += 1
        data = json.dumps({"id": self.count, "method": method, "params": parameters}).encode()
        # A client's frames are masked; a mask of zeros changes nothing.
        self.socket.sendall(b"\x81" + struct.pack(">BQ", 0x80 | 127, len(data)) + bytes(4) + data)
        while True:
            answer = json.loads(self.frame())
            if answer.get("id") == self.count:
                return answer["result"]

    def frame(self):
        _, size = self.input.read(2)
        if size == 126:
            size = struct.unpack(">H", self.input.read(2))[0]
        elif size == 127:
            size = struct.unpack(">Q", self.input.read(8))[0]
        return self.input.read(size)

    def value(self, expression):
        result = self.command("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def wait_for(self, expression):
        for _ in range(300):
            if found := self.value(expression):
                return found
            time.sleep(0.05)
        raise AssertionError(f"{expression} never became true")

    def type(self, text):
        self.value("document.getElementById('text').focus()")
        self.command("Input.insertText", text=text)
        for kind in ("keyDown", "keyUp"):
            self.command("Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter",
                         windowsVirtualKeyCode=13, text="\r")

    def close(self):
        self.socket.close()
        self.process.kill()
        self.process.wait()


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    path = tmp_path_factory.mktemp("module") / "tiny.gist"
    subprocess.run(["gist-make-tiny-module", path], check=True)
    return path


@pytest.mark.parametrize("width", [1400, 420])
def test_chat(module, tmp_path, width):
    with Server(module, "--context", 200) as server:
        expected = server.post("/v1/chat/completions", {
            "messages": [{"role": "user", "content": "<b>Why?</b>"}],
            "temperature": 0})["choices"][0]["message"]["content"]
        page = Page(tmp_path, server.url + "/", width)
        try:
            assert page.wait_for("document.getElementById('model').value") == "tiny"
            page.value("document.getElementById('temperature').value = '0'")
            page.type("<b>Why?</b>")
            page.wait_for(ANSWERED)
            assert re.fullmatch(r"\d+ tokens, [0-9.]+/s, first after [0-9.]+ s",
                                page.value("document.getElementById('speed').textContent"))
            texts = page.value(
                "[...document.querySelectorAll('article')].map(a => [a.className, a.textContent])")
            assert texts == [["user", "<b>Why?</b>"], ["assistant", expected]]
            # What is written is text, not markup, and nothing is wider than the screen.
            assert page.value("document.querySelectorAll('article *').length") == 0
            assert page.value("innerWidth") == width and page.value(WIDER) == []
            page.value("document.getElementById('new').click()")
            assert page.value("document.querySelectorAll('article').length") == 0
            # The empty screen offers questions again.
            assert page.value("document.querySelectorAll('#hello button').length") == 3
            page.value("document.querySelector('#hello button').click()")
            page.wait_for("document.querySelectorAll('article.assistant').length")
            assert page.value("document.getElementById('hello') === null")
            page.value("document.getElementById('new').click()")
        finally:
            page.close()


@pytest.mark.parametrize("width", [1400, 420])
def test_settings(module, tmp_path, width):
    """The drawer hides neither the way back nor the message, and what it says is what is asked for."""
    with Server(f"{'long-name-' * 8}={module}", "--context", 200) as server:
        page = Page(tmp_path, server.url + "/", width)
        try:
            page.wait_for("document.getElementById('model').value")
            assert page.value("document.getElementById('settings').hidden")
            page.value("document.getElementById('drawer').click()")
            page.value("document.getElementById('text').value = 'long'.repeat(200)")
            assert page.value("innerWidth") == width and page.value(WIDER) == []
            page.value("document.getElementById('text').value = ''")
            box = page.value("(b => [b.left, b.right, b.top, b.bottom])("
                             "document.getElementById('settings').getBoundingClientRect())")
            head = page.value("document.getElementById('drawer').getBoundingClientRect().bottom")
            assert box[0] >= 0 and box[1] <= page.value("innerWidth") and box[2] >= head and box[3] <= 700
            # A message can be written and sent beside it.
            assert page.value("(b => document.elementFromPoint((b.left + b.right) / 2, (b.top + b.bottom) / 2).id)("
                              "document.getElementById('send').getBoundingClientRect())") == "send"
            for name, value in {"temperature": 0, "top_p": 0.9, "longest": 9, "repetition": 1.3, "seed": 4,
                                "system": "Be brief.", "stop": "never\n\nthis"}.items():
                page.value(f"document.getElementById('{name}').value = {json.dumps(str(value))}")
            assert page.value("JSON.stringify(settings())") == (
                '{"temperature":0,"top_p":0.9,"max_tokens":9,"repetition_penalty":1.3,"seed":4,'
                '"stop":["never","this"]}')
            page.value("document.getElementById('drawer').click()")
            assert page.value("document.getElementById('settings').hidden")
            expected = server.post("/v1/chat/completions", {
                "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}],
                "temperature": 0, "max_tokens": 9, "repetition_penalty": 1.3,
                "stop": ["never", "this"]})["choices"][0]["message"]["content"]
            page.type("Why?")
            page.wait_for(ANSWERED)
            assert page.value(ANSWER) == expected
            # A schema, and one that is none.
            page.value("document.getElementById('longest').value = ''")
            page.value("""document.getElementById('schema').value = '{"enum": ["yes", "no"]}'""")
            page.type("Sure?")
            page.wait_for(ANSWERED)
            assert page.value(ANSWER) in ('"yes"', '"no"')
            page.value("document.getElementById('schema').value = '{'")
            page.type("Sure?")
            assert "not JSON" in page.wait_for("document.querySelector('.error')?.textContent")
        finally:
            page.close()


# The tiny model answers at once; this page gets an event every 30 ms.
SLOW_EVENTS = """fetch = (real => async (url, options) => {
  const answer = await real(url, options);
  if (!url.includes('chat')) return answer;
  const events = (await answer.text()).split('\\n\\n').slice(0, -1);
  return new Response(new ReadableStream({async pull(to) {
    await new Promise(done => setTimeout(done, 30));
    if (options.signal.aborted) to.error(new DOMException('', 'AbortError'));
    else if (events.length) to.enqueue(new TextEncoder().encode(events.shift() + '\\n\\n'));
    else to.close();
  }}));
})(fetch); 1"""


def test_stop_and_regenerate(module, tmp_path):
    with Server(module, "--context", 4000) as server:
        page = Page(tmp_path, server.url + "/")
        try:
            page.wait_for("document.getElementById('model').value")
            page.value("document.getElementById('temperature').value = '0'")
            whole = server.post("/v1/chat/completions", {
                "messages": [{"role": "user", "content": "Why?"}],
                "temperature": 0})["choices"][0]["message"]["content"]
            page.value(SLOW_EVENTS)
            page.type("Why?")
            page.wait_for(f"({ANSWER} ?? '').length > 20")
            assert page.value("document.getElementById('send').textContent") == "Stop"
            page.value("document.getElementById('send').click()")
            page.wait_for(ANSWERED)
            first = page.value(ANSWER)
            assert 20 < len(first) < len(whole) / 2 and page.value("messages.length") == 2
            # The part that was there stays a part of the conversation, until it is written anew.
            assert page.value("messages[1].content") == first
            server.wait_until_idle()
            page.value("document.getElementById('longest').value = '5'")
            page.value("document.getElementById('again').click()")
            page.wait_for(f"{ANSWERED} && {ANSWER} != {json.dumps(first)}")
            assert page.value("document.querySelectorAll('article').length") == 2
            assert page.value("messages.map(m => m.role).join()") == "user,assistant"
            assert page.value("document.querySelectorAll('#again').length") == 1
        finally:
            page.close()


MARKDOWN = """# Title with `code`
Two lines,
**strong** and *weak*.

- one
- two <img src=x onerror=alert(1)>
1. first
```python
print("a")  # **no**
```
[safe](https://example.org/) [unsafe](javascript:alert(1))
2 * 3 * 4"""


def test_markdown_and_system_prompt(module, tmp_path):
    with Server(module, "--context", 200) as server:
        page = Page(tmp_path, server.url + "/")
        try:
            page.wait_for("document.getElementById('model').value")
            page.value(f"box = document.createElement('div'); box.append(render({json.dumps(MARKDOWN)})); 1")
            names = page.value("[...box.querySelectorAll('*')].map(e => e.localName)")
            assert names == ["h2", "code", "strong", "em", "ul", "li", "li", "ol", "li", "pre", "code", "a"]
            assert page.value("box.querySelector('pre').textContent") == 'print("a")  # **no**\n'
            assert page.value("box.querySelector('ul').lastChild.textContent") == "two <img src=x onerror=alert(1)>"
            assert page.value("box.querySelector('a').href") == "https://example.org/"
            text = page.value("box.textContent")
            assert "Two lines,\nstrong and weak." in text and "2 * 3 * 4" in text
            assert "[unsafe](javascript:alert(1))" in text
            # Half of a block of code, as it streams.
            assert page.value("b = document.createElement('p'); b.append(render('```\\nx')); b.innerHTML") == \
                "<pre><code>x\n</code></pre>"
            page.value("document.getElementById('system').value = ' Be brief. '; messages = [{role: 'user', content: 'Hi'}]; 1")
            assert page.value("JSON.stringify(withSystem())") == \
                '[{"role":"system","content":"Be brief."},{"role":"user","content":"Hi"}]'
        finally:
            page.close()


def test_key_and_errors(module, tmp_path):
    with Server(module, "--context", 30, "--api-key", "secret") as server:
        page = Page(tmp_path, server.url + "/")
        try:
            page.wait_for("!document.getElementById('keys').hidden")
            page.value("key = document.getElementById('key'); key.value = 'secret';"
                       "key.dispatchEvent(new Event('change')); 1")
            page.wait_for("document.getElementById('model').value == 'tiny'")
            page.type("x" * 100)
            assert "context" in page.wait_for("document.querySelector('.error')?.textContent")
        finally:
            page.close()
