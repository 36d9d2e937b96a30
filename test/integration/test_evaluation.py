# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `gist-run eval` says of layers, against NumPy.

    PATH=build/dev/bin:$PATH python3 -m pytest test/integration/test_evaluation.py

A tiny model with sinks and windows in some heads: the errors of attention and of
linear layers, the work of every head and the spread over windows follow from two
forward passes in float64. A model with selections: representatives, Jaccard,
turnover and Gram operations follow from the sets that a traced module gives.
"""

import json
import math
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from safetensors.numpy import load_file

TEST = pathlib.Path(__file__).parent.parent
sys.path.insert(0, str(TEST))
from reference import models  # noqa: E402

SHAPE = dict(layers=2, heads=4, kv_heads=2, epsilon=1e-6, theta=5000.0)
BLOCK, WINDOW, SINKS = 8, 8, 2
TEXT = ("It was the best of times, it was the worst of times, it was the age of wisdom, "
        "it was the age of foolishness, it was the epoch of belief.")
#: (layer, KV head) pairs that forget.
FORGETFUL = {(0, 1), (1, 0)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("evaluation")
    subprocess.run([sys.executable, TEST / "tools/Inputs/with_tokenizer.py",
                    TEST / "models/llama", folder / "llama"], check=True)
    (folder / "text").write_text(TEXT)
    return folder


def compile_model(folder, name, plan=None, *more, exact=("--compute=f32", "--kv-type=f32")):
    module = folder / f"{name}.gist"
    if plan:
        (folder / f"{name}.json").write_text(json.dumps(plan))
        more += (f"--plan={folder / name}.json", "--follow-plan")
    subprocess.run(["gist-compile", folder / "llama", "-o", module, "--progress=off", *exact,
                    *more], check=True)
    return module


def evaluate(module, folder, window, tokens, *more):
    out = subprocess.run(["gist-run", "eval", module, "--text", folder / "text", "--window",
                          str(window), "--stride", str(window), "--max-tokens", str(tokens),
                          "--json", *map(str, more)], stdout=subprocess.PIPE, check=True)
    return json.loads(out.stdout)


def token_ids(count):
    """As with_tokenizer.py numbers characters."""
    return np.array([94 if c == " " else ord(c) - 33 for c in TEXT])[:count]


def sees(forgetful, total):
    """Which tokens a query sees: a window beside its block, and the sinks."""
    query, key = np.arange(total)[:, None], np.arange(total)[None, :]
    seen = key <= query
    if forgetful:
        first = np.maximum(0, query // BLOCK * BLOCK - WINDOW)
        seen &= (key >= first) | (key < np.minimum(SINKS, first))
    return seen


class Recorder:
    """Attention with or without forgetful heads, and what layers gave."""

    def __init__(self, weights, forgetful):
        self.weights, self.forgetful, self.layers = weights, forgetful, []

    def __call__(self, layer, q, k, v, residual, normalised):
        total, group = len(q), SHAPE["heads"] // SHAPE["kv_heads"]
        a = np.empty((total, SHAPE["heads"], v.shape[-1]))
        for head in range(SHAPE["heads"]):
            kv = head // group
            scores = q[:, head] @ k[:, kv].T / math.sqrt(q.shape[-1])
            scores[~sees((layer, kv) in self.forgetful, total)] = -np.inf
            p = np.exp(scores - scores.max(1, keepdims=True))
            a[:, head] = p / p.sum(1, keepdims=True) @ v[:, kv]
        w = {name: np.asarray(self.weights[f"{layer}.{name}"], np.float64)
             for name in ("o", "ffn_norm", "gate", "up", "down")}
        o = a.reshape(total, -1) @ w["o"].T
        h = models.rms_norm(residual + o, w["ffn_norm"], SHAPE["epsilon"])
        gate, up = h @ w["gate"].T, h @ w["up"].T
        down = (gate / (1 + np.exp(-gate)) * up) @ w["down"].T
        flat = lambda *parts: np.concatenate([part.ravel() for part in parts])
        # Rotations change no length.
        self.layers.append({"attention": flat(a), "qkv": flat(q, k, v), "o": flat(o),
                            "gate_up": flat(gate, up), "down": flat(down)})
        return a


def forward(weights, ids, forgetful):
    recorder = Recorder(weights, forgetful)
    logits = models.llama(weights, ids, recorder, **SHAPE)
    loss = [np.log(np.exp(row - row.max()).sum()) + row.max() - row[after]
            for row, after in zip(logits, ids[1:])]
    return recorder.layers, float(np.mean(loss))


def test_layers(folder):
    window, tokens = 40, 80
    heads = [[{"window": WINDOW, "sinks": SINKS} if (n, h) in FORGETFUL else "dense"
              for h in range(2)] for n in range(2)]
    plan = {"gist_plan": 1, "block": BLOCK, "layers": [{"heads": each} for each in heads]}
    dense = compile_model(folder, "dense", None, "--observe")
    module = compile_model(folder, "windows", plan, "--observe")
    found = evaluate(module, folder, window, tokens, "--against", dense, "--layers")

    weights = models.llama_weights(load_file(TEST / "models/llama/model.safetensors"))
    ids = token_ids(tokens)
    sums, ratios = {}, []
    for begin in range(0, tokens, window):
        ours, loss = forward(weights, ids[begin : begin + window], FORGETFUL)
        theirs, dense_loss = forward(weights, ids[begin : begin + window], set())
        ratios.append(math.exp(loss - dense_loss))
        for n in range(SHAPE["layers"]):
            for name in ours[n]:
                part = sums.setdefault((n, name), [0.0, 0.0])
                part[0] += float(((ours[n][name] - theirs[n][name]) ** 2).sum())
                part[1] += float((theirs[n][name] ** 2).sum())
    error = {key: math.sqrt(a / b) for key, (a, b) in sums.items()}
    # Errors are not zero, except in the first projections.
    assert error[0, "attention"] > 1e-3 and error[1, "down"] > 1e-4 and error[0, "qkv"] == 0
    for n, layer in enumerate(found["layers"]):
        assert layer["attention_error"] == pytest.approx(error[n, "attention"], rel=2e-3)
        groups = layer["linear_errors"]
        assert set(groups) == {"qkv", "o", "gate_up", "down"}
        for group, value in groups.items():
            assert value == pytest.approx(error[n, group], rel=2e-3, abs=1e-6)
        assert layer["linear_error"] == max(groups.values())
    spread = found["variation"]["perplexity_ratio"]
    np.testing.assert_allclose(spread["values"], ratios, rtol=1e-4)
    assert spread["mean"] == pytest.approx(np.mean(ratios), rel=1e-4)
    assert spread["deviation"] == pytest.approx(np.std(ratios, ddof=1), rel=1e-2)

    # The last token of a window is predicted, and not read.
    total = window - 1
    shares = [[sees((n, h) in FORGETFUL, total).sum() / sees(False, total).sum()
               for h in range(2)] for n in range(2)]
    for n, layer in enumerate(found["layers"]):
        np.testing.assert_allclose(layer["work_of_heads"], shares[n], rtol=1e-6)
        assert layer["work"] == pytest.approx(np.mean(shares[n]))
        assert layer["gram"] == 0  # sinks are not looked for
    assert found["work"]["attention"] == pytest.approx(np.mean(shares))
    assert 0 < found["seconds"] and 0 < found["against_seconds"]
    assert found["against_kv_bytes"] > 0 and found["kv_bytes"] > 0
    products = sum(weights[f"{n}.{name}"].size for n in range(SHAPE["layers"])
                   for name in ("q", "k", "v", "o", "gate", "up", "down"))
    products += weights.get("head", weights["embed"]).size
    assert found["flops_of_token"] == found["against_flops_of_token"] == 2 * products


def layer_choice(form, n):
    first, rest = {"paper": ({"against": "all"}, {"rule": "paper"}),
                   "inherit": ({}, {"rule": "inherit"}),
                   "fresh": ({}, {})}[form]
    return {"on": "residual", "tau": 0.7} | (rest if n else first)


@pytest.mark.parametrize("form", ["paper", "inherit", "fresh"])
def test_selections(form, folder):
    window, tokens = 40, 80
    attend = {"mode": "keys", "window": 4, "block": 4} if form != "paper" else {"mode": "copy"}
    plan = {"gist_plan": 1, "layers": [{"selection": layer_choice(form, n), "attend": attend}
                                       for n in range(SHAPE["layers"])]}
    module = compile_model(folder, form, plan)
    found = evaluate(module, folder, window, tokens)
    traced = compile_model(folder, f"{form}-traced", plan | {"trace": True})

    counts, jaccard, turnover, gram, independent = [], [], [], [], 0
    ids = token_ids(tokens)
    for begin in range(0, tokens, window):
        fed = ids[begin : begin + window - 1]
        np.save(folder / "tokens.npy", fed.astype(np.int32))
        out = subprocess.run(["gist-run", "call", traced, "score", "--input",
                              f"tokens={folder}/tokens.npy", "--output", folder],
                             stdout=subprocess.PIPE, check=True, text=True).stdout
        outputs = {pathlib.Path(line).stem.removeprefix("score."): np.load(line)
                   for line in out.splitlines()}
        sets = []
        for n in range(SHAPE["layers"]):
            nearest = outputs.get(f"selection.{n}.nearest")
            sets.append(sets[-1] if nearest is None else
                        set(np.flatnonzero(nearest == np.arange(len(fed)))))
        old, new = sets
        counts.append([len(old), len(new)])
        jaccard.append(len(old & new) / len(old | new))
        turnover.append(len(old ^ new) / len(old))
        size = len(fed)
        gram.append([size**2, {"paper": size * len(old), "inherit": 0, "fresh": size**2}[form]])
        independent += SHAPE["layers"] * size**2 / (tokens // window)
    assert all(1 < c < window - 1 for each in counts for c in each)
    first, second = found["layers"]
    for n, layer in enumerate((first, second)):
        assert layer["representatives"] == pytest.approx(np.mean(counts, axis=0)[n])
        assert layer["gram"] == pytest.approx(np.mean(gram, axis=0)[n])
    assert "jaccard" not in first and "turnover" not in first
    assert second["jaccard"] == pytest.approx(np.mean(jaccard))
    assert second["turnover"] == pytest.approx(np.mean(turnover))
    assert second["rule"] == form
    assert found["selections"]["gram"] == pytest.approx(np.mean(gram, axis=0).sum())
    assert found["selections"]["gram_independent"] == pytest.approx(independent)


def round_to_4_bits(weight):
    """The nearest of 16 levels in blocks of 32, f16 scale and minimum."""
    blocks = weight.reshape(weight.shape[0], -1, 32).astype(np.float32)
    low, high = blocks.min(-1, keepdims=True), blocks.max(-1, keepdims=True)
    scale = ((high - low) / 15).astype(np.float16).astype(np.float64)
    minimum = low.astype(np.float16).astype(np.float64)
    levels = np.clip(np.rint((blocks - minimum) / scale), 0, 15)
    return (minimum + scale * levels).reshape(weight.shape)


def test_rounded_layers(folder):
    """Products of one input are joined there, and shown one by one."""
    groups = {"qkv": "qkv", "o": ("o",), "gate_up": ("gate", "up"), "down": ("down",)}
    plan = {"gist_plan": 1, "block": BLOCK, "layers": [
        {"linears": {group: {"bits": 4} for group in groups}} for _ in range(2)]}
    dense = compile_model(folder, "stored", None, "--observe", exact=())
    module = compile_model(folder, "rounded", plan, "--observe", exact=())
    found = evaluate(module, folder, 40, 40, "--against", dense, "--layers")

    weights = models.llama_weights(load_file(TEST / "models/llama/model.safetensors"))
    rounded = dict(weights)
    for n in range(SHAPE["layers"]):
        for name in (name for group in groups.values() for name in group):
            rounded[f"{n}.{name}"] = round_to_4_bits(weights[f"{n}.{name}"])
    ids = token_ids(40)
    theirs, ours = forward(weights, ids, set())[0], forward(rounded, ids, set())[0]
    for n, layer in enumerate(found["layers"]):
        for group, value in layer["linear_errors"].items():
            wanted = (np.linalg.norm(ours[n][group] - theirs[n][group])
                      / np.linalg.norm(theirs[n][group]))
            assert wanted > 0.02
            # 8 bits of the rows add a little.
            assert value == pytest.approx(wanted, rel=0.1), (n, group)


def test_selections_layer_by_layer(folder):
    """Modules without a cache are compared over whole windows."""
    plan = {"gist_plan": 1, "layers": [
        {"selection": layer_choice("paper", n), "attend": {"mode": "copy"}} for n in range(2)]}
    dense = compile_model(folder, "dense", None, "--observe")
    module = compile_model(folder, "copy", plan, "--observe")
    found = evaluate(module, folder, 40, 40, "--against", dense, "--layers")
    same = evaluate(dense, folder, 40, 40, "--against", dense, "--layers")
    first, second = found["layers"]
    assert first["linear_errors"]["qkv"] < 1e-5  # nothing was selected before
    assert first["attention_error"] > 1e-2 and second["linear_error"] > 1e-3
    assert all(layer["attention_error"] == layer["linear_error"] == 0
               for layer in same["layers"])
