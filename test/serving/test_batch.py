# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gist-serve with a compiled model whose sequences run in one call.

    PATH=build/dev/bin:$PATH python3 -m pytest test/serving/test_batch.py
"""

import subprocess
import threading

import pytest
from server import Server, compile_llama

TEXT = "/v1/completions"


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    return compile_llama(tmp_path_factory.mktemp("module"))


def test_streams_beside_one_another(module):
    """Each has the tokens of `gist-run generate`, whichever other streams run."""
    prompts = [f"{'and so on ' * (i % 5)}{i}" for i in range(12)]
    expected = {p: subprocess.run(["gist-run", "generate", module, "-p", p, "-n", "24"],
                                  check=True, stdout=subprocess.PIPE).stdout.decode()[:-1]
                for p in prompts}
    # A call of this model takes 64 rows: one for each of these and 52 of prompts.
    with Server(module, "--sequences", 12) as server:
        # The whole of it is a pool: nothing was said about one after the other.
        assert not any("one after the other" in line for line in server.lines)
        found = {}

        def ask(prompt):
            events = server.events(TEXT, {"prompt": prompt, "temperature": 0, "max_tokens": 24})
            found[prompt] = "".join(e["choices"][0]["text"] for e in events)

        for _ in range(2):  # The second time, beginnings are there already.
            threads = [threading.Thread(target=ask, args=[p]) for p in prompts]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert found == expected
            found.clear()
        # Prompts of one request come together, and so several are in a step.
        steps = server.metric("gist_step_seconds_count")
        answer = server.post(TEXT, {"prompt": prompts, "temperature": 0, "max_tokens": 24})
        assert [c["text"] for c in answer["choices"]] == list(expected.values())
        server.wait_until_idle()
        steps = server.metric("gist_step_seconds_count") - steps
        assert steps < answer["usage"]["completion_tokens"] / 2
        for path, body in (("/v1/embeddings", {"input": "a"}),
                           ("/v1/rerank", {"query": "a", "documents": ["b"]})):
            assert "makes no embeddings" in server.error(path, body)["message"]
        assert server.terminate() == 0


def test_without_logits_of_every_token(module, tmp_path):
    """Served one after the other, and said so."""
    path = compile_llama(tmp_path, "--logits=last")
    with Server(f"plain={path}") as server:
        assert any("one after the other" in line and "--logits" in line
                   for line in server.lines)
        body = {"prompt": "Hello", "temperature": 0, "max_tokens": 8}
        expected = subprocess.run(["gist-run", "generate", path, "-p", "Hello", "-n", "8"],
                                  check=True, stdout=subprocess.PIPE).stdout.decode()[:-1]
        assert server.post(TEXT, body)["choices"][0]["text"] == expected
        error = server.error(TEXT, {**body, "echo": True, "logprobs": 1})
        assert error["param"] == "echo" and "--logits=last" in error["message"]
