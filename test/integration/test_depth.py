# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prompts that walk through fewer layers, and encoders, against NumPy.

    PATH=build/dev/bin:$PATH python3 -m pytest test/integration/test_depth.py

Models and maps are random. The prompt is read in calls of several sizes, so
that its ends and its bulk are cut in different places.
"""

import json
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

TEST = pathlib.Path(__file__).parent.parent
sys.path.insert(0, str(TEST))
from reference import depth, models  # noqa: E402
from ranks import MODELS, greedy, tokens_of  # noqa: E402
from test_compile import call  # noqa: E402
from test_pool import compare  # noqa: E402

FIRST, LAST = 4, 24
SHAPE = {"vocab_size": 101, "num_hidden_layers": 5, "num_attention_heads": 4,
         "num_key_value_heads": 2, "rms_norm_eps": 1e-5, "max_position_embeddings": 512}
KINDS = {
    "all kinds": ["full", ("thin", 40), "linear", "tail", "tail"],
    "tail alone": ["full", "full", "full", "tail", "tail"],
    "tail of all": ["tail"] * 5,
    "thin alone": [("thin", 64), ("thin", 33), "full", ("thin", 1), "full"],
    "linear last": ["linear", "full", "linear", "full", "linear"],
}


def write_model(folder, width, rng):
    """A Llama whose sizes differ from one another, as transformers would save it."""
    head, inner = 12 if width == 48 else 16, 112
    config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_act": "silu",
              "hidden_size": width, "intermediate_size": inner, "head_dim": head,
              "tie_word_embeddings": True, "rope_theta": 5000.0, **SHAPE}
    shapes = {"model.embed_tokens": (101, width), "model.norm": (width,)}
    for n in range(SHAPE["num_hidden_layers"]):
        layer = f"model.layers.{n}."
        shapes |= {layer + "input_layernorm": (width,),
                   layer + "post_attention_layernorm": (width,),
                   layer + "self_attn.q_proj": (4 * head, width),
                   layer + "self_attn.k_proj": (2 * head, width),
                   layer + "self_attn.v_proj": (2 * head, width),
                   layer + "self_attn.o_proj": (width, 4 * head),
                   layer + "mlp.gate_proj": (inner, width), layer + "mlp.up_proj": (inner, width),
                   layer + "mlp.down_proj": (width, inner)}
    tensors = {}
    for name, shape in shapes.items():
        spread = rng.standard_normal(shape) / np.sqrt(shape[-1])
        tensors[name + ".weight"] = (1 + spread if len(shape) == 1 else spread).astype(np.float32)
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config))
    save_file(tensors, folder / "model.safetensors")
    return models.llama_weights(tensors), head


def make_maps(kinds, width, head, rng, inner=112):
    """Maps by the names of the file; their numbers are random."""
    normal = lambda *shape: (rng.standard_normal(shape) / np.sqrt(shape[-1])).astype(np.float32)
    maps = {}

    def add(name, rows, columns):
        maps[name], maps[name + ".bias"] = normal(rows, columns), normal(rows)

    for n, kind in enumerate(kinds):
        if kind == "linear":
            add(f"{n}.linear", width, width)
        if kind == "tail":
            for part in "kv":
                add(f"model.layers.{n}.self_attn.{part}_proj.weight.tail", 2 * head, width)
        elif isinstance(kind, tuple):
            maps[f"{n}.thin.rows"] = np.sort(
                rng.choice(inner, kind[1], replace=False)).astype(np.float32)
            add(f"{n}.thin", width, kind[1])
    return maps


ENDS = {"first": FIRST, "last": LAST}
FOR_ALL = {**ENDS, "thin_for_all": True}


def write_plan(folder, kinds, maps, heads=None, block=64, tokens=ENDS):
    layers = [{"depth": {"thin": kind[1]} if isinstance(kind, tuple) else kind} for kind in kinds]
    if heads:
        for layer in layers:
            layer["heads"] = heads
    plan = {"gist_plan": 1, "block": block,
            "depth": {**tokens, "maps": "maps.safetensors"}, "layers": layers}
    (folder / "plan.json").write_text(json.dumps(plan))
    save_file(maps, folder / "maps.safetensors")
    return folder / "plan.json"


def compile_model(model, module, *options, check=True):
    return subprocess.run(["gist-compile", model, "-o", module, "--kv-type=f32", "--compute=f32",
                           *options], check=check, capture_output=True, text=True)


def info(module):
    return json.loads(subprocess.run(["gist-run", "info", module, "--json"], check=True,
                                     stdout=subprocess.PIPE, text=True).stdout)


def model_hash(model, folder, plan):
    """What a module for fitting says of the model, as the file of maps has it."""
    module = folder / "observed.gist"
    compile_model(model, module, "--observe", f"--plan={plan}")
    value = int(info(module)["properties"]["weights"], 16)
    return np.array([value >> shift & 0xffff for shift in (0, 16, 32, 48)], np.float32)


def as_stored(maps):
    """Maps as the module of a model in f32 has them, by the names of reference.depth."""
    return {name.replace("model.layers.", "").replace(".self_attn", "")
            .replace("_proj.weight", ""):
            value.astype(np.float16).astype(np.float32) if value.ndim == 2 else value
            for name, value in maps.items()}


def feed(module, ids, pieces, device=()):
    result = subprocess.run(["gist-session-test", *device, module, "feed", *map(str, pieces)],
                            input=ids.tobytes(), stdout=subprocess.PIPE, check=True)
    return np.frombuffer(result.stdout, np.float32).reshape(len(pieces), -1)


class Case:
    """A model, a plan for it and maps that are said to be fitted for it, in files."""

    def __init__(self, folder, kinds, width, seed):
        self.rng = np.random.default_rng(seed)
        self.kinds, self.model = kinds, folder / "model"
        self.weights, head = write_model(self.model, width, self.rng)
        self.maps = make_maps(kinds, width, head, self.rng)
        self.plan = write_plan(folder, kinds, self.maps)
        self.stored = as_stored(self.maps)
        self.maps["weights"] = model_hash(self.model, folder, self.plan)
        write_plan(folder, kinds, self.maps)

    def draw(self, count):
        return self.rng.integers(0, 101, count).astype(np.int32)

    def reference(self, ids, pieces, kinds=None, **how):
        """The logits behind each piece of a prompt."""
        bulk, past = [], 0
        for count in pieces:
            bulk += range(max(past, FIRST), past + count - LAST)
            past += count
        logits = depth.llama(self.weights, self.stored, kinds or self.kinds, bulk, ids, heads=4,
                             kv_heads=2, epsilon=1e-5, theta=5000.0, **how)
        return logits[np.cumsum(pieces) - 1]


@pytest.mark.parametrize("kinds, width", list(zip(KINDS, [48, 64, 48, 64, 48])))
def test_prompt(kinds, width, tmp_path):
    case = Case(tmp_path, KINDS[kinds], width, list(KINDS).index(kinds))
    module = tmp_path / "model.gist"
    compile_model(case.model, module, f"--plan={case.plan}")
    ids = case.draw(300)
    # One prompt, and one in two parts, the second of which has a bulk of its own.
    for pieces in [[300], [130, 170]]:
        found = feed(module, ids, pieces)
        # Where a CPU multiplies f16 maps in bf16, rows have 8 bits.
        np.testing.assert_allclose(found, case.reference(ids, pieces), atol=6e-3, rtol=0)
    whole = case.reference(ids, [300], ["full"] * 5)
    assert np.abs(found[-1] - whole[-1]).max() > 0.1


@pytest.mark.parametrize("kinds", ["all kinds", "thin alone"])
def test_thin_for_all(kinds, tmp_path):
    """Thin layers for the ends of a prompt, for written tokens and for every logit; what
    they leave out is not in the module."""
    case = Case(tmp_path, KINDS[kinds], 64, 11)
    sizes = []
    for tokens in ENDS, FOR_ALL:
        plan = write_plan(tmp_path, case.kinds, case.maps, tokens=tokens)
        module = tmp_path / "model.gist"
        compile_model(case.model, module, f"--plan={plan}", "--logits=all")
        sizes.append(sum(section["size"] for section in info(module)["sections"]
                         if section["kind"] == "weights"))
    # Three weights of each thin layer, in f32.
    thin = sum(isinstance(kind, tuple) for kind in case.kinds)
    assert sizes[0] - sizes[1] == thin * 3 * 112 * 64 * 4
    ids = case.draw(200)
    # A prompt with a bulk, then single tokens.
    pieces = [190] + [1] * 10
    expected = case.reference(ids, pieces, thin_for_all=True)
    np.testing.assert_allclose(feed(module, ids, pieces), expected, atol=6e-3, rtol=0)
    assert np.abs(expected - case.reference(ids, pieces)).max() > 0.1
    # Without a bulk.
    scored = subprocess.run(["gist-session-test", module, "score", "50"], check=True,
                            input=ids[:50].tobytes(), stdout=subprocess.PIPE).stdout
    whole = depth.llama(case.weights, case.stored, case.kinds, [], ids[:50], heads=4, kv_heads=2,
                        epsilon=1e-5, theta=5000.0, thin_for_all=True)
    np.testing.assert_allclose(np.frombuffer(scored, np.float32).reshape(whole.shape), whole,
                               atol=6e-3, rtol=0)


@pytest.mark.parametrize("kinds", [["linear", ("thin", 40)], [("thin", 33), "full"]])
def test_encoder(kinds, tmp_path):
    """All tokens of an encoder follow the plan."""
    rng = np.random.default_rng(12)
    model = MODELS / "bert"
    tensors = load_file(model / "model.safetensors")
    maps = make_maps(kinds, 32, 8, rng, inner=96)
    plan = write_plan(tmp_path, kinds, maps, tokens={})
    maps["weights"] = model_hash(model, tmp_path, plan)
    write_plan(tmp_path, kinds, maps, tokens={})
    module = tmp_path / "model.gist"
    compile_model(model, module, f"--plan={plan}")
    ids = rng.integers(0, 101, 30).astype(np.int32)
    expected = depth.bert(tensors, as_stored(maps), kinds, ids, heads=4, epsilon=1e-12)
    np.testing.assert_allclose(call(module, "forward", ids, tmp_path), expected, atol=6e-3, rtol=0)


def test_plan_with_heads(tmp_path):
    """In a cache of clusters whose windows hold everything, a prompt gives the same."""
    case = Case(tmp_path, KINDS["all kinds"], 64, 5)
    kinds, maps, plan = case.kinds, case.maps, case.plan
    ids = case.draw(300)
    found = []
    for heads in (None, ["dense", {"window": 448, "sinks": 4}]):
        module = tmp_path / "model.gist"
        write_plan(tmp_path, kinds, maps, heads)
        compile_model(case.model, module, f"--plan={plan}", "--follow-plan")
        found.append(feed(module, ids, [300]))
    np.testing.assert_allclose(found[0], found[1], atol=1e-4, rtol=0)


@pytest.mark.parametrize("heads, tokens", [
    (None, ENDS), (["dense", {"window": 448, "sinks": 4}], ENDS), (None, FOR_ALL)])
def test_pool(heads, tokens, tmp_path):
    """Prompts of a pool take the same path in every mix, and that of a session;
    what two begin with is shared where both read it alike."""
    case = Case(tmp_path, KINDS["all kinds"], 64, 6)
    write_plan(tmp_path, case.kinds, case.maps, heads, 16, tokens)
    module = tmp_path / "model.gist"
    compile_model(case.model, module, f"--plan={case.plan}", "--follow-plan")
    for chunk, seed in [(16, 1), (16, 2), (100, 3)]:
        seen = compare(module, chunk, seed)
        assert seen["session"] == seen["greedy"]
        assert seen["reduced"] > 0
        assert (seen["prefix"] > 0) == (heads is None)


@pytest.mark.parametrize("kinds, options, tokens", [
    ("all kinds", ["--ranks=2"], ENDS), ("tail of all", ["--ranks=3", "--rank-sums"], ENDS),
    ("thin alone", ["--ranks=2"], FOR_ALL)])
def test_ranks(kinds, options, tokens, tmp_path):
    """Ranks have parts of maps, also where no attention says which heads they have."""
    case = Case(tmp_path, KINDS[kinds], 64, 9)
    write_plan(tmp_path, case.kinds, case.maps, tokens=tokens)
    prompt = case.draw(150)
    found = []
    for more in [], options:
        module = tmp_path / "model.gist"
        compile_model(case.model, module, f"--plan={case.plan}", "--logits=last", *more)
        found.append(tokens_of(greedy(module, 12, prompt=prompt)))
    assert found[0] == found[1]


@pytest.fixture(scope="module", name="fitted")
def make_case(tmp_path_factory):
    return Case(tmp_path_factory.mktemp("fitted"), KINDS["all kinds"], 64, 7)


def test_plan_without_maps_is_refused(fitted, tmp_path):
    plan = write_plan(tmp_path, fitted.kinds, {})
    (tmp_path / "maps.safetensors").unlink()
    result = compile_model(fitted.model, tmp_path / "model.gist", f"--plan={plan}", check=False)
    assert result.returncode == 1
    assert "maps.safetensors: cannot open" in result.stderr


@pytest.mark.parametrize("change, message", [
    (lambda maps: maps.pop("2.linear"), "there is no tensor '2.linear'"),
    # A tail before its fit.
    (lambda maps: maps.pop("model.layers.3.self_attn.v_proj.weight.tail"),
     "there is no tensor 'model.layers.3.self_attn.v_proj.weight.tail'; fit the plan again"),
    (lambda maps: maps.update({"model.layers.4.self_attn.k_proj.weight.tail":
                               np.zeros((16, 64), np.float32)}), "is 16x64, expected 32x64"),
    (lambda maps: maps.update({"1.thin": np.zeros((64, 39), np.float32)}), "expected 64x40"),
    (lambda maps: maps.pop("weights"), "there is no tensor 'weights'"),
    (lambda maps: maps.update({"2.linear": np.zeros((64, 63), np.float32)}), "expected 64x64"),
    (lambda maps: maps.update({"1.thin.rows": np.full(40, 112, np.float32)}), "row 112"),
    (lambda maps: maps.update({"2.linear.bias": np.full(64, np.nan, np.float32)}), "not finite"),
    (lambda maps: maps.update({"weights": np.zeros(4, np.float32)}), "other weights"),
])
def test_bad_maps_are_refused(change, message, fitted, tmp_path):
    maps = dict(fitted.maps)
    change(maps)
    plan = write_plan(tmp_path, fitted.kinds, maps)
    result = compile_model(fitted.model, tmp_path / "model.gist", f"--plan={plan}", check=False)
    assert result.returncode == 1
    assert message in result.stderr
    assert not (tmp_path / "model.gist").exists()


@pytest.mark.parametrize("kinds, message", [
    (["tail", "full", "tail", "tail", "tail"], "stands behind a layer of the tail"),
    ([("thin", 113), "full", "full", "full", "full"], "has 112 neurons, but the plan keeps 113"),
    (["tail"] * 4, "has 5 layers with attention, but the plan is for 4"),
])
def test_bad_plans_are_refused(kinds, message, tmp_path):
    rng = np.random.default_rng(8)
    write_model(tmp_path / "model", 64, rng)
    plan = write_plan(tmp_path, kinds, {"weights": np.zeros(4, np.float32)})
    result = compile_model(tmp_path / "model", tmp_path / "model.gist", f"--plan={plan}",
                           check=False)
    assert result.returncode == 1
    assert message in result.stderr


@pytest.mark.parametrize("name, kinds, tokens, message", [
    ("llama", ["full", "tail"], {}, "a tail is for the bulk of a prompt"),
    ("llama", ["full", "full"], {"thin_for_all": True}, "'thin_for_all' stands alone"),
    ("llama", ["full", "full"], {**ENDS, "thin_for_all": 1}, "expected true or false"),
    ("llama", ["full", "linear"], {"first": 4}, "depth: 'last' is missing"),
    ("bert", ["full", "linear"], {}, "belongs to the last layer"),
    ("bert", ["full", "tail"], ENDS, "expected a plan without first and last tokens"),
])
def test_plans_for_all_tokens_are_refused(name, kinds, tokens, message, tmp_path):
    plan = write_plan(tmp_path, kinds, {}, tokens=tokens)
    result = compile_model(MODELS / name, tmp_path / "model.gist", f"--plan={plan}", check=False)
    assert result.returncode == 1
    assert message in result.stderr


LAYERS = {"llama3": 1, "opt-post": 1, "gemma3": 3, "qwen2-moe": 3}
NO_BLOCK = "whose feed-forward block was not found, so that the layer cannot be thin"
#: Why a layer cannot be thin; those of all others can, and layers of all models linear.
NOT_THIN = {"mixtral": NO_BLOCK, "qwen3-moe": NO_BLOCK, "mixtral-q4_1.gguf": NO_BLOCK,
            "phi3": "which has to consist of plain products"}


@pytest.mark.parametrize("name", [
    "llama", "llama3", "gpt2", "gptj", "mistral", "opt", "opt-post", "qwen2", "qwen2-window",
    "gemma3", "qwen3", "phi3", "gpt-neox", "olmo2", "mixtral", "qwen2-moe", "qwen3-moe",
    "llama-q4_1.gguf", "mixtral-q4_1.gguf"])
def test_architectures(name, tmp_path):
    """Parallel blocks, norms of queries and keys, biases, windows, experts: every kind of
    layer is there, or is refused."""
    count = LAYERS.get(name, 2)
    for kind in ["linear", ("thin", 5)]:
        plan = write_plan(tmp_path, [kind] + ["tail"] * (count - 1), {})
        # Without a fit: maps of zeros.
        result = subprocess.run(["gist-compile", MODELS / name, "-o", tmp_path / "graph.mlir",
                                 "--observe", f"--plan={plan}", "--emit=graph"],
                                capture_output=True, text=True)
        message = NOT_THIN.get(name) if isinstance(kind, tuple) else None
        assert (result.returncode != 0) == (message is not None), result.stderr
        if message:
            assert message in result.stderr and "layer 0" in result.stderr
