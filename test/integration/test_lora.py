# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Adapters that import merges, against NumPy: the weights, and what the model computes.

    GIST_IMPORT_TEST=build/dev/bin/gist-import-test \
    GIST_OPT=build/dev/bin/gist-opt python3 -m pytest test/integration/test_lora.py
"""

import math
import random
import shutil
import subprocess

import numpy as np
import pytest

from import_graph import MODELS, Graph, check, harness, read_safetensors
from lora import change, matrices, write_adapter, write_safetensors
from reference import models
from reference.attention import attention

LLAMA = {"layers": 2, "heads": 4, "kv_heads": 2, "epsilon": 1e-6, "theta": 5000.0}
IDS = [3, 99, 17, 5, 64, 2, 2, 40]
SHAPES = {"self_attn.q_proj": (32, 32), "self_attn.k_proj": (16, 32), "self_attn.v_proj": (16, 32),
          "self_attn.o_proj": (32, 32), "mlp.gate_proj": (96, 32), "mlp.up_proj": (96, 32),
          "mlp.down_proj": (32, 96)}
LAYERS = {f"model.layers.{n}.{name}": shape for n in range(2) for name, shape in SHAPES.items()}


def logits(tensors):
    """Of IDS, in float64, by weights with the names of a folder."""
    return models.llama(models.llama_weights(tensors), IDS,
                        lambda layer, q, k, v, *_: attention(q, k, v), **LLAMA)


def stored(path, folder, *options):
    """The weights that import makes."""
    tool = harness.tool("gist-import-test", "GIST_IMPORT_TEST")
    harness.run([tool, path, f"--weights={folder / 'stored.safetensors'}", *options])
    return read_safetensors(folder / "stored.safetensors")


@pytest.mark.parametrize("layers, config, scale, factor", [
    (LAYERS, {}, 1, 6 / 4),
    (LAYERS, {"use_rslora": True}, 1, 6 / math.sqrt(4)),
    # Some layers only, more or less of it, and ranks that differ.
    ({name: LAYERS[name] for name in list(LAYERS)[3:8]}, {"lora_alpha": 3}, -0.5, -0.5 * 3 / 4),
    (LAYERS, {"r": 8, "rank_pattern": {"proj": 4}}, 2, 2 * 6 / 4)])
def test_folder(layers, config, scale, factor, tmp_path):
    tensors = matrices(layers)
    adapter = write_adapter(tmp_path / "adapter", tensors, **config)
    weights = read_safetensors(MODELS / "llama/model.safetensors")
    before = logits(weights)
    for layer in layers:
        weights[layer + ".weight"] = weights[layer + ".weight"] + change(tensors, layer, factor)
    options = [f"--lora={adapter}", f"--lora-scale={scale}"]
    found = stored(MODELS / "llama", tmp_path, *options)
    for name, expected in weights.items():
        np.testing.assert_allclose(found[name], expected, rtol=0, atol=1e-6)
    expected = logits(weights)
    assert np.abs(before - expected).max() > 0.1, "the adapter changes nothing"
    check(Graph(MODELS / "llama", tmp_path, "--every-token", *options)(IDS), expected)


def in_folder_order(rows, heads):
    """Of a head's rows 0, half, 1, half + 1, ... to 0, 1, 2, ..."""
    pairs = rows.reshape(heads, -1, 2, rows.shape[1])
    return pairs.swapaxes(1, 2).reshape(rows.shape)


def test_quantised_gguf(tmp_path):
    """Query and key rows have another order there; what the adapter changes is kept in f16."""
    path = MODELS / "llama-q4_1.gguf"
    plain = stored(path, tmp_path, "--expand-weights")
    names = {"self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "mlp.down_proj": "ffn_down"}
    layers = {name: shape for name, shape in LAYERS.items() if name.split(".", 3)[3] in names}
    tensors = matrices(layers)
    options = [f"--lora={write_adapter(tmp_path / 'adapter', tensors)}"]
    kept = stored(path, tmp_path, *options)
    changed = {f"blk.{n}.{name}.weight" for n in range(2) for name in names.values()}
    assert {name for name, values in kept.items() if values.dtype == np.float16} == changed
    assert kept["blk.0.attn_v.weight"].dtype == np.int8
    weights = {}
    for name, values in plain.items():
        if name.endswith(("attn_q.weight", "attn_k.weight")):
            values = in_folder_order(values, 4 if "attn_q" in name else 2)
        if not name.startswith("rotary"):
            weights[name] = values
    for layer in layers:
        _, _, number, module = layer.split(".", 3)
        name = f"blk.{number}.{names[module]}.weight"
        weights[name] = weights[name] + change(tensors, layer, 6 / 4)
    # Eleven bits of weights of about one.
    check(Graph(path, tmp_path, "--every-token", *options)(IDS), logits(weights), tolerance=2e-2)
    check(Graph(path, tmp_path, "--every-token", "--expand-weights", *options)(IDS), logits(weights))


def test_transposed_layers(tmp_path):
    """GPT-2 has inputs x outputs, and the adapter's A and B are as ever."""
    layers = {"transformer.h.0.attn.c_attn": (96, 32), "transformer.h.1.mlp.c_proj": (32, 128)}
    weights = read_safetensors(MODELS / "gpt2/model.safetensors")
    layers = {name: weights[name + ".weight"].shape[::-1] for name in layers}
    tensors = matrices(layers, dtype=np.float16)
    adapter = write_adapter(tmp_path / "adapter", tensors, fan_in_fan_out=True)
    found = stored(MODELS / "gpt2", tmp_path, f"--lora={adapter}")
    for layer in layers:
        expected = weights[layer + ".weight"].T + change(tensors, layer, 6 / 4)
        np.testing.assert_allclose(found[layer + ".weight"], expected, rtol=0, atol=1e-6)


def test_bf16_stays(tmp_path):
    shutil.copytree(MODELS / "llama", tmp_path / "llama")
    cut = {name: (values.view(np.uint32) >> 16).astype(np.uint16) for name, values in
           read_safetensors(MODELS / "llama/model.safetensors").items()}
    write_safetensors(tmp_path / "llama/model.safetensors", cut)
    layer = "model.layers.1.mlp.up_proj"
    tensors = matrices({layer: LAYERS[layer]})
    found = stored(tmp_path / "llama", tmp_path, f"--lora={write_adapter(tmp_path / 'adapter', tensors)}")
    values = found[layer + ".weight"]
    assert values.dtype == np.uint16
    numbers = lambda bits: (bits.astype(np.uint32) << 16).view(np.float32)
    expected = numbers(cut[layer + ".weight"]) + change(tensors, layer, 6 / 4)
    np.testing.assert_allclose(numbers(values), expected, rtol=2**-8, atol=1e-6)


def two_adapters(folder, layers=LAYERS):
    """Of different ranks, sizes and layers: what each adds to the weights, and the folders."""
    some = {name: layers[name] for name in list(layers)[1:5]}
    tensors = [matrices(some, rank=3, seed=5), matrices(layers, rank=5, seed=6)]
    folders = [write_adapter(folder / "few", tensors[0], r=3, lora_alpha=9),
               write_adapter(folder / "all", tensors[1], r=5, use_rslora=True)]
    changes = [{name: change(tensors[0], name, 3) for name in some},
               {name: change(tensors[1], name, 6 / math.sqrt(5)) for name in layers}]
    return changes, folders


def chosen(ids, number):
    """The ids of tokens that have this adapter."""
    return [token | number << 24 for token in ids]


def test_chosen_by_tokens(tmp_path):
    changes, folders = two_adapters(tmp_path)
    plain = read_safetensors(MODELS / "llama/model.safetensors")
    graph = Graph(MODELS / "llama", tmp_path, "--every-token", *(f"--adapter={f}" for f in folders))
    expected = []
    for changed in [{}, *changes]:
        weights = dict(plain)
        for name, values in changed.items():
            weights[name + ".weight"] = weights[name + ".weight"] + values
        expected.append(logits(weights))
        check(graph(chosen(IDS, len(expected) - 1)), expected[-1])
    assert min(np.abs(a - b).max() for a, b in zip(expected, [*expected[1:], expected[0]])) > 0.1
    # The rows of a call differ: what comes later does not reach what came before.
    mixed = graph(chosen(IDS[:3], 1) + chosen(IDS[3:], 2))
    np.testing.assert_allclose(mixed[:3], expected[1][:3], rtol=0, atol=1e-4)
    assert np.abs(mixed[3:] - expected[2][3:]).max() > 1e-3


def test_chosen_of_quantised_gguf(tmp_path):
    """Weights stay as they are; rows of B have the order of the file."""
    path = MODELS / "llama-q4_1.gguf"
    names = {"self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "mlp.down_proj": "ffn_down"}
    layers = {name: shape for name, shape in LAYERS.items() if name.split(".", 3)[3] in names}
    tensors = matrices(layers)
    folder = write_adapter(tmp_path / "adapter", tensors)
    kept = stored(path, tmp_path, f"--adapter={folder}")
    assert kept["blk.0.attn_q.weight"].dtype == np.int8
    assert kept["blk.1.attn_q.adapters_a"].dtype == np.float16
    merged = Graph(path, tmp_path, "--every-token", "--expand-weights", f"--lora={folder}")(IDS)
    graph = Graph(path, tmp_path, "--every-token", "--expand-weights", f"--adapter={folder}")
    check(graph(chosen(IDS, 1)), merged)
    plain = Graph(path, tmp_path, "--every-token", "--expand-weights")(IDS)
    check(graph(IDS), plain)
    assert np.abs(plain - merged).max() > 0.1


def refusal(folder, model="llama", option="lora"):
    """The sentence, or none."""
    tool = harness.tool("gist-import-test", "GIST_IMPORT_TEST")
    done = subprocess.run([tool, MODELS / model, "--info", f"--{option}={folder}"], capture_output=True,
                          text=True, timeout=60)
    if done.returncode == 0:
        return None
    assert done.returncode == 1 and done.stdout == "", done.stderr
    assert done.stderr.startswith("gist-import-test: error: ") and done.stderr.count("\n") == 1, done.stderr
    return done.stderr


Q = "base_model.model.model.layers.0.self_attn.q_proj.lora_"


@pytest.mark.parametrize("config, edit, words", [
    ({"peft_type": "IA3"}, {}, "expected 'LORA'"), ({"use_dora": True}, {}, "'use_dora' is true"),
    ({"bias": "all"}, {}, "'bias' is 'all'"), ({"modules_to_save": ["lm_head"]}, {}, "'modules_to_save'"),
    ({"alpha_pattern": {"q": 3}}, {}, "'alpha_pattern'"), ({"init_lora_weights": "pissa"}, {}, "plain LoRA"),
    ({"lora_alpha": "x"}, {}, "lora_alpha"), ({"r": 8}, {}, "with 8 for the rank"),
    ({}, {Q + "A.weight": (4, 33)}, "the adapter's layer is 32x33; the model's is 32x32"),
    ({}, {Q + "B.weight": (31, 4)}, "the adapter's layer is 31x32; the model's is 32x32"),
    ({}, {Q + "A.weight": (5, 32)}, "A of 5x32 and B of 32x4"), ({}, {Q + "A.weight": (128,)}, "A of 128 and"),
    ({}, {Q + "A.weight": None}, "has no A"), ({}, {Q + "magnitude": (3,)}, "is not an A or B"),
    ({}, {"base_model.model.model.layers.7.mlp.up_proj.lora_A.weight": (4, 32),
          "base_model.model.model.layers.7.mlp.up_proj.lora_B.weight": (96, 4)},
     "the model has no linear layer 'model.layers.7.mlp.up_proj'"),
    ({}, {"base_model.model.lm_head.lora_A.weight": (4, 32), "base_model.model.lm_head.lora_B.weight": (101, 4)},
     "the model has no linear layer 'lm_head'"),
    ({}, {Q + "B.weight": np.full((32, 4), np.nan, np.float32)}, "numbers that F32 cannot hold"),
    ({}, {Q + "B.weight": np.zeros((32, 4), np.int32)}, "is not an A or B"),
    ({}, {Q + "B.weight": np.zeros((32, 4), np.uint8)}, "is not an A or B")])
def test_refusals(config, edit, words, tmp_path):
    tensors = matrices({"model.layers.0.self_attn.q_proj": (32, 32)})
    for name, value in edit.items():
        if value is None:
            del tensors[name]
        else:
            tensors[name] = np.ones(value, np.float32) if isinstance(value, tuple) else value
    adapter = write_adapter(tmp_path / "adapter", tensors, **config)
    for option in ("lora", "adapter"):
        sentence = refusal(adapter, option=option)
        assert sentence and words in sentence, sentence


def test_half_of_a_folder(tmp_path):
    adapter = write_adapter(tmp_path / "adapter", matrices(LAYERS))
    assert refusal(adapter) is None
    assert "no linear layer" in refusal(adapter, "gpt2")
    assert "the model's is" in refusal(adapter, "qwen2")
    (adapter / "adapter_model.safetensors").unlink()
    assert "adapter_model.safetensors: cannot open" in refusal(adapter)
    (adapter / "adapter_config.json").write_text("[]")
    assert "expected a JSON object" in refusal(adapter)
    assert "adapter_config.json: cannot open" in refusal(tmp_path / "nothing")


def test_damaged(tmp_path):
    adapter = write_adapter(tmp_path / "adapter", matrices(LAYERS))
    rng, count = random.Random(2), 0
    for name in ("adapter_config.json", "adapter_model.safetensors"):
        original = (adapter / name).read_bytes()
        for _ in range(40):
            content = bytearray(original)
            for _ in range(rng.randint(1, 3)):
                content[rng.randrange(min(len(content), 2000))] = rng.choice([0, 1, 34, 57, 255])
            (adapter / name).write_bytes(content)
            count += refusal(adapter) is not None
        (adapter / name).write_bytes(original)
    assert count > 40
