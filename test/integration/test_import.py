# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imported graphs of the tiny models, executed, against `transformers`.

    GIST_IMPORT_TEST=build/dev/bin/gist-import-test \
    GIST_OPT=build/dev/bin/gist-opt python3 -m pytest test/integration/test_import.py

What `transformers` computes lies beside each model (test/models/make_models.py),
so that NumPy is enough here; test_import_formats.py asks it anew.
"""

import json

import numpy as np
import pytest

from import_graph import MODELS, Graph, check, sentence_embedding

DECODERS = ["llama", "llama3", "gpt2", "gptj", "mistral", "opt", "opt-post", "qwen2",
            "qwen2-window", "gemma3", "qwen3", "phi3", "gpt-neox", "olmo2",
            "mixtral", "qwen2-moe", "qwen3-moe"]


def reference(name):
    file = MODELS / name
    file = file.with_suffix(".npz") if file.is_file() else file / "reference.npz"
    data = np.load(file)
    return data["ids"], data["result"]


@pytest.mark.parametrize("name", DECODERS + ["llama-q4_1.gguf", "qwen2-q4_0.gguf",
                                             "gemma3-q5_0.gguf", "mixtral-q4_1.gguf"])
def test_decoder(name, tmp_path):
    """In one call, and in pieces with the cache carried over."""
    graph = Graph(MODELS / name, tmp_path, "--every-token")
    ids, expected = reference(name)
    check(graph(ids), expected)
    caches, past = graph.empty_caches(), 0
    for count in [11, 1, 1, 6]:
        logits, *caches = graph.step(ids[past:past + count], past, *caches)
        check(logits, expected[past:past + count])
        past += count


def test_logits_of_the_last_token(tmp_path):
    ids, expected = reference("llama")
    check(Graph(MODELS / "llama", tmp_path)(ids), expected[-1:])


def test_expanded_weights(tmp_path):
    plain = Graph(MODELS / "llama-q4_1.gguf", tmp_path, "--every-token")
    expanded = Graph(MODELS / "llama-q4_1.gguf", tmp_path, "--every-token",
                     "--expand-weights")
    assert {w.dtype.name for w in plain.weights} == {"int8", "float32"}
    assert {w.dtype.name for w in expanded.weights} == {"float32"}
    ids, expected = reference("llama-q4_1.gguf")
    check(expanded(ids), expected)


@pytest.mark.parametrize("name", ["llama", "gptj"])
def test_half_cache(name, tmp_path):
    graph = Graph(MODELS / name, tmp_path, "--every-token", "--half-cache")
    ids, expected = reference(name)
    found = graph(ids)
    check(found, expected, tolerance=3e-2)
    assert np.abs(found - expected).max() > 1e-4, "nothing was rounded"


@pytest.mark.parametrize("name", ["llama", "gptj"])
def test_int8_cache(name, tmp_path):
    """What one call reads is what later calls read: pieces give the same numbers."""
    graph = Graph(MODELS / name, tmp_path, "--every-token", "--int8-cache")
    ids, expected = reference(name)
    found = graph(ids)
    check(found, expected, tolerance=0.3)
    assert np.abs(found - expected).max() > 1e-4, "nothing was rounded"
    caches, past = graph.empty_caches(), 0
    for count in (3, 1, len(ids) - 4):
        logits, *caches = graph.step(ids[past:past + count], past, *caches)
        check(logits, found[past:past + count])
        past += count


def edit_folder(source, folder, edit_tensor, edit_config=lambda config: None):
    """A copy of a model whose tensors are f32, changed by name in place."""
    folder.mkdir()
    config = json.loads((source / "config.json").read_text())
    edit_config(config)
    (folder / "config.json").write_text(json.dumps(config))
    content = bytearray((source / "model.safetensors").read_bytes())
    size = int.from_bytes(content[:8], "little")
    for name, tensor in json.loads(content[8:8 + size]).items():
        if name != "__metadata__":
            first, last = (8 + size + at for at in tensor["data_offsets"])
            numbers = np.frombuffer(bytes(content[first:last]), np.float32).copy()
            content[first:last] = edit_tensor(name, numbers).tobytes()
    (folder / "model.safetensors").write_bytes(content)
    return folder


@pytest.mark.parametrize("name, used", [("mixtral", 2), ("qwen2-moe", 3)])
def test_equal_experts(name, used, tmp_path):
    """Where a router likes all experts alike the first ones are taken, and what the others
    hold does not matter."""
    def edit(lost):
        def tensor(name, numbers):
            if name.endswith(("mlp.gate.weight", "moe.gate.weight")):
                numbers[:] = 0
            parts = name.split("experts.")
            if len(parts) == 2 and int(parts[1].split(".")[0]) >= used:
                numbers[:] = lost
            return numbers
        return tensor

    ids, _ = reference(name)
    found = [Graph(edit_folder(MODELS / name, tmp_path / str(lost), edit(lost)), tmp_path, "--every-token")(ids)
             for lost in (np.nan, 7)]
    assert np.isfinite(found[0]).all()
    np.testing.assert_array_equal(*found)


def test_router_without_numbers(tmp_path):
    """Every token still has valid experts; its result is NaN."""
    def tensor(name, numbers):
        return numbers * np.nan if name.endswith("moe.gate.weight") else numbers

    folder = edit_folder(MODELS / "mixtral", tmp_path / "model", tensor)
    assert np.isnan(Graph(folder, tmp_path)(reference("mixtral")[0])).all()


def test_scale_of_scores(tmp_path):
    """A quarter of the divisor doubles the scale, which half the norm of queries takes
    back: in a folder norms are stored less one."""
    def config(values):
        values["query_pre_attn_scalar"] //= 4

    def tensor(name, numbers):
        is_norm = name.endswith("q_norm.weight")
        return ((1 + numbers) / 2 - 1).astype(np.float32) if is_norm else numbers

    folder = edit_folder(MODELS / "gemma3", tmp_path / "gemma3", tensor, config)
    ids, expected = reference("gemma3")
    check(Graph(folder, tmp_path, "--every-token")(ids), expected)


def test_shorter_context(tmp_path):
    ids, expected = reference("llama")
    graph = Graph(MODELS / "llama", tmp_path, "--every-token", "--context=19")
    assert graph.cache_shape[1] == 19
    check(graph(ids), expected)


def test_bert(tmp_path):
    ids, expected = reference("bert")
    check(Graph(MODELS / "bert", tmp_path)(ids), expected)


@pytest.mark.parametrize("key", ["", "masked_"])
def test_esm(key, tmp_path):
    """With masked tokens the rest is scaled by how many there are."""
    data = np.load(MODELS / "esm/reference.npz")
    expected = data["masked"] if key else data["result"]
    check(Graph(MODELS / "esm", tmp_path)(data[key + "ids"]), expected)


def test_sentence_embedding(tmp_path):
    """A folder of sentence-transformers says how to pool."""
    folder = tmp_path / "sentence"
    (folder / "1_Pooling").mkdir(parents=True)
    for file in (MODELS / "bert").iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    (folder / "modules.json").write_text(
        '[{"type": "sentence_transformers.models.Transformer"},'
        ' {"type": "sentence_transformers.models.Pooling"},'
        ' {"type": "sentence_transformers.models.Normalize"}]')
    (folder / "1_Pooling/config.json").write_text('{"pooling_mode_mean_tokens": true}')
    ids, hidden = reference("bert")
    found = Graph(folder, tmp_path)(ids)
    check(found, sentence_embedding(hidden), tolerance=1e-5)
    assert abs(np.linalg.norm(found) - 1) < 1e-5
