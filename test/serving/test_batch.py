# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gist-serve with a compiled model whose sequences run in one call.

    PATH=build/dev/bin:$PATH python3 -m pytest test/serving/test_batch.py
"""

import json
import pathlib
import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from server import Server, compile_llama

sys.path.append(str(pathlib.Path(__file__).parents[1] / "integration"))
from lora import matrices, write_adapter

TEXT = "/v1/completions"
TOOLS = pathlib.Path(__file__).parents[1] / "tools"


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


def long_module(folder, *options):
    """The tiny Llama with a context of 8192 tokens."""
    compile_llama(folder)
    config = folder / "llama/config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "max_position_embeddings": 8192}))
    return compile_llama(folder, *options)


def test_beginnings_are_there_once(tmp_path):
    """Sixteen clients with one system prompt: the server has its state once, and no answer changes."""
    # A row of the tiny cache, of all heads, has 64 bytes: 256 tokens are whole pages.
    module = long_module(tmp_path, "--kv-type=f32")
    system = "".join(f"Rule {i}: be brief and kind. " for i in range(140))
    bodies = [{"prompt": f"{system}Question {i}?", "temperature": 0, "max_tokens": 24} for i in range(16)]
    with Server(module, "--sequences", 16, "--chunk", 256) as server:
        tokens = server.post(TEXT, bodies[0])["usage"]["prompt_tokens"]
        assert tokens > 13 * 256  # So many that copies of them show.
        alone = [server.post(TEXT, body)["choices"][0]["text"] for body in bodies]
        most = 0
        with ThreadPoolExecutor(16) as clients:
            answers = [clients.submit(server.post, TEXT, body) for body in bodies]
            while not all(answer.done() for answer in answers):
                most = max(most, server.metric("gist_state_bytes"))
        assert [a.result()["choices"][0]["text"] for a in answers] == alone
        server.wait_until_idle()
        # Two layers have keys and values of 8192 tokens; the whole chunks of the beginning are there once, and
        # chunks with the questions are kept too.
        whole, shared = 2 * 2 * 64 * 8192, 2 * 2 * 64 * (tokens // 256 * 256)
        assert 15 * (whole - shared) < most <= 16 * (whole - shared) + 3 * shared < 11 * whole


PLAN = {"gist_plan": 1, "block": 8, "layers": [
    {"heads": ["dense", {"window": 8, "theta": 0.6, "room": 0.5}]},
    {"heads": [{"window": 8, "sinks": 2}, {"window": 0, "theta": 0.9, "room": 1}]}]}


def test_a_plan_drafts(tmp_path):
    """A model with a plan guesses for itself without one: it has no weights of its own, and texts stay the dense
    ones, token for token, whether guesses are right or not."""
    dense = long_module(tmp_path, "--kv-type=f32")
    (tmp_path / "plan.json").write_text(json.dumps(PLAN))
    drafter, whole = tmp_path / "drafter.gist", tmp_path / "whole.gist"
    for path, more in ((drafter, ["--weights", dense]), (whole, [])):
        subprocess.run(["gist-compile", tmp_path / "llama", "-o", path, "--progress=off", "--kv-type=f32",
                        "--plan", tmp_path / "plan.json", "--follow-plan", *more], check=True)
    # Matrices of two layers have 48 KiB in f32 each.
    assert whole.stat().st_size - drafter.stat().st_size > 2 * 48 << 10

    def write(module, prompt, *options):
        done = subprocess.run(["gist-run", "generate", module, "-p", prompt, "-n", "200", "--ignore-end",
                               "--print-tokens", "--stats", *map(str, options)], check=True, capture_output=True, text=True)
        return done.stdout, re.search(r"drafts: +(\d+) tokens, +(\d+) accepted", done.stderr)

    prompts = ["a", "and so on " * 3, "The quick brown fox. " * 12, "x" * 300]
    texts = [write(dense, prompt)[0] for prompt in prompts]
    assert any(write(drafter, prompt)[0] != text for prompt, text in zip(prompts, texts))
    counts = [0, 0]
    for prompt, text in zip(prompts, texts):
        for count in (0, 3, 15):
            drafted, found = write(dense, prompt, "--draft", drafter, "--draft-tokens", count)
            assert drafted == text
            counts = [a + int(b) for a, b in zip(counts, found.groups())] if count else counts
    assert 0 < counts[1] < counts[0]
    bodies = [{"prompt": prompt, "temperature": 0, "max_tokens": 60} for prompt in prompts]
    with Server(dense) as server:
        expected = [server.post(TEXT, body)["choices"] for body in bodies]
    with Server(dense, "--draft", drafter, "--draft-tokens", 3) as server:
        assert [server.post(TEXT, body)["choices"] for body in bodies] == expected
        assert server.metric("gist_accepted_tokens_total") > 0


def write_two_adapters(folder):
    shapes = {"self_attn.q_proj": (32, 32), "self_attn.v_proj": (16, 32), "mlp.down_proj": (32, 96)}
    layers = {f"model.layers.{n}.{name}": shape for n in range(2) for name, shape in shapes.items()}
    return [write_adapter(folder / name, matrices(layers, seed=seed), lora_alpha=20)
            for name, seed in (("red", 3), ("blue", 4))]


def test_adapters(tmp_path):
    """Requests of one call have different adapters; each answer is that of a module in which its adapter is
    merged. Beginnings are shared by those with the same adapter alone."""
    exact = ("--kv-type=f32", "--compute=f32", "--expand-weights")
    red, blue = write_two_adapters(tmp_path)
    module = long_module(tmp_path, *exact, "--adapter", f"red={red}", "--adapter", f"blue={blue}")
    merged = {"": compile_llama(tmp_path, *exact)}
    for name, folder in (("red", red), ("blue", blue)):
        merged[name] = tmp_path / f"{name}.gist"
        subprocess.run(["gist-compile", tmp_path / "llama", "-o", merged[name], "--progress=off", *exact,
                        "--lora", folder], check=True)
    prompt = "Hello there, and so on. " * 12
    expected = {name: subprocess.run(["gist-run", "generate", path, "-p", prompt, "-n", "24"], check=True,
                                     stdout=subprocess.PIPE).stdout.decode(errors="replace")[:-1]
                for name, path in merged.items()}
    assert len(set(expected.values())) == 3
    for name in ("red", "blue"):
        assert subprocess.run(["gist-run", "generate", module, "-p", prompt, "-n", "24", "--adapter", name], check=True,
                              stdout=subprocess.PIPE).stdout.decode(errors="replace")[:-1] == expected[name]
    done = subprocess.run(["gist-run", "generate", module, "-p", "x", "--adapter", "green"], capture_output=True, text=True)
    assert done.returncode == 1 and "no adapter 'green'; it has red, blue" in done.stderr
    wrong = write_adapter(tmp_path / "wrong", matrices({"model.layers.7.mlp.up_proj": (96, 32)}))
    done = subprocess.run(["gist-compile", tmp_path / "llama", "-o", tmp_path / "no.gist", "--progress=off",
                           "--adapter", f"red={red}", "--adapter", f"wrong={wrong}"], capture_output=True, text=True)
    assert done.returncode == 1 and not (tmp_path / "no.gist").exists()
    assert "wrong: the model has no linear layer 'model.layers.7.mlp.up_proj'" in done.stderr
    with Server(f"llama={module}", "--chunk", "16") as server:
        names = {m["id"] for m in server.ask("/v1/models")[2]["data"]}
        assert names == {"llama", "llama:red", "llama:blue"}
        assert server.error(TEXT, {"model": "llama:green", "prompt": "x"}, status=404)["param"] == "model"

        def ask(name):
            model = f"llama:{name}" if name else "llama"
            answer = server.post(TEXT, {"model": model, "prompt": prompt, "temperature": 0, "max_tokens": 24})
            assert answer["model"] == model
            return name, answer["choices"][0]["text"]

        with ThreadPoolExecutor(12) as clients:
            for name, text in clients.map(ask, ["", "red", "blue"] * 4):
                assert text == expected[name]


def test_adapters_of_encoders(tmp_path):
    """Embeddings by MODEL:ADAPTER are those of a module in which the adapter is merged."""
    model = tmp_path / "bert"
    subprocess.run([sys.executable, TOOLS / "Inputs/with_tokenizer.py", TOOLS.parent / "models/bert", model], check=True)
    (model / "modules.json").write_text(json.dumps([
        {"path": path, "type": f"sentence_transformers.models.{kind}"}
        for path, kind in (("", "Transformer"), ("1_Pooling", "Pooling"))]))
    (model / "1_Pooling").mkdir()
    (model / "1_Pooling/config.json").write_text('{"pooling_mode_mean_tokens": true}')
    layers = {f"encoder.layer.{n}.attention.self.{part}": (32, 32) for n in range(2) for part in ("query", "value")}
    red = write_adapter(tmp_path / "red", matrices(layers, seed=3))
    files = {}
    for name, more in (("plain", ["--adapter", f"red={red}"]), ("merged", ["--lora", red])):
        files[name] = tmp_path / f"{name}.gist"
        subprocess.run(["gist-compile", model, "-o", files[name], "--progress=off", "--compute=f32", *more], check=True)
    with Server(*files.values()) as server:
        def embed(name):
            answer = server.post("/v1/embeddings", {"model": name, "input": ["Hello", "there"]})
            assert answer["model"] == name
            return [number for item in answer["data"] for number in item["embedding"]]

        plain, merged = embed("plain"), embed("merged")
        assert embed("plain:red") == pytest.approx(merged, abs=1e-4)
        assert embed("plain") == plain  # The adapter does not stay.
        assert max(abs(a - b) for a, b in zip(plain, merged)) > 0.01
        assert server.error("/v1/embeddings", {"model": "plain:blue", "input": "a"}, status=404)["param"] == "model"
        best = server.post("/v1/rerank", {"model": "plain:red", "query": "a", "documents": ["b", "a"]})
        assert best["model"] == "plain:red" and best["results"][0]["index"] == 1
