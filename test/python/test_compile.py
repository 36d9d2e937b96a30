# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The compiler in Python, linked or as a program: both say the same."""

import json
import os
import shutil
import subprocess
import sys

import gist
import numpy as np
import pytest
from conftest import MODELS

sys.path.append(str(MODELS.parent / "integration"))
from lora import matrices, write_adapter


def reference(path):
    data = np.load(path)
    return data["ids"].astype(np.int32), data["result"]


def test_folder(llama):
    """Logits of every token equal those of `transformers`."""
    ids, expected = reference(MODELS / "llama/reference.npz")
    np.testing.assert_allclose(llama.session().logits_after(ids), expected, atol=1e-4, rtol=0)
    logits = expected.astype(np.float64)
    logits -= np.log(np.exp(logits).sum(axis=1, keepdims=True))
    found = llama.score(ids)
    np.testing.assert_allclose(found, logits[np.arange(18), ids[1:]], atol=2e-4, rtol=0)


def test_rewind(llama):
    """A step back, and the same again: rows of the cache are by position."""
    with llama.session() as session:
        session.feed([1, 2, 3, 4])
        expected = session.logits.copy()
        session.feed([5, 6, 7])
        session.rewind(3)
        assert session.tokens.tolist() == [1, 2, 3]
        session.feed([4])
        np.testing.assert_allclose(session.logits, expected, atol=1e-5)


def test_gguf_is_kept_in_a_file(tmp_path):
    output = tmp_path / "m.gist"
    with pytest.warns(UserWarning, match="holds no tokenizer"):
        model = gist.compile(MODELS / "llama-q4_1.gguf", output, compute="f32", kv_type="f32", context=64)
    ids, expected = reference(MODELS / "llama-q4_1.npz")
    for each in (model, gist.load(output)):
        session = each.session()
        assert session.capacity == 64
        session.feed(ids)
        np.testing.assert_allclose(session.logits, expected[-1], atol=1e-4, rtol=0)
    with pytest.raises(gist.NotFoundError, match="the module has no tokenizer"):
        model.generate("a")


def test_load_compiles_once(tmp_path, monkeypatch):
    """A model is compiled when it is loaded, and kept by its content."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    ids, expected = reference(MODELS / "llama-q4_1.npz")
    with pytest.warns(UserWarning, match="holds no tokenizer"):
        gist.load(MODELS / "llama-q4_1.gguf")
    (kept,) = (tmp_path / "cache/gist/modules").iterdir()
    before = kept.stat().st_ino
    copy = tmp_path / "copy.gguf"
    shutil.copy(MODELS / "llama-q4_1.gguf", copy)
    session = gist.load(copy).session()
    assert [(file.name, file.stat().st_ino) for file in kept.parent.iterdir()] == [(kept.name, before)]
    session.feed(ids)
    assert session.logits.argmax() == expected[-1].argmax()
    with pytest.raises(gist.CompileError, match="there is no target cuda"):
        gist.load(copy, target="cuda")


def test_missing_file():
    with pytest.raises(FileNotFoundError, match="nowhere.gguf: cannot open"):
        gist.compile("/nowhere.gguf")


def test_plan(llama, tmp_path):
    """A plan that keeps everything computes the same, as a dict and as a file."""
    plan = {"gist_plan": 1, "block": 4, "layers": [{"heads": ["dense", "dense"]}] * 2}
    ids, expected = reference(MODELS / "llama/reference.npz")
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(plan))
    for each in (plan, file):
        model = gist.compile(MODELS / "llama", plan=each, compute="f32", kv_type="f32")
        assert json.loads(model.plan) == plan
        session = model.session()
        session.feed(ids)
        np.testing.assert_allclose(session.logits, expected[-1], atol=1e-4, rtol=0)
    # A ring is more than rows by position.
    plan["layers"][0] = {"heads": [{"window": 8, "sinks": 2}, "dense"]}
    session = gist.compile(MODELS / "llama", plan=plan, options=["--follow-plan"]).session()
    session.feed(ids)
    with pytest.raises(gist.UnsupportedError, match="cannot go back"):
        session.rewind(3)
    assert llama.plan == ""


def test_adapters(tmp_path):
    """Each of a module's adapters computes what a module does in which it is merged."""
    layers = {f"model.layers.{n}.self_attn.{part}_proj": (rows, 32)
              for n in range(2) for part, rows in (("q", 32), ("v", 16))}
    folders = {name: write_adapter(tmp_path / name, matrices(layers, seed=seed), lora_alpha=20)
               for name, seed in (("red", 3), ("blue", 4))}
    exact = {"compute": "f32", "kv_type": "f32"}
    model = gist.compile(MODELS / "llama", **exact, options=[f"--adapter={n}={f}" for n, f in folders.items()])
    ids, plain = reference(MODELS / "llama/reference.npz")
    expected = {"": plain}
    for name, folder in folders.items():
        merged = gist.compile(MODELS / "llama", **exact, options=[f"--lora={folder}"])
        expected[name] = merged.session().logits_after(ids)
        assert np.abs(expected[name] - plain).max() > 0.1
    assert np.abs(expected["red"] - expected["blue"]).max() > 0.1
    for name, logits in expected.items():
        np.testing.assert_allclose(model.session(adapter=name).logits_after(ids), logits, atol=1e-4, rtol=0)
    # It goes with what a session has seen, into a fork and a file.
    with model.session(adapter="red") as session, model.session() as other:
        session.feed(ids[:-1])
        session.save(tmp_path / "seen")
        other.load(tmp_path / "seen")
        for each in (session.fork(), other):
            each.feed(ids[-1:])
            np.testing.assert_allclose(each.logits, expected["red"][-1], atol=1e-4, rtol=0)
    with pytest.raises(gist.NotFoundError, match="no adapter 'green'; it has red, blue"):
        model.session(adapter="green")
    # One of another model.
    with pytest.raises(gist.CompileError, match="red: the model has no linear layer 'model.layers.0.self_attn.q_proj'"):
        gist.compile(MODELS / "gpt2", options=[f"--adapter=red={folders['red']}"])
    wrong = write_adapter(tmp_path / "wrong", matrices({"model.layers.0.self_attn.q_proj": (31, 32)}))
    with pytest.raises(gist.CompileError, match="the adapter's layer is 31x32; the model's is 32x32"):
        gist.compile(MODELS / "llama", options=[f"--adapter=wrong={wrong}"])


@pytest.mark.parametrize("call, sentence", [
    (lambda: gist.compile(__file__), ""),
    (lambda: gist.compile(MODELS / "llama", "/nowhere/m.gist"), "/nowhere/m.gist"),
    (lambda: gist.compile(MODELS / "llama", target="tpu"), "tpu"),
    (lambda: gist.compile(MODELS / "llama", target=["cpu", "cpu"]), "one machine is named twice"),
    (lambda: gist.compile(MODELS / "llama", compute="int8", expand_weights=True), "--compute=int8 needs quantised weights"),
    (lambda: gist.compile(MODELS / "llama", options=["--frobnicate"]), "--frobnicate"),
    (lambda: gist.compile(MODELS / "llama", plan={"gist_plan": 1}), "plan"),
    (lambda: gist.compile(MODELS / "llama", cpu="frobozz"), "frobozz"),
])
def test_diagnostics_are_exceptions(call, sentence):
    with pytest.raises(gist.CompileError) as caught:
        call()
    assert sentence in str(caught.value)
    # A sentence, without the name of a program before it.
    assert str(caught.value) and not str(caught.value).startswith("gist-compile:")


def test_bad_graph(tmp_path):
    """A diagnostic of MLIR says where it is."""
    graph = tmp_path / "bad.mlir"
    graph.write_text("func.func @prefill() {\n  gist.nothing\n}\n")
    with pytest.raises(gist.CompileError, match=r"bad\.mlir:2:\d+: "):
        gist.compile(graph)


def test_no_compiler():
    """The package of the runtime alone says what to do without gist-compile."""
    program = ("import sys; sys.modules['gist._compiler'] = None; import gist; "
               f"gist.compile({str(MODELS / 'llama')!r})")
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                           env={**os.environ, "PATH": "/nowhere"}, check=False)
    assert ended.returncode == 1
    assert "CompileError" in ended.stderr and "gist-compile was not found in PATH" in ended.stderr


@pytest.mark.parametrize("name", ["llama-dynamic", "llama-static", "bert-dynamic", "bert-static"])
def test_graph_of_torch_mlir(name):
    """A graph that torch-mlir wrote, against PyTorch: test/torch/export.py made both."""
    inputs = MODELS.parent / "passes/Import/Inputs"
    model = gist.compile(inputs / f"torch-model-{name}.mlir")
    expected = np.array(json.loads((inputs / f"torch-model-{name}.json").read_text()))
    tokens = np.array([[3, 1, 4, 1, 5, 0, 2, 6, 5, 3, 5, 1]])
    (found,) = model.call("main", tokens)
    np.testing.assert_allclose(found, expected[None], atol=1e-4, rtol=0)
    with pytest.raises(gist.BadArgumentError, match="main takes 1 arrays, got 0"):
        model.call("main")
    with pytest.raises(gist.BadArgumentError, match="is an array of float64; expected int64"):
        model.call("main", tokens + 0.5)
    with pytest.raises(gist.NotFoundError, match="no entry 'other'"):
        model.call("other", tokens)


def test_graph_of_stablehlo():
    """Attention from JAX, with its weights as arguments."""
    model = gist.compile(MODELS.parent / "passes/Import/Inputs/stablehlo-attention.mlir")
    rng = np.random.default_rng(7)
    x = rng.standard_normal((12, 32), np.float32)
    weights = [rng.standard_normal((32, 32), np.float32) / 4 for _ in range(4)]
    (found,) = model.call("main", x, *weights)
    q, k, v = ((x @ w).reshape(12, 4, 8).transpose(1, 0, 2) for w in weights[:3])
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(np.float32(8))
    scores[:, np.triu(np.ones((12, 12), bool), 1)] = -np.inf
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    heads = (powers / powers.sum(-1, keepdims=True)) @ v
    np.testing.assert_allclose(found, heads.transpose(1, 0, 2).reshape(12, 32) @ weights[3], atol=1e-4, rtol=0)
