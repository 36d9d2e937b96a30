# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gist-serve with independent clients.

    PATH=build/dev/bin:$PATH build/python-serving/bin/python3 -m pytest test/serving/test_clients.py

Needs test/requirements-serving.txt; instructor, which wants older packages beside it,
needs test/requirements-serving-instructor.txt.
"""

import csv
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import typing

import pytest
from server import Server, compile_llama

openai = pytest.importorskip("openai")
pydantic = pytest.importorskip("pydantic")  # The package needs it.


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("modules")
    subprocess.run(["gist-make-tiny-module", folder / "tiny.gist"], check=True)
    subprocess.run(["gist-make-tiny-module", folder / "encoder.gist", "7", "--encoder"],
                   check=True)
    return folder


@pytest.fixture(scope="module")
def server(folder):
    with Server(folder / "tiny.gist", folder / "encoder.gist", "--context", 2000,
                "--api-key", "secret") as server:
        yield server
        server.wait_for(lambda: server.threads() < 12)
        assert server.terminate() == 0


@pytest.fixture
def client(server):
    return openai.OpenAI(base_url=server.url + "/v1", api_key="secret", max_retries=0)


MESSAGES = [{"role": "system", "content": "S"}, {"role": "user", "content": "Why?"}]


def test_openai_chat(client, folder):
    expected = subprocess.run(
        ["gist-run", "generate", folder / "tiny.gist", "--chat", "--system", "S", "-p", "Why?",
         "-n", "12", "--context", "2000"], check=True, stdout=subprocess.PIPE).stdout.decode()[:-1]
    answer = client.chat.completions.create(model="tiny", messages=MESSAGES, temperature=0,
                                            max_completion_tokens=12, logprobs=True,
                                            top_logprobs=2)
    assert answer.choices[0].message.content == expected
    assert answer.usage.total_tokens == \
        answer.usage.prompt_tokens + answer.usage.completion_tokens
    assert all(len(t.top_logprobs) == 2 for t in answer.choices[0].logprobs.content)
    pieces = list(client.chat.completions.create(
        model="tiny", messages=MESSAGES, temperature=0, max_completion_tokens=12, stream=True,
        stream_options={"include_usage": True}))
    assert "".join(p.choices[0].delta.content or "" for p in pieces[:-1]) == expected
    assert pieces[-1].usage == answer.usage


def test_openai_sampling_fields(client):
    answer = client.chat.completions.create(
        model="tiny", messages=MESSAGES, n=3, max_tokens=6, seed=1, presence_penalty=0.5,
        frequency_penalty=0.5, logit_bias={"90": 5}, extra_body={"min_tokens": 2})
    assert [c.index for c in answer.choices] == [0, 1, 2]
    pieces = client.chat.completions.create(model="tiny", messages=MESSAGES, n=3, max_tokens=6,
                                            stream=True)
    assert {c.index for p in pieces for c in p.choices} == {0, 1, 2}
    best = client.completions.create(model="tiny", prompt="a", n=2, best_of=4, max_tokens=5)
    assert len(best.choices) == 2


def test_openai_completions_and_models(client):
    answer = client.completions.create(model="tiny", prompt=["a", "b"], temperature=0,
                                       max_tokens=0, echo=True, logprobs=1)
    assert [c.text for c in answer.choices] == ["a", "b"]
    assert [m.id for m in client.models.list()] == ["tiny", "encoder"]
    assert client.models.retrieve("tiny").id == "tiny"


def test_openai_embeddings(client):
    """The package asks for base64 by itself."""
    answer = client.embeddings.create(model="encoder", input=["a", "b"])
    plain = client.embeddings.create(model="encoder", input=["a", "b"], encoding_format="float")
    for one, other in zip(answer.data, plain.data):
        assert one.embedding == pytest.approx(other.embedding, abs=1e-6)
        assert sum(x * x for x in one.embedding) == pytest.approx(1, abs=1e-5)


class City(pydantic.BaseModel):
    name: typing.Literal["Paris", "Rome"]
    days: int = pydantic.Field(ge=1, le=9)
    sights: list[typing.Literal["tower", "ruins"]] = pydantic.Field(max_length=2)


class Trip(pydantic.BaseModel):
    first: City
    then: City | None


def test_openai_schemas(client):
    """The package makes the schema of a class, and an object of the class of the answer."""
    for seed in range(4):
        answer = client.chat.completions.parse(model="tiny", messages=MESSAGES, response_format=Trip, seed=seed, n=3)
        assert len(answer.choices) == 3
        for choice in answer.choices:
            assert isinstance(choice.message.parsed, Trip)
        answer = client.responses.parse(model="tiny", input=MESSAGES, text_format=Trip)
        assert isinstance(answer.output_parsed, Trip)


def test_openai_tools(client):
    tool = openai.pydantic_function_tool(City, name="visit")
    common = {"model": "tiny", "messages": MESSAGES, "tools": [tool], "tool_choice": "required", "seed": 4}
    (call,) = client.chat.completions.create(**common).choices[0].message.tool_calls
    (parsed,) = client.chat.completions.parse(**common).choices[0].message.tool_calls
    assert parsed.function.parsed_arguments == City.model_validate_json(call.function.arguments)
    with client.chat.completions.stream(**common) as stream:
        kinds = {event.type for event in stream}
        (streamed,) = stream.get_final_completion().choices[0].message.tool_calls
    assert "tool_calls.function.arguments.done" in kinds
    assert streamed.function.arguments == call.function.arguments and streamed.function.name == "visit"
    # A conversation goes on with the call and its result.
    talk = [*MESSAGES, {"role": "assistant", "tool_calls": [call.model_dump()]},
            {"role": "tool", "tool_call_id": call.id, "content": "Closed."}]
    assert client.chat.completions.create(model="tiny", messages=talk, tools=[tool], max_tokens=4).choices


@pytest.mark.parametrize("mode", ["TOOLS", "JSON_SCHEMA"])
def test_instructor(client, mode):
    """It asks in one of several ways, and again where an answer is no object of the class."""
    instructor = pytest.importorskip("instructor")
    patched = instructor.from_openai(client, mode=getattr(instructor.Mode, mode))
    trip = patched.chat.completions.create(model="tiny", messages=MESSAGES, response_model=Trip, seed=3, max_retries=0)
    assert isinstance(trip, Trip) and isinstance(trip.first, City)


def test_openai_responses(client):
    chat = client.chat.completions.create(model="tiny", messages=MESSAGES, temperature=0, max_tokens=12)
    common = {"model": "tiny", "input": "Why?", "instructions": "S", "temperature": 0, "max_output_tokens": 12}
    answer = client.responses.create(**common)
    assert answer.output_text == chat.choices[0].message.content
    assert answer.usage.total_tokens == chat.usage.total_tokens
    events = list(client.responses.create(**common, stream=True))
    assert events[0].type == "response.created"
    assert events[-1].response.output_text == answer.output_text
    # Its own helper puts pieces together, and wants an answer that ends by itself.
    with client.responses.stream(model="tiny", input="Why?", text_format=Trip) as stream:
        text = "".join(event.delta for event in stream if event.type == "response.output_text.delta")
        final = stream.get_final_response()
    assert final.output_parsed == Trip.model_validate_json(text)
    tool = {"type": "function", "name": "visit", "parameters": City.model_json_schema(), "strict": False}
    call = client.responses.create(model="tiny", input="Why?", tools=[tool], tool_choice="required").output[0]
    assert City.model_validate_json(call.arguments) and call.name == "visit"
    back = [{"role": "user", "content": "Why?"}, call.model_dump(exclude_none=True),
            {"type": "function_call_output", "call_id": call.call_id, "output": "Closed."}]
    assert client.responses.create(model="tiny", input=back, tools=[tool], max_output_tokens=4).output
    with pytest.raises(openai.BadRequestError, match="keeps no answers"):
        client.responses.create(model="tiny", input="Hi", previous_response_id="resp_1")


def test_openai_errors(client, server):
    with pytest.raises(openai.BadRequestError, match="'not' is not a keyword"):
        client.chat.completions.create(model="tiny", messages=MESSAGES, response_format={
            "type": "json_schema", "json_schema": {"name": "x", "schema": {"not": {}}}})
    with pytest.raises(openai.NotFoundError, match="no model 'nobody'"):
        client.chat.completions.create(model="nobody", messages=MESSAGES)
    with pytest.raises(openai.AuthenticationError, match="API key"):
        openai.OpenAI(base_url=server.url + "/v1", api_key="wrong").models.list()


def test_schemathesis(folder, tmp_path):
    """Requests made of our own description, right and wrong ones."""
    pytest.importorskip("schemathesis")
    with Server(folder / "tiny.gist", folder / "encoder.gist", "--context", 300,
                "--request-timeout", 20) as server:
        # Two workers end now and then in a fault of Python 3.11 itself (recursion depth mismatch).
        result = subprocess.run(
            [pathlib.Path(sys.executable).with_name("st"), "run", server.url + "/openapi.json",
             "--max-examples", "60", "--generation-deterministic", "--workers", "1", "--checks",
             "not_a_server_error,status_code_conformance,content_type_conformance,"
             "response_schema_conformance"], cwd=tmp_path,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=900)
        print(result.stdout[-5000:])
        assert result.returncode == 0
        assert server.ask("/health")[0] == 200


def test_locust(folder, tmp_path):
    """10,000 requests under load: no failure, and nothing is kept."""
    # Not imported: it changes sockets for the whole process.
    if not importlib.util.find_spec("locust"):
        pytest.skip("locust is not installed")
    with Server(folder / "tiny.gist", folder / "encoder.gist", "--context", 300,
                "--queue", 1000) as server:
        def load(requests):
            prefix = tmp_path / f"load-{requests}"
            subprocess.run(
                [pathlib.Path(sys.executable).with_name("locust"), "--headless", "-f",
                 pathlib.Path(__file__).with_name("locustfile.py"), "-H", server.url, "-u", "32",
                 "-r", "32", "--iterations", str(requests), "--csv", prefix, "--only-summary"],
                check=True, timeout=1500)
            with open(f"{prefix}_stats.csv") as file:
                total = [row for row in csv.DictReader(file) if row["Name"] == "Aggregated"][0]
            assert int(total["Failure Count"]) == 0
            return int(total["Request Count"])

        load(1000)
        server.wait_until_idle()
        before, files = server.resident(), server.files()
        assert load(10000) >= 10000
        server.wait_until_idle()
        server.wait_for(lambda: server.files() <= files)
        assert server.resident() - before < 24 << 20


def test_lm_eval(folder, tmp_path):
    """lm-eval's local-completions on a task of ours; what it finds is what the
    probabilities that gist-run gives say."""
    pytest.importorskip("lm_eval")
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast
    module = compile_llama(tmp_path, "--kv-type=f32", "--compute=f32")
    # A token for each character, as numbers below the model's 101.
    letters = {chr(code): code - 32 + 3 for code in range(32, 127)}
    plain = Tokenizer(models.WordLevel({"<unk>": 0, "<s>": 1, "</s>": 2, **letters}, "<unk>"))
    plain.pre_tokenizer = pre_tokenizers.Split(Regex("."), "isolated")
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=plain, unk_token="<unk>",
                                        bos_token="<s>", eos_token="</s>")
    tokenizer.save_pretrained(tmp_path / "tokenizer")
    items = [{"question": f"{a} and {b}", "choices": [" one", " two", " three"],
              "answer": (a + b) % 3} for a in range(4) for b in range(5)]
    (tmp_path / "items.jsonl").write_text("".join(json.dumps(i) + "\n" for i in items))
    (tmp_path / "task.yaml").write_text(
        f"task: gist_numbers\ndataset_path: json\ndataset_kwargs:\n  data_files:\n"
        f"    test: {tmp_path}/items.jsonl\ntest_split: test\noutput_type: multiple_choice\n"
        "doc_to_text: question\ndoc_to_choice: choices\ndoc_to_target: answer\n"
        'target_delimiter: ""\nmetric_list:\n  - metric: acc\n')
    with Server(f"llama={module}") as server:
        subprocess.run(
            [pathlib.Path(sys.executable).with_name("lm_eval"), "--model", "local-completions",
             "--tasks", "gist_numbers", "--include_path", tmp_path, "--output_path",
             tmp_path / "out", "--log_samples", "--model_args",
             f"model=llama,base_url={server.url}/v1/completions,tokenizer={tmp_path}/tokenizer,"
             "tokenizer_backend=huggingface,num_concurrent=4,max_retries=1"],
            check=True, timeout=900,
            env={**os.environ, "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"})
        found = [json.loads(line) for path in (tmp_path / "out").rglob("samples_*.jsonl")
                 for line in path.read_text().splitlines()]
        assert len(found) == len(items)

        import numpy as np
        for sample in found[:6]:
            item = items[sample["doc_id"]]
            for choice, answer in zip(item["choices"], sample["filtered_resps"]):
                question = tokenizer.encode(item["question"], add_special_tokens=False)
                whole = tokenizer.encode(item["question"] + choice, add_special_tokens=False)
                logits = np.frombuffer(subprocess.run(
                    ["gist-session-test", module, "score", str(len(whole))],
                    input=np.array(whole, np.int32).tobytes(), stdout=subprocess.PIPE,
                    check=True).stdout, np.float32).reshape(len(whole), -1).astype(np.float64)
                logits -= np.log(np.exp(logits).sum(axis=1, keepdims=True))
                expected = sum(logits[i - 1, whole[i]] for i in range(len(question), len(whole)))
                assert float(answer[0]) == pytest.approx(expected, abs=1e-3)
