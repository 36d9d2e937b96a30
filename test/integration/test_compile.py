# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tiny models, compiled and run in a session, against `transformers`.

    PATH=build/dev/bin:$PATH python3 -m pytest test/integration/test_compile.py

What `transformers` computes lies beside each model (test/models/make_models.py).
"""

import hashlib
import json
import pathlib
import subprocess

import numpy as np
import pytest

import lora

MODELS = pathlib.Path(__file__).parent.parent / "models"
DECODERS = ["llama", "llama3", "gpt2", "gptj", "mistral", "opt", "opt-post", "qwen2",
            "qwen2-window", "gemma3", "qwen3", "phi3", "gpt-neox", "olmo2",
            "mixtral", "qwen2-moe", "qwen3-moe"]


def reference(name, key="result", ids="ids"):
    file = MODELS / name
    file = file.with_suffix(".npz") if file.is_file() else file / "reference.npz"
    data = np.load(file)
    return data[ids].astype(np.int32), data[key]


def compile_model(name, folder, *options):
    module = folder / "model.gist"
    subprocess.run(["gist-compile", MODELS / name, "-o", module, *options], check=True)
    return module


def run(module, mode, ids, pieces, width):
    command = ["gist-session-test", module, mode, *map(str, pieces)]
    result = subprocess.run(command, input=ids.tobytes(), stdout=subprocess.PIPE, check=True)
    return np.frombuffer(result.stdout, np.float32).reshape(-1, width)


def call(module, entry, ids, folder):
    np.save(folder / "tokens.npy", ids)
    result = subprocess.run(["gist-run", "call", module, entry, "--input",
                             f"tokens={folder}/tokens.npy", "--output", folder],
                            stdout=subprocess.PIPE, check=True, text=True)
    return np.load(result.stdout.strip())


@pytest.mark.parametrize("name", DECODERS + ["llama-q4_1.gguf", "qwen2-q4_0.gguf",
                                             "gemma3-q5_0.gguf", "mixtral-q4_1.gguf"])
def test_decoder(name, tmp_path):
    """Logits of every token, in one call and in pieces with the cache carried
    over; then the last token's, by prefill and decode."""
    module = compile_model(name, tmp_path, "--kv-type=f32", "--compute=f32",
                           "--logits=all")
    ids, expected = reference(name)
    width = expected.shape[1]
    for pieces in [[len(ids)], [11, 1, 1, 6]]:
        found = run(module, "score", ids, pieces, width)
        np.testing.assert_allclose(found, expected[:sum(pieces)], atol=1e-4, rtol=0)
    pieces = [5, 1, 1, 1, 9]
    found = run(module, "feed", ids, pieces, width)
    np.testing.assert_allclose(found, expected[np.cumsum(pieces) - 1], atol=1e-4, rtol=0)


@pytest.mark.parametrize("name, scale", [("llama", 1), ("llama-q4_1.gguf", -0.5)])
def test_adapter(name, scale, tmp_path):
    """A module with an adapter computes W x + scale * B A x, which a folder with these weights
    does too; import's part is tested by test_lora.py."""
    layers = {f"model.layers.{n}.self_attn.{part}_proj": (rows, 32)
              for n in range(2) for part, rows in (("q", 32), ("v", 16))}
    tensors = lora.matrices(layers)
    adapter = lora.write_adapter(tmp_path / "adapter", tensors)
    options = ["--lora", adapter, "--lora-scale", str(scale), "--kv-type=f32", "--logits=all"]
    ids, plain = reference(name)
    found = run(compile_model(name, tmp_path, "--compute=f32", *options), "score", ids, [19], 101)
    assert np.abs(found - plain).max() > 0.1
    # What the rest is stored in does not matter to the merged layers.
    expanded = run(compile_model(name, tmp_path, "--expand-weights", *options), "score", ids, [19], 101)
    np.testing.assert_allclose(found, expanded, atol=2e-2, rtol=0)
    if name == "llama":
        merged = lora.merge(MODELS / name, tmp_path / "merged", tensors, scale * 6 / 4)
        module = compile_model(merged, tmp_path, "--kv-type=f32", "--compute=f32")
        np.testing.assert_allclose(found, run(module, "score", ids, [19], 101), atol=1e-4, rtol=0)


def losses(logits, ids, pieces):
    """-log p of what follows each token; the last of a piece by its first."""
    ends = np.cumsum(pieces)
    targets = np.concatenate([np.roll(ids[end - count:end], -1) for count, end in zip(pieces, ends)])
    logits = logits[:ends[-1]].astype(np.float64)
    largest = logits.max(axis=1)
    total = np.log(np.exp(logits - largest[:, None]).sum(axis=1)) + largest
    return total - logits[np.arange(len(targets)), targets]


@pytest.mark.parametrize("pieces", [[19], [7, 1, 11]])
def test_losses(pieces, tmp_path):
    """Rows of logits that stay on the device: their log-sum-exp less the
    target's, whatever the rows' sizes and pieces."""
    ids, expected = reference("llama")
    module = compile_model("llama", tmp_path, "--kv-type=f32", "--compute=f32")
    found = run(module, "nll", ids, pieces, 1)[:, 0]
    np.testing.assert_allclose(found, losses(expected, ids, pieces), atol=2e-4, rtol=0)


@pytest.mark.parametrize("name", ["llama-q4_1.gguf", "mixtral-q4_1.gguf"])
def test_8_bit_products_are_close(name, tmp_path):
    """Rows of random weights and one block of 32 are the worst case of rounding
    to 8 bits: not equal, but close."""
    ids, expected = reference(name)
    module = compile_model(name, tmp_path, "--compute=int8", "--logits=all")
    found = run(module, "score", ids, [len(ids)], expected.shape[1])
    error = np.abs(found - expected).max() / np.abs(expected).max()
    assert 1e-4 < error < 1e-1
    assert np.corrcoef(found.ravel(), expected.ravel())[0, 1] > 0.999


def write_plan(path, heads):
    plan = {"gist_plan": 1, "block": 4, "layers": [{"heads": heads}] * 2}
    path.write_text(json.dumps(plan))
    return f"--plan={path}"


def test_dense_plan_changes_nothing(tmp_path):
    """A cache of clusters in which every head keeps everything is the cache."""
    ids, expected = reference("llama")
    plan = write_plan(tmp_path / "plan.json", ["dense", "dense"])
    module = compile_model("llama", tmp_path, "--kv-type=f32", "--compute=f32", plan)
    for mode, pieces, want in [("score", [len(ids)], expected),
                               ("feed", [5, 1, 1, 7], expected[[4, 5, 6, 13]])]:
        found = run(module, mode, ids, pieces, expected.shape[1])
        np.testing.assert_allclose(found, want, atol=1e-4, rtol=0)


@pytest.mark.parametrize("name, window, has_plan", [("gemma3", 7, True), ("gemma3", 7, False),
                                                    ("mistral", 8, True)])
def test_windows(name, window, has_plan, tmp_path):
    """A layer with a window keeps that window and a block, and sees what the model lets it
    see, with a plan and without one."""
    ids, expected = reference(name)
    config = json.loads((MODELS / name / "config.json").read_text())
    heads, layers = config["num_key_value_heads"], config["num_hidden_layers"]
    (tmp_path / "plan.json").write_text(json.dumps(
        {"gist_plan": 1, "block": 4, "layers": [{"heads": ["dense"] * heads}] * layers}))
    plan = [f"--plan={tmp_path}/plan.json"] if has_plan else []
    module = compile_model(name, tmp_path, "--kv-type=f32", "--compute=f32", *plan)
    for mode, pieces, want in [("score", [len(ids)], expected),
                               ("feed", [5, 1, 1, 7, 1], expected[[4, 5, 6, 13, 14]])]:
        found = run(module, mode, ids, pieces, expected.shape[1])
        np.testing.assert_allclose(found, want, atol=1e-4, rtol=0)
    kinds = config.get("layer_types") or ["sliding_attention"] * layers
    # Without a plan a block has as many tokens as the window, rounded down to a power of two.
    ring, context = window - 1 + 4, config["max_position_embeddings"]
    sliding = kinds.count("sliding_attention")
    text = subprocess.run(["gist-compile", MODELS / name, "--emit=kernels", "-o", "-", *plan],
                          stdout=subprocess.PIPE, check=True, text=True).stdout
    assert f"tensor<{sliding * heads * ring}x{config['head_dim']}xf16>" in text
    # The other layers have the model's cache, and no part in the rings.
    if sliding < layers:
        assert f"tensor<{layers - sliding}x{context}x{heads}x{config['head_dim']}xf16>" in text


def test_plan_is_the_same_in_pieces(tmp_path):
    """What a head forgets depends on positions alone, not on how tokens come."""
    ids, expected = reference("llama")
    plan = write_plan(tmp_path / "plan.json", [{"window": 4, "theta": 0.5, "room": 1},
                                               {"window": 4, "sinks": 1}])
    module = compile_model("llama", tmp_path, "--kv-type=f32", "--compute=f32", plan,
                           "--follow-plan")
    whole = run(module, "score", ids, [len(ids)], expected.shape[1])
    single = run(module, "feed", ids, [1] * len(ids), expected.shape[1])
    np.testing.assert_allclose(single, whole, atol=1e-4, rtol=0)
    # The first tokens have forgotten nothing, the last ones something.
    np.testing.assert_allclose(whole[:8], expected[:8], atol=1e-4, rtol=0)
    assert np.abs(whole[-1] - expected[-1]).max() > 1e-3


def test_encoders(tmp_path):
    ids, expected = reference("bert")
    module = compile_model("bert", tmp_path)
    np.testing.assert_allclose(call(module, "forward", ids, tmp_path), expected, atol=1e-4, rtol=0)


@pytest.mark.parametrize("key, ids", [("result", "ids"), ("masked", "masked_ids")])
def test_esm(key, ids, tmp_path):
    ids, expected = reference("esm", key, ids)
    module = compile_model("esm", tmp_path)
    np.testing.assert_allclose(call(module, "forward", ids, tmp_path), expected, atol=1e-4, rtol=0)


GRAPH = """
func.func @main(%q: tensor<?x6xSIZExf32> {gist.name = "q"}, %k: tensor<?x2xSIZExf32> {gist.name = "k"},
                %v: tensor<?x2xSIZExf32> {gist.name = "v"}) -> (tensor<?x6xSIZExf32> {gist.name = "out"}) {
  %o = gist.attention %q, %k, %v causal
      : tensor<?x6xSIZExf32>, tensor<?x2xSIZExf32>, tensor<?x2xSIZExf32>
  return %o : tensor<?x6xSIZExf32>
}
"""


@pytest.mark.parametrize("size", [1, 2, 6])
def test_heads_that_fill_no_vector(size, tmp_path):
    """A graph with any number of tokens, whose heads are less than a vector, or
    one and a half."""
    (tmp_path / "graph.mlir").write_text(GRAPH.replace("SIZE", str(size)))
    subprocess.run(["gist-compile", tmp_path / "graph.mlir", "-o", tmp_path / "a.gist"], check=True)
    rng = np.random.default_rng(size)
    for tokens in (1, 5, 37, 130):
        rows = {"q": rng.standard_normal((tokens, 6, size)),
                "k": rng.standard_normal((tokens, 2, size)),
                "v": rng.standard_normal((tokens, 2, size))}
        words = []
        for name, value in rows.items():
            np.save(tmp_path / name, value.astype(np.float32))
            words += ["--input", f"{name}={tmp_path / name}.npy"]
        out = subprocess.run(["gist-run", "call", tmp_path / "a.gist", "main", *words,
                              "--symbol", f"T={tokens}", "--output", tmp_path],
                             stdout=subprocess.PIPE, check=True, text=True).stdout
        k, v = (np.repeat(rows[name], 3, axis=1) for name in "kv")
        scores = np.einsum("ihd,jhd->hij", rows["q"], k) / np.sqrt(size)
        scores[:, ~np.tri(tokens, dtype=bool)] = -np.inf
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        want = np.einsum("hij,jhd->ihd", weights, v)
        np.testing.assert_allclose(np.load(out.strip()), want, atol=1e-5)


def test_same_input_same_bytes(tmp_path):
    digests = set()
    for run_number in range(2):
        folder = tmp_path / str(run_number)
        folder.mkdir()
        module = compile_model("llama-q4_1.gguf", folder)
        digests.add(hashlib.sha256(module.read_bytes()).hexdigest())
    assert len(digests) == 1


def test_kernels_do_not_grow_with_depth(tmp_path):
    """Layers share their kernels: fewer kernels than calls."""
    text = subprocess.run(["gist-compile", MODELS / "llama", "--emit=kernels", "-o", "-"],
                          stdout=subprocess.PIPE, check=True, text=True).stdout
    calls, kernels = text.count("gist.dispatch @"), text.count("func.func private @")
    assert 0 < kernels < calls
