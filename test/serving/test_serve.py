# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gist-serve with clients that behave.

    PATH=build/dev/bin:$PATH python3 -m pytest test/serving/test_serve.py
"""

import base64
import json
import math
import os
import pathlib
import re
import struct
import subprocess
import sys
import threading

import pytest
from server import Server

CHAT, TEXT, EMBED = "/v1/chat/completions", "/v1/completions", "/v1/embeddings"
RERANK, RESPOND = "/v1/rerank", "/v1/responses"


@pytest.fixture(scope="module")
def modules(tmp_path_factory):
    folder = tmp_path_factory.mktemp("modules")
    for name, options in (("tiny", ["7"]), ("other", ["8"]), ("encoder", ["7", "--encoder"])):
        subprocess.run(["gist-make-tiny-module", folder / f"{name}.gist", *options], check=True)
    return folder


@pytest.fixture(scope="module")
def server(modules):
    with Server(modules / "tiny.gist", f"second={modules / 'other.gist'}",
                modules / "encoder.gist", "--context", 2000) as server:
        yield server
        assert server.process.poll() is None
        assert server.terminate() == 0


def generate(module, prompt, *options):
    """What gist-run writes, without the end of the line."""
    return subprocess.run(
        ["gist-run", "generate", module, "-p", prompt, "--context", "2000", *map(str, options)],
        check=True, stdout=subprocess.PIPE).stdout.decode()[:-1]


def test_models(server):
    _, _, answer = server.ask("/v1/models")
    assert [m["id"] for m in answer["data"]] == ["tiny", "second", "encoder"]
    assert [m["writes"] for m in answer["data"]] == [True, True, False]
    # What an encoder takes at once.
    assert [m["context_length"] for m in answer["data"]][:2] == [2000, 2000]
    assert answer["data"][2]["context_length"] > 0
    assert server.ask("/v1/models/second")[2]["id"] == "second"
    assert server.ask("/v1/models/nobody")[0] == 404
    assert server.ask("/v1/models/")[0] == 404


@pytest.mark.parametrize("prompt", ["Hello", "a", "äöü €", "x" * 300])
def test_completion_is_that_of_gist_run(server, modules, prompt):
    for model, file in (("tiny", "tiny.gist"), ("second", "other.gist")):
        expected = generate(modules / file, prompt, "-n", 20)
        answer = server.post(TEXT, {"model": model, "prompt": prompt, "temperature": 0,
                                    "max_tokens": 20})
        assert answer["choices"][0]["text"] == expected
        assert answer["object"] == "text_completion" and answer["model"] == model
        streamed = server.events(TEXT, {"model": model, "prompt": prompt, "temperature": 0,
                                        "max_tokens": 20})
        assert "".join(e["choices"][0]["text"] for e in streamed) == expected
        assert streamed[-1]["choices"][0]["finish_reason"] in ("stop", "length")
        assert all(e["choices"][0]["finish_reason"] is None for e in streamed[:-1])
        assert len({e["id"] for e in streamed}) == 1


def test_chat_is_that_of_gist_run(server, modules):
    expected = generate(modules / "tiny.gist", "Why?", "--chat", "--system", "S", "-n", 12)
    body = {"messages": [{"role": "system", "content": "S"}, {"role": "user", "content": "Why?"}],
            "temperature": 0, "max_completion_tokens": 12}
    answer = server.post(CHAT, body)
    assert answer["choices"][0]["message"] == {"role": "assistant", "content": expected,
                                               "refusal": None}
    usage = answer["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    assert 1 <= usage["completion_tokens"] <= 12

    events = server.events(CHAT, {**body, "stream_options": {"include_usage": True}})
    assert events[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert "".join(e["choices"][0]["delta"].get("content", "")
                   for e in events[:-1]) == expected
    assert events[-1]["choices"] == [] and events[-1]["usage"] == usage
    assert all(e["usage"] is None for e in events[:-1])
    assert {e["object"] for e in events} == {"chat.completion.chunk"}


def test_seeds_and_temperature(server, modules):
    body = {"prompt": "Hello", "temperature": 1.5, "top_p": 0.9, "max_tokens": 30, "seed": 5}
    first = server.post(TEXT, body)["choices"][0]["text"]
    assert server.post(TEXT, body)["choices"][0]["text"] == first
    assert first == generate(modules / "tiny.gist", "Hello", "-n", 30, "--temperature", 1.5,
                             "--top-p", 0.9, "--seed", 5)
    others = {server.post(TEXT, {**body, "seed": None})["choices"][0]["text"] for _ in range(4)}
    assert len(others) > 1


def test_stop(server):
    body = {"prompt": "Hello", "temperature": 0, "max_tokens": 200}
    whole = server.post(TEXT, body)["choices"][0]["text"]
    stop = whole[3:5]
    answer = server.post(TEXT, {**body, "stop": ["never there", stop]})["choices"][0]
    assert answer["text"] == whole[:whole.index(stop)] and answer["finish_reason"] == "stop"
    events = server.events(TEXT, {**body, "stop": stop})
    assert "".join(e["choices"][0]["text"] for e in events) == answer["text"]


def test_context_ends_an_answer(server):
    # No end token comes in these texts before the context does.
    answer = server.post(TEXT, {"prompt": "Hello", "temperature": 0, "max_tokens": 100000})
    assert answer["usage"]["total_tokens"] <= 2000
    error = server.error(TEXT, {"prompt": "x" * 2000})
    assert error["code"] == "context_length_exceeded" and "2000" in error["message"]


def test_logprobs(server):
    body = {"prompt": "Hello", "temperature": 0, "max_tokens": 6, "logprobs": 3}
    answer = server.post(TEXT, body)["choices"][0]
    lists = answer["logprobs"]
    assert {len(values) for values in lists.values()} == {len(lists["tokens"])}
    for token, logprob, top in zip(lists["tokens"], lists["token_logprobs"],
                                   lists["top_logprobs"]):
        # A greedy token is the best of them.
        assert len(top) == 3 and top[token] == logprob == max(top.values()) <= 0
        assert sum(map(math.exp, top.values())) <= 1 + 1e-6
    chat = server.post(CHAT, {"messages": [{"role": "user", "content": "Hi"}], "temperature": 0,
                              "max_tokens": 4, "logprobs": True, "top_logprobs": 2})
    for token in chat["choices"][0]["logprobs"]["content"]:
        assert token["top_logprobs"][0]["token"] == token["token"]
        assert len(token["top_logprobs"]) == 2 and token["bytes"]
    streamed = server.events(TEXT, body)
    pieces = [e["choices"][0]["logprobs"] for e in streamed if e["choices"][0]["logprobs"]]
    assert [t for p in pieces for t in p["tokens"]] == lists["tokens"]
    assert [t for p in pieces for t in p["text_offset"]] == lists["text_offset"]


def test_echo_scores_the_prompt(server):
    """A text is as likely in pieces as it is whole."""
    body = {"temperature": 0, "echo": True, "logprobs": 1}
    text = "The cat sat on the mat, and " * 8
    whole = server.post(TEXT, {**body, "prompt": text, "max_tokens": 0})["choices"][0]
    assert whole["text"] == text and whole["finish_reason"] == "length"
    values = whole["logprobs"]["token_logprobs"]
    assert values[0] is None and all(v <= 0 for v in values[1:])
    assert whole["logprobs"]["top_logprobs"][0] is None
    # One token more than the prompt is what evaluation harnesses ask for.
    more = server.post(TEXT, {**body, "prompt": text, "max_tokens": 1})["choices"][0]
    assert len(more["logprobs"]["tokens"]) == len(values) + 1
    assert more["logprobs"]["token_logprobs"][1:-1] == pytest.approx(values[1:], abs=1e-3)
    # The probability of the last token of a prompt is that of writing it.
    written = server.post(TEXT, {"prompt": text, "temperature": 0, "max_tokens": 1,
                                 "logprobs": 0})["choices"][0]["logprobs"]
    assert written["token_logprobs"][0] == pytest.approx(
        more["logprobs"]["token_logprobs"][-1], abs=1e-3)
    assert server.post(TEXT, {"prompt": "Hi", "echo": True, "max_tokens": 3,
                              "temperature": 0})["choices"][0]["text"].startswith("Hi")


def join(events):
    """The texts of a stream, by the number of the answer."""
    texts = {}
    for event in events:
        for choice in event["choices"]:
            piece = choice["text"] if "text" in choice else choice["delta"].get("content", "")
            texts[choice["index"]] = texts.get(choice["index"], "") + piece
    return texts


def test_several_answers(server, modules):
    """Each has the seed that follows; the first is the one alone."""
    body = {"prompt": "Hello", "temperature": 1.5, "max_tokens": 20, "seed": 5}
    expected = [generate(modules / "tiny.gist", "Hello", "-n", 20, "--temperature", 1.5,
                         "--seed", 5 + i) for i in range(3)]
    assert len(set(expected)) == 3
    answer = server.post(TEXT, {**body, "n": 3})
    assert [c["text"] for c in answer["choices"]] == expected
    assert [c["index"] for c in answer["choices"]] == [0, 1, 2]
    one = server.post(TEXT, body)["usage"]
    assert answer["usage"]["prompt_tokens"] == one["prompt_tokens"]
    assert answer["usage"]["completion_tokens"] > one["completion_tokens"]
    events = server.events(TEXT, {**body, "n": 3, "stream_options": {"include_usage": True}})
    assert join(events) == dict(enumerate(expected))
    assert events[-1]["usage"] == answer["usage"]
    ends = [c["index"] for e in events for c in e["choices"] if c["finish_reason"]]
    assert sorted(ends) == [0, 1, 2]

    chat = {"messages": [{"role": "user", "content": "Hi"}], "temperature": 1, "seed": 1,
            "max_tokens": 9}
    whole = server.post(CHAT, {**chat, "n": 4})["choices"]
    texts = [c["message"]["content"] for c in whole]
    assert texts[0] == server.post(CHAT, chat)["choices"][0]["message"]["content"]
    assert len(set(texts)) > 1
    events = server.events(CHAT, {**chat, "n": 4})
    assert join(events) == dict(enumerate(texts))
    roles = [c["index"] for e in events for c in e["choices"] if "role" in c["delta"]]
    assert sorted(roles) == [0, 1, 2, 3]
    # Prompts first, then the answers to each.
    several = server.post(TEXT, {**body, "prompt": ["Hello", "a"], "n": 2})["choices"]
    assert [c["text"] for c in several[:2]] == expected[:2]
    assert several[2]["text"] == server.post(TEXT, {**body, "prompt": "a"})["choices"][0]["text"]


def test_best_of(server):
    """The most likely by token, best first; probabilities are those of the API itself."""
    body = {"prompt": "Hello", "temperature": 1.5, "max_tokens": 8, "min_tokens": 8, "seed": 7}
    all_of_them = server.post(TEXT, {**body, "n": 6, "logprobs": 0})

    def mean(choice):
        return sum(choice["logprobs"]["token_logprobs"]) / 8

    expected = [c["text"] for c in sorted(all_of_them["choices"], key=mean, reverse=True)]
    best = server.post(TEXT, {**body, "n": 2, "best_of": 6})
    assert [c["text"] for c in best["choices"]] == expected[:2]
    assert [c["index"] for c in best["choices"]] == [0, 1]
    assert best["choices"][0]["logprobs"] is None
    assert best["usage"] == all_of_them["usage"]


def test_biases_and_penalties(server):
    def write(**fields):
        return server.post(TEXT, {"prompt": "Hello", "temperature": 0, "max_tokens": 12,
                                  "logprobs": 0, **fields})["choices"][0]["logprobs"]["tokens"]

    plain = write()
    # Token ids of the tiny model are bytes. Forbidden tokens do not come, others always.
    assert set(write(logit_bias={str(ord("Z")): 100})) == {"Z"}
    letter = next(token for token in plain if len(token) == 1)
    assert letter not in write(logit_bias={str(ord(letter)): -100})
    # With Z far above the rest, a penalty for each Z brings it down to them.
    assert write(logit_bias={str(ord("Z")): 10}) == ["Z"] * 12
    less = write(logit_bias={str(ord("Z")): 10}, frequency_penalty=2)
    assert less[0] == "Z" and less.count("Z") < 12
    near = write(logit_bias={str(ord("Z")): 3}).count("Z")
    assert write(logit_bias={str(ord("Z")): 3}, presence_penalty=2).count("Z") < near
    assert write(repetition_penalty=5) != plain
    assert write(presence_penalty=0, frequency_penalty=0, logit_bias={}) == plain
    assert server.error(TEXT, {"prompt": "a", "logit_bias": {"100000": 1}})["param"] == \
        "logit_bias"


def test_stop_tokens_and_least_length(server):
    body = {"prompt": "Hello", "temperature": 0, "max_tokens": 12, "logprobs": 0}
    tokens = server.post(TEXT, body)["choices"][0]["logprobs"]["tokens"]
    # Not the first, so that there is a text before it; and a byte by itself.
    stop = next(token for token in tokens[1:] if len(token) == 1 and token != tokens[0])
    number = ord(stop)
    for fields in ({"stop": [number]}, {"stop_token_ids": [number]}, {"stop": ["none", number]}):
        answer = server.post(TEXT, {**body, **fields})
        choice = answer["choices"][0]
        assert choice["logprobs"]["tokens"] == tokens[:tokens.index(stop)]
        assert choice["finish_reason"] == "stop"
        assert answer["usage"]["completion_tokens"] == tokens.index(stop) + 1
    longer = server.post(TEXT, {**body, "stop": [number], "min_tokens": 8})["choices"][0]
    assert len(longer["logprobs"]["tokens"]) >= 8
    assert stop not in longer["logprobs"]["tokens"]
    assert longer["logprobs"]["tokens"][:tokens.index(stop)] == tokens[:tokens.index(stop)]
    assert server.error(TEXT, {**body, "stop": [100000]})["param"] == "stop"


def test_tokens_of_texts(server):
    answer = server.post("/tokenize", {"prompt": "Hé", "return_token_strs": True})
    assert answer["tokens"] == list("Hé".encode())
    assert answer["count"] == 3 and answer["max_model_len"] == 2000
    assert answer["token_strs"] == ["H", "bytes:\\xc3", "bytes:\\xa9"]
    assert server.post("/tokenize", {"content": "ab"})["tokens"] == [97, 98]
    back = server.post("/detokenize", {"tokens": answer["tokens"]})
    assert back == {"prompt": "Hé", "content": "Hé"}
    messages = [{"role": "user", "content": "Hi"}]
    tokens = server.post("/tokenize", {"messages": messages})["tokens"]
    assert server.post(CHAT, {"messages": messages, "max_tokens": 1})["usage"][
        "prompt_tokens"] == len(tokens)
    shorter = server.post("/tokenize", {"messages": messages,
                                        "add_generation_prompt": False})["tokens"]
    assert tokens[:len(shorter)] == shorter and len(shorter) < len(tokens)
    assert server.error("/detokenize", {"tokens": [100000]})["param"] == "tokens"
    assert server.error("/tokenize", {"prompt": "a", "model": "nobody"}, 404)


def test_a_model_that_is_not_compiled_yet(tmp_path):
    """A folder is compiled once, and served under its own name."""
    tools = pathlib.Path(__file__).parent.parent / "tools"
    subprocess.run([sys.executable, tools / "Inputs/with_tokenizer.py", tools.parent / "models/llama",
                    tmp_path / "letters"], check=True)
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    for notes in (1, 0):
        with Server(tmp_path / "letters", env=environment) as server:
            assert sum("compiling" in line for line in server.lines) == notes
            assert server.ask("/v1/models")[2]["data"][0]["id"] == "letters"
            assert server.post(TEXT, {"prompt": "Hi", "max_tokens": 3})["usage"]["completion_tokens"] == 3


def test_ignored_fields_are_listed(server):
    chat = {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 2}
    status, headers, _ = server.ask(CHAT, {**chat, "keep_alive": -1, "reasoning_effort": "low"})
    assert status == 200 and headers["X-Gist-Ignored"] == "keep_alive, reasoning_effort"
    status, headers, _ = server.ask(CHAT, {**chat, "user": "me", "stream": True})
    assert status == 200 and headers["X-Gist-Ignored"] == "user"
    assert "X-Gist-Ignored" not in server.ask(CHAT, chat)[1]


def test_many_prompts(server):
    prompts = ["one", "two", "three"]
    alone = [server.post(TEXT, {"prompt": p, "temperature": 0})["choices"][0]["text"]
             for p in prompts]
    answer = server.post(TEXT, {"prompt": prompts, "temperature": 0})
    assert [c["text"] for c in answer["choices"]] == alone
    assert [c["index"] for c in answer["choices"]] == [0, 1, 2]
    tokens = [[ord(c) for c in p] for p in prompts]
    assert server.post(TEXT, {"prompt": tokens[0], "max_tokens": 1})["usage"]["prompt_tokens"] == 3
    assert len(server.post(TEXT, {"prompt": tokens, "max_tokens": 1})["choices"]) == 3
    assert server.error(TEXT, {"prompt": [100000]})["param"] == "prompt"
    events = server.events(TEXT, {"prompt": prompts, "temperature": 0})
    assert join(events) == dict(enumerate(alone))


def test_embeddings(server, modules):
    texts = ["Hello", "a quick automobile", "ä"]
    answer = server.post(EMBED, {"model": "encoder", "input": texts})
    expected = json.loads(subprocess.run(
        ["gist-run", "embed", modules / "encoder.gist", *texts, "--normalize", "--json"],
        check=True, stdout=subprocess.PIPE).stdout)
    for item, other in zip(answer["data"], expected):
        assert item["embedding"] == pytest.approx(other["embedding"], abs=1e-6)
    encoded = server.post(EMBED, {"model": "encoder", "input": texts[0],
                                  "encoding_format": "base64"})["data"][0]["embedding"]
    data = base64.b64decode(encoded)
    assert struct.unpack(f"<{len(data) // 4}f", data) == pytest.approx(
        expected[0]["embedding"], abs=1e-6)
    size = len(expected[0]["embedding"])
    server.post(EMBED, {"model": "encoder", "input": "a", "dimensions": size})
    assert server.error(EMBED, {"model": "encoder", "input": "a",
                                "dimensions": size + 1})["param"] == "dimensions"
    assert server.error(EMBED, {"model": "encoder", "input": ""})["param"] == "input"
    assert server.error(EMBED, {"model": "encoder", "input": "x" * 500})["code"] == \
        "context_length_exceeded"
    # The tiny decoder embeds too; the encoder does not write.
    assert server.post(EMBED, {"model": "tiny", "input": "a"})["data"]
    assert "does not write" in server.error(TEXT, {"model": "encoder", "prompt": "a"})["message"]
    assert "does not write" in server.error(
        CHAT, {"model": "encoder", "messages": [{"role": "user", "content": "a"}]})["message"]


def test_rerank(server):
    """In the order of the embeddings' cosines, which the other path gives too."""
    query, texts = "a quick car", ["zzz", "a quick automobile", "ä", "a quick car", "zzz"]
    vectors = [item["embedding"] for item in
               server.post(EMBED, {"model": "encoder", "input": [query, *texts]})["data"]]
    scores = [sum(a * b for a, b in zip(vectors[0], vector)) for vector in vectors[1:]]
    order = sorted(range(len(texts)), key=lambda i: (-scores[i], i))
    body = {"model": "encoder", "query": query, "documents": [texts[0], {"text": texts[1]}, *texts[2:]]}
    answer = server.post(RERANK, body)
    assert [item["index"] for item in answer["results"]] == order and order[0] == 3
    assert [item["relevance_score"] for item in answer["results"]] == pytest.approx(
        [scores[i] for i in order], abs=1e-5)
    assert answer["usage"]["total_tokens"] == server.post(
        EMBED, {"model": "encoder", "input": [query, *texts]})["usage"]["total_tokens"]
    best = server.post(RERANK, {**body, "top_n": 2, "return_documents": True})["results"]
    assert [item["document"]["text"] for item in best] == [texts[i] for i in order[:2]]
    assert len(server.post(RERANK, {**body, "top_n": 100})["results"]) == len(texts)
    error = server.error(RERANK, {**body, "documents": ["x" * 500]})
    assert error["code"] == "context_length_exceeded" and error["param"] == "documents"
    assert server.error(RERANK, {**body, "query": "x" * 500})["param"] == "query"


SCHEMA = {"type": "object", "required": ["kind", "size"], "additionalProperties": False,
          "properties": {"kind": {"enum": ["a", "b\n"]}, "size": {"type": "integer", "minimum": 3, "maximum": 40},
                         "tags": {"type": "array", "items": {"type": "string", "maxLength": 2}, "maxItems": 2}}}


@pytest.mark.parametrize("temperature", [0, 0.7, 2])
def test_answers_follow_schemas(server, temperature):
    body = {"messages": [{"role": "user", "content": "Hi"}], "temperature": temperature, "seed": 5,
            "response_format": {"type": "json_schema", "json_schema": {"name": "thing", "schema": SCHEMA}}}
    choice = server.post(CHAT, body)["choices"][0]
    value = json.loads(choice["message"]["content"])
    assert choice["finish_reason"] == "stop"
    assert set(value) <= {"kind", "size", "tags"} and value["kind"] in ("a", "b\n")
    assert type(value["size"]) is int and 3 <= value["size"] <= 40
    assert len(value.get("tags", [])) <= 2 and all(len(tag) <= 2 for tag in value.get("tags", []))
    streamed = "".join(event["choices"][0]["delta"].get("content", "") for event in server.events(CHAT, body))
    assert streamed == choice["message"]["content"]


def test_answers_follow_grammars(server):
    body = {"messages": [{"role": "user", "content": "Hi"}], "temperature": 2}
    for seed in range(5):
        answer = server.post(CHAT, {**body, "seed": seed, "response_format": {
            "type": "grammar", "grammar": 'root ::= ("x" | "yz"){3}'}})
        assert answer["choices"][0]["message"]["content"].replace("yz", "x") == "xxx"
    # Each of several answers follows the grammar by itself.
    several = server.post(CHAT, {**body, "n": 4, "seed": 1, "logit_bias": {"1": 5}, "presence_penalty": 1,
                                 "response_format": {"type": "grammar", "grammar": 'root ::= [a-z]{8} "." [0-9]{3}'}})
    texts = [choice["message"]["content"] for choice in several["choices"]]
    assert len(texts) == 4 and len(set(texts)) > 1
    assert all(re.fullmatch(r"[a-z]{8}\.[0-9]{3}", text) for text in texts)
    # A million pairs of counts: it ends with a sentence, and others go on.
    wide = {"type": "grammar", "grammar": 'root ::= (("a"?){1000}){1000} "b"'}
    assert "too many ways" in server.error(CHAT, {**body, "response_format": wide})["message"]


@pytest.mark.parametrize("temperature", [0, 0.7, 2])
def test_answers_are_json(server, temperature):
    """Whatever the model would rather write; what ends a value is made likely, so that all end."""
    body = {"messages": [{"role": "user", "content": "Hi"}], "temperature": temperature, "max_tokens": 1000, "n": 4,
            "logit_bias": {str(ord(letter)): 6 for letter in '"}]'}, "response_format": {"type": "json_object"}}
    for seed in range(0, 16, 4):
        choices = server.post(CHAT, {**body, "seed": seed})["choices"]
        assert len(choices) == 4
        for choice in choices:
            assert choice["finish_reason"] == "stop"
            assert type(json.loads(choice["message"]["content"])) is dict
        streamed = join(server.events(CHAT, {**body, "seed": seed}))
        assert streamed == {choice["index"]: choice["message"]["content"] for choice in choices}
    cut = server.post(CHAT, {**body, "max_tokens": 1})["choices"][0]
    assert cut["finish_reason"] == "length" and cut["message"]["content"] == "{"


WEATHER = {"type": "function", "function": {"name": "weather", "parameters": {
    "type": "object", "additionalProperties": False, "required": ["city", "days"],
    "properties": {"city": {"enum": ["Paris", "Rome"]},
                   "days": {"type": "integer", "minimum": 1, "maximum": 9}}}}}
TIME = {"type": "function", "function": {"name": "time"}}


@pytest.mark.parametrize("choice, names", [
    ("required", {"weather", "time"}),
    ({"type": "function", "function": {"name": "weather"}}, {"weather"})])
def test_tools_that_are_forced(server, choice, names):
    """Calls have a name and arguments of the schema, whole and streamed."""
    for seed in range(8):
        body = {"messages": [{"role": "user", "content": "Rain?"}], "tools": [WEATHER, TIME],
                "tool_choice": choice, "seed": seed, "temperature": 1.5}
        choice_ = server.post(CHAT, body)["choices"][0]
        assert choice_["finish_reason"] == "tool_calls"
        assert choice_["message"]["content"] is None
        (call,) = choice_["message"]["tool_calls"]
        function = call["function"]
        assert call["type"] == "function" and call["id"].startswith("call_")
        assert function["name"] in names
        arguments = json.loads(function["arguments"])
        if function["name"] == "weather":
            assert arguments["city"] in ("Paris", "Rome") and arguments["days"] in range(1, 10)
            assert len(arguments) == 2
        else:
            assert arguments == {}
        parts = [part["choices"][0] for part in server.events(CHAT, body)]
        (streamed,) = [call for part in parts for call in part["delta"].get("tool_calls", [])]
        assert streamed["index"] == 0 and streamed["function"] == function
        assert not any(part["delta"].get("content") for part in parts)
        assert parts[-1]["finish_reason"] == "tool_calls"


def test_tools_in_a_conversation(server):
    """Tools, calls and results are part of the prompt; text stays text."""
    question = {"role": "user", "content": "Rain?"}
    call = {"id": "c", "type": "function",
            "function": {"name": "weather", "arguments": '{"city": "Rome", "days": 1}'}}
    talk = [question, {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": "No."}]
    body = {"messages": talk, "max_tokens": 5, "temperature": 0}
    without = server.post(CHAT, body)
    answer = server.post(CHAT, {**body, "tools": [WEATHER]})
    assert answer["choices"][0]["message"]["content"]
    assert "tool_calls" not in answer["choices"][0]["message"]
    # The template writes the list and an end on each side.
    tools = json.dumps([WEATHER], ensure_ascii=False)
    assert answer["usage"]["prompt_tokens"] - without["usage"]["prompt_tokens"] == len(tools) + 2
    unused = server.post(CHAT, {**body, "tools": [WEATHER], "tool_choice": "none"})
    assert unused["choices"] == without["choices"]
    shape = {"type": "function", "function": {"name": "f", "parameters": {"not": {}}}}
    error = server.error(CHAT, {**body, "tools": [shape], "tool_choice": "required"})
    assert error["param"] == "tools"


def rebuild(events):
    """The output that the small events of a stream describe; what the large ones repeat must be that."""
    output = []
    for event in events:
        kind = event["type"].removeprefix("response.")
        if kind == "output_item.added":
            assert event["output_index"] == len(output)
            output.append(json.loads(json.dumps(event["item"])))
        elif kind == "content_part.added":
            output[-1]["content"].append(dict(event["part"]))
        elif kind == "output_text.delta":
            output[-1]["content"][event["content_index"]]["text"] += event["delta"]
        elif kind == "function_call_arguments.delta":
            output[-1]["arguments"] += event["delta"]
        elif kind == "output_text.done":
            assert event["text"] == output[-1]["content"][0]["text"]
        elif kind == "output_item.done":
            assert event["item"] == {**output[-1], "status": event["item"]["status"]}
            output[-1] = event["item"]
        if "item_id" in event:
            assert event["item_id"] == output[-1]["id"]
    return output


@pytest.mark.parametrize("tokens", [12, 2000])
def test_responses_are_chats(server, tokens):
    """The answer of a chat in other words, whole and streamed."""
    talk = [{"role": "user", "content": "Why?"}, {"role": "assistant", "content": "So."},
            {"role": "user", "content": "Why?"}]
    common = {"temperature": 0.5, "seed": 3}
    chat = server.post(CHAT, {**common, "max_completion_tokens": tokens,
                              "messages": [{"role": "system", "content": "S"}, *talk]})
    text, reason = chat["choices"][0]["message"]["content"], chat["choices"][0]["finish_reason"]
    items = [talk[0], {"type": "message", "id": "msg_1", "status": "completed", "role": "assistant", "content": [
        {"type": "output_text", "text": "So.", "annotations": []}]},
        {"role": "user", "content": [{"type": "input_text", "text": "Why?"}]}]
    body = {**common, "max_output_tokens": tokens, "instructions": "S", "input": items}
    answer = server.post(RESPOND, body)
    assert answer["object"] == "response" and answer["id"].startswith("resp_")
    (message,) = answer["output"]
    assert message["role"] == "assistant" and message["content"][0]["text"] == text
    ends = {"length": "incomplete", "stop": "completed"}[reason]
    assert answer["status"] == message["status"] == ends
    assert answer["incomplete_details"] == ({"reason": "max_output_tokens"} if reason == "length" else None)
    assert [answer["usage"][name] for name in ("input_tokens", "output_tokens", "total_tokens")] == \
        list(chat["usage"].values())
    assert answer["temperature"] == 0.5 and answer["instructions"] == "S"

    events = server.response_events(body)
    assert [event["type"] for event in events[:2]] == ["response.created", "response.in_progress"]
    assert events[0]["response"]["output"] == [] and events[0]["response"]["status"] == "in_progress"
    last = events[-1]
    assert last["type"] == "response." + ends and last["response"]["usage"] == answer["usage"]
    assert rebuild(events) == last["response"]["output"]
    assert last["response"]["output"][0]["content"] == message["content"]
    assert len([event for event in events if event["type"] == "response.output_text.delta"]) > 1
    plain = server.post(RESPOND, {"input": "Hi", "temperature": 0, "max_output_tokens": 5})
    assert plain["output"][0]["content"][0]["text"] == server.post(CHAT, {
        "messages": [{"role": "user", "content": "Hi"}], "temperature": 0,
        "max_tokens": 5})["choices"][0]["message"]["content"]


def test_responses_with_schemas_and_tools(server):
    schema = {"type": "json_schema", "name": "thing", "schema": SCHEMA, "strict": True}
    body = {"input": "Hi", "seed": 5, "text": {"format": schema}}
    value = json.loads(server.post(RESPOND, body)["output"][0]["content"][0]["text"])
    assert value["kind"] in ("a", "b\n") and 3 <= value["size"] <= 40
    flat = [{"type": "function", **tool["function"]} for tool in (WEATHER, TIME)]
    for choice, names in (("required", {"weather", "time"}),
                          ({"type": "function", "name": "weather"}, {"weather"})):
        for seed in range(4):
            body = {"input": "Rain?", "tools": flat, "tool_choice": choice, "seed": seed}
            answer = server.post(RESPOND, body)
            (call,) = answer["output"]
            assert call["type"] == "function_call" and call["name"] in names and answer["status"] == "completed"
            if call["name"] == "weather":
                assert json.loads(call["arguments"])["city"] in ("Paris", "Rome")
            events = server.response_events(body)
            (streamed,) = rebuild(events)
            assert streamed == events[-1]["response"]["output"][0]
            assert (streamed["name"], streamed["arguments"]) == (call["name"], call["arguments"])
    # What comes back has the prompt of the same chat.
    back = [{"role": "user", "content": "Rain?"},
            {"type": "function_call", "call_id": "c", "name": "weather", "arguments": '{"city": "Rome", "days": 1}'},
            {"type": "function_call_output", "call_id": "c", "output": "No."}]
    talk = [back[0], {"role": "assistant", "tool_calls": [
        {"id": "c", "type": "function", "function": {"name": "weather", "arguments": back[1]["arguments"]}}]},
        {"role": "tool", "tool_call_id": "c", "content": "No."}]
    common = {"temperature": 0}
    chat = server.post(CHAT, {**common, "messages": talk, "tools": [WEATHER], "max_tokens": 5})
    answer = server.post(RESPOND, {**common, "input": back, "tools": flat[:1], "max_output_tokens": 5})
    assert answer["output"][0]["content"][0]["text"] == chat["choices"][0]["message"]["content"]
    assert answer["usage"]["input_tokens"] == chat["usage"]["prompt_tokens"]


@pytest.mark.parametrize("more, param", [
    ({"previous_response_id": "resp_1"}, "previous_response_id"), ({"conversation": "c"}, "conversation"),
    ({"background": True}, "background"), ({"truncation": "auto"}, "truncation"), ({"store": True}, "store"),
    ({"input": None}, "input"), ({"input": 5}, "input"), ({"input": []}, "input"), ({"messages": []}, "messages"),
    ({"input": [{"type": "reasoning"}]}, "input[0]"), ({"input": [5]}, "input[0]"),
    ({"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "x"}]}]}, "input[0].content[0]"),
    ({"instructions": "S", "input": [{"role": "king", "content": "x"}]}, "input[0].role"),
    ({"input": [{"type": "function_call_output", "call_id": "c"}]}, "input[0].content"),
    ({"max_output_tokens": 0}, "max_output_tokens"), ({"max_tokens": 5}, "max_tokens"),
    ({"text": {"format": {"type": "json_schema", "schema": {"not": {}}}}}, "text.format"),
    ({"text": {"format": {"type": "odd"}}}, "text.format.type"), ({"text": 5}, "text"),
    ({"tools": [{"type": "web_search"}]}, "tools[0]"), ({"tools": [5]}, "tools[0]"), ({"tools": 5}, "tools"),
    ({"tools": [{"type": "function", "name": "a b"}]}, "tools[0].name"),
    ({"tool_choice": {"type": "function", "name": "f"}}, "tool_choice"),
    ({"input": "x" * 3000}, "input")])
def test_responses_are_refused_in_their_own_words(server, more, param):
    error = server.error(RESPOND, {"input": "Hi", **more})
    assert error["param"] == param
    for word in ("messages", "response_format", "max_completion_tokens"):
        assert word in more or word not in error["message"]


def test_prefixes_are_computed_once(modules):
    """The second turn of a chat has the answer of a server that knows nothing of the first."""
    path = modules / "rewinds.gist"
    subprocess.run(["gist-make-tiny-module", path, "7", "--rewinds"], check=True)
    talk = [{"role": "user", "content": "Tell me. " * 100}]
    with Server(path, "--context", 2000) as server:
        first = server.post(CHAT, {"messages": talk, "temperature": 0, "max_tokens": 20})
        talk += [first["choices"][0]["message"], {"role": "user", "content": "And then?"}]
        talk[1].pop("refusal")
        body = {"messages": talk, "temperature": 0, "max_tokens": 20}
        second = server.post(CHAT, body)
        server.wait_until_idle()
        assert server.metric("gist_prefix_tokens_total") > 800
        assert server.terminate() == 0
    with Server(path, "--context", 2000) as server:
        assert server.post(CHAT, body)["choices"] == second["choices"]
        assert server.metric("gist_prefix_tokens_total") == 0
        assert server.terminate() == 0


def test_refusals_in_words(server):
    chat = {"messages": [{"role": "user", "content": "Hi"}]}
    for extra in ({"functions": [{"name": "f"}]}, {"web_search_options": {}}):
        error = server.error(CHAT, {**chat, **extra})
        assert error["code"] == "unsupported_parameter" and error["param"] in extra
    assert server.error(CHAT, {**chat, "colour": 1})["code"] == "unknown_parameter"
    assert server.error(CHAT, {**chat, "model": "nobody"}, 404)["code"] == "model_not_found"
    assert "not JSON" in server.error(CHAT, b"{")["message"]
    assert "deep" in server.error(CHAT, b"[" * 100000)["message"]
    assert server.error(CHAT, "{}", 415, headers={"Content-Type": "text/plain"})["code"] == \
        "unsupported_media_type"
    assert server.error(CHAT, "{}", 415, headers={"Content-Encoding": "gzip"})["code"] == \
        "unsupported_media_type"
    assert server.error("/v1/nothing", "{}", 404)["code"] == "not_found"
    status, headers, _ = server.ask("/v1/models", "{}")
    assert status == 405 and headers["Allow"] == "GET"
    assert server.ask(CHAT)[0] == 405
    assert server.ask("/health", method="HEAD")[0] == 200


def test_page_and_description(server):
    status, headers, page = server.ask("/")
    assert status == 200 and headers["Content-Type"].startswith("text/html")
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    # Nothing is loaded from anywhere.
    assert not re.search(rb"https?://|src=|href=|@import|url\(", page)
    assert server.ask("/openapi.json")[2]["openapi"].startswith("3.")


def test_metrics(server):
    before = server.metric("gist_written_tokens_total")
    answer = server.post(TEXT, {"prompt": "Hello", "temperature": 0, "max_tokens": 9})
    server.wait_until_idle()
    assert server.metric("gist_written_tokens_total") - before == \
        answer["usage"]["completion_tokens"]
    assert server.metric("gist_first_token_seconds_count") > 0
    assert server.metric('gist_requests_total{path="/v1/completions",status="200"}') > 0


@pytest.mark.parametrize("draft", ["lookup", "module"])
def test_drafts(modules, draft):
    """The same answers; a sequence that is alone takes fewer steps."""
    path = modules / "rewinds.gist"
    subprocess.run(["gist-make-tiny-module", path, "7", "--rewinds"], check=True)
    bodies = [{"prompt": p, "temperature": 0, "max_tokens": 60, **more}
              for p in ("Hello", "abcabc", "x" * 300)
              for more in ({}, {"logprobs": 2}, {"frequency_penalty": 0.5})]
    bodies.append({"prompt": "Hello", "temperature": 0.5, "seed": 3, "max_tokens": 60, "n": 2})
    with Server(path, "--context", 2000) as server:
        expected = [server.post(TEXT, body)["choices"] for body in bodies]
    with Server(path, "--context", 2000, "--draft", "lookup" if draft == "lookup" else path,
                "--draft-tokens", 4) as server:
        for body, choices in zip(bodies, expected):
            if draft == "lookup" or body["temperature"] == 0:
                assert server.post(TEXT, body)["choices"] == choices
        server.wait_until_idle()
        drafted = server.metric("gist_drafted_tokens_total")
        assert drafted > 0
        if draft == "module":  # It is the model itself, but knows no penalty.
            assert server.metric("gist_accepted_tokens_total") > 0.5 * drafted
        assert server.terminate() == 0


def test_many_clients(server):
    """Answers do not depend on other requests."""
    body = {"temperature": 0, "max_tokens": 40}
    prompts = [f"Client number {i}: " for i in range(24)]
    alone = {p: server.post(TEXT, {**body, "prompt": p})["choices"][0]["text"] for p in prompts}
    found = {}

    def ask(prompt):
        events = server.events(TEXT, {**body, "prompt": prompt})
        found[prompt] = "".join(e["choices"][0]["text"] for e in events)

    threads = [threading.Thread(target=ask, args=[p]) for p in prompts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == alone
