# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tiny models, compiled for gfx942 and run whole on the simulator, beside
the same module's code for this CPU. How far they may be apart comes from the
models' definitions, executed with operands rounded and not.

    PATH=build/dev/bin:$PATH GIST_HIP_SIM=build/dev/lib/libgist-hip-sim.so \
        python3 -m pytest test/integration/test_gfx942_models.py
"""

import functools
import json
import os
import pathlib
import re
import subprocess
import tempfile

import numpy as np
import pytest
from safetensors.numpy import save_file

from import_graph import Graph
from lora import matrices, write_adapter
from test_compile import DECODERS, MODELS, losses, reference

SIMULATOR = os.environ["GIST_HIP_SIM"]


def round_products(text):
    """A graph whose products multiply numbers rounded to f16, as kernels for
    GPUs do."""

    def change(match):
        indent, head, values, types, rest = match.groups()
        lines, rounded = [], []
        for number, (value, type) in enumerate(zip(values.split(", "), types.split(", "))):
            name, half = f"%rounded{match.start()}_{number}", type.replace("xf32", "xf16")
            lines += [f"{indent}{name}h = arith.truncf {value} : {type} to {half}",
                      f"{indent}{name} = arith.extf {name}h : {half} to {type}"]
            rounded.append(name)
        return "\n".join([*lines, f"{indent}{head}ins({', '.join(rounded)} : {types}){rest}"])

    new, count = re.subn(r"^( +)(%\S+ = linalg\.matmul .*?)ins\((.*?) : (.*?)\)(.*)$",
                         change, text, flags=re.M)
    assert count > 0
    return new


@functools.lru_cache(maxsize=None)
def graphs(name):
    """The model's definition, executed, as it is and with rounded products."""
    options = ["--half-cache", "--every-token"] if name not in ("bert", "esm") else []
    with tempfile.TemporaryDirectory() as folder:
        return [Graph(MODELS / name, pathlib.Path(folder), *options, rewrite=rewrite)
                for rewrite in (lambda text: text, round_products)]


def row_error(expected, found):
    return np.linalg.norm(found - expected, axis=1) / np.linalg.norm(expected, axis=1)


def tolerance(name, ids):
    """How far a model may be off, of the norm of a row: twice what rounding the
    products' operands to f16 does to the definition of the model. Kernels round
    the weights of attention too, and add in another order."""
    exact, rounded = (graph(ids) for graph in graphs(name))
    return 2 * row_error(exact, rounded).max()


def compile_for_both(name, folder, *options):
    module = folder / "model.gist"
    subprocess.run(
        ["gist-compile", MODELS / name, "-o", module, "--target=gfx942",
         "--target=cpu", "--compute=f32", *options],
        check=True)
    return module


def run(module, mode, ids, pieces, width, device=()):
    command = ["gist-session-test", *device, module, mode, *map(str, pieces)]
    result = subprocess.run(command, input=ids.tobytes(), stdout=subprocess.PIPE, check=True)
    return np.frombuffer(result.stdout, np.float32).reshape(-1, width)


def check(expected, found, limit):
    """Every row agrees, and the largest number is the same one wherever it is
    larger than the others by more than rows may differ."""
    assert found.shape == expected.shape
    error = row_error(expected, found)
    print(f"error {error.max():.2e}, limit {limit:.2e}")
    assert error.max() <= limit, error
    second, first = np.sort(expected, axis=1)[:, -2:].T
    is_clear = first - second > 2 * limit * np.linalg.norm(expected, axis=1)
    np.testing.assert_array_equal(
        found.argmax(1)[is_clear], expected.argmax(1)[is_clear])


def check_session(name, module, mode, pieces, more=0):
    """One session on each. `more`: by which they may differ besides rounding."""
    ids, expected = reference(name)
    width = expected.shape[1]
    check(run(module, mode, ids, pieces, width),
          run(module, mode, ids, pieces, width, ["--hip", SIMULATOR]),
          tolerance(name, ids) + more)


# Relatives of other models take the simulator long and show little more.
RELATIVES = {"llama", "llama3", "mistral", "opt", "qwen2", "qwen2-window", "qwen3", "phi3",
             "gpt-neox", "olmo2", "qwen2-moe", "qwen3-moe"}


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=pytest.mark.full) if name in RELATIVES else name
    for name in DECODERS + ["llama-q4_1.gguf"]])
def test_decoder(name, tmp_path):
    """Prompts of several lengths into one cache, and single tokens between."""
    check_session(name, compile_for_both(name, tmp_path), "feed", [5, 1, 1, 2, 9])


def multiply_integers(text):
    """A graph whose products are those of --compute=int8: rows in 16 bits and then in 8, in
    blocks, and weights in 8 bits by row."""
    number = 0

    def change(match):
        nonlocal number
        number += 1
        result, maps, x, w, k, n, init = match.groups()
        name, rows, blocks = f"%integers{number}", f"tensor<?x{k}xf32>", -(-int(k) // 128)
        half = rows.replace("f32", "f16")
        return "\n".join([
            f"{name}h = arith.truncf {x} : {rows} to {half}",
            f"{name}x = arith.extf {name}h : {half} to {rows}",
            f"{name}q, {name}s = gist.quantize_blocks {name}x block 128 : {rows}",
            f"{name}v, {name}r = gist.quantize_blocks {w} block {k} : tensor<{n}x{k}xf32>",
            f"{name}p = gist.scaled_matmul {name}q, {name}s, {name}v block 128"
            f" : tensor<?x{k}xi8>, tensor<?x{blocks}xf32>, tensor<{n}x{k}xi8>",
            f"{name}f = tensor.collapse_shape {name}r [[0, 1]] : tensor<{n}x1xf32> into tensor<{n}xf32>",
            f"{result} = linalg.generic {{indexing_maps = [affine_map<(m, n) -> (m, n)>,"
            " affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>],"
            ' iterator_types = ["parallel", "parallel"]}'
            f" ins({name}p, {name}f : tensor<?x{n}xf32>, tensor<{n}xf32>) outs({init} : tensor<?x{n}xf32>) {{",
            "^bb0(%product: f32, %factor: f32, %before: f32):",
            "%scaled = arith.mulf %product, %factor : f32",
            "linalg.yield %scaled : f32",
            f"}} -> tensor<?x{n}xf32>"])

    new = re.sub(r"(%\S+) = linalg\.matmul (.*?)ins\((%\S+), (%\S+) : tensor<\?x(\d+)xf32>,"
                 r" tensor<(\d+)x\d+xf32>\) outs\((%\S+) : .*$", change, text, flags=re.M)
    assert number > 0
    return new


@pytest.mark.parametrize("name", ["phi3", pytest.param("qwen2", marks=pytest.mark.full)])
def test_integers(name, tmp_path):
    """Products of 8 bits, beside this CPU's of f32. Single tokens are multiplied in 16 bits
    with weights of 8, and so are off by less than what all products in 8 bits do to the
    definition."""
    exact_module = compile_for_both(name, tmp_path)
    module = tmp_path / "integers.gist"
    subprocess.run(["gist-compile", MODELS / name, "-o", module, "--target=gfx942", "--compute=int8"],
                   check=True)
    ids, expected = reference(name)
    exact, rounded = (
        Graph(MODELS / name, tmp_path, "--half-cache", "--every-token", rewrite=rewrite)(ids)
        for rewrite in (lambda text: text, multiply_integers))
    width, pieces = expected.shape[1], [5, 1, 1, 2, 9]
    check(run(exact_module, "feed", ids, pieces, width),
          run(module, "feed", ids, pieces, width, ["--hip", SIMULATOR]),
          1.5 * row_error(exact, rounded).max() + tolerance(name, ids))


def test_adapters(tmp_path):
    """One of two that a module has beside its weights, beside this CPU's module that has it
    in them."""
    shapes = {"self_attn.q_proj": (32, 32), "self_attn.v_proj": (16, 32), "mlp.down_proj": (32, 96)}
    layers = {f"model.layers.{n}.{name}": shape for n in range(2) for name, shape in shapes.items()}
    folders = [write_adapter(tmp_path / name, matrices(layers, seed=seed))
               for seed, name in enumerate(["one", "other"])]
    merged, module = tmp_path / "merged.gist", tmp_path / "chosen.gist"
    for output, options in ((merged, ["--compute=f32", f"--lora={folders[1]}"]),
                            (module, ["--target=gfx942"] + [f"--adapter={f.name}={f}" for f in folders])):
        subprocess.run(["gist-compile", MODELS / "llama", "-o", output, *options], check=True)
    ids, expected = reference("llama")
    width, pieces, limit = expected.shape[1], [5, 1, 1, 2, 9], 2 * tolerance("llama", ids)
    expected = run(merged, "feed", ids, pieces, width)
    chosen, plain = (run(module, "feed", ids, pieces, width, ["--hip", SIMULATOR, *more])
                     for more in (["--adapter", "other"], []))
    check(expected, chosen, limit)
    assert row_error(expected, plain).min() > 5 * limit


PLANS = {
    "llama": ["dense", {"window": 4, "theta": 0.7, "room": 0.5}],
    # Too little room for what is not alike.
    "gpt2": [{"window": 0, "theta": 0.9, "room": 0.05}, {"window": 4, "sinks": 2}],
}


def plan_of_heads(name, folder):
    """Heads of every kind, in another order in each layer."""
    config = json.loads((MODELS / name / "config.json").read_text())
    heads = config.get("num_key_value_heads") or config["n_head"]
    layers = config.get("num_hidden_layers") or config["n_layer"]
    kinds = PLANS[name]
    plan = folder / "plan.json"
    plan.write_text(json.dumps({"gist_plan": 1, "block": 4, "layers": [
        {"heads": [kinds[(layer + head) % len(kinds)] for head in range(heads)]}
        for layer in range(layers)]}))
    return f"--plan={plan}"


# Each plan in one of the next two tests; in the other one it shows little more.
@pytest.mark.parametrize("name", ["llama", pytest.param("gpt2", marks=pytest.mark.full)])
def test_plan(name, tmp_path):
    """Calls end anywhere in a block, and cross its end; single tokens begin
    one."""
    module = compile_for_both(name, tmp_path, plan_of_heads(name, tmp_path))
    check_session(name, module, "feed", [5, 1, 1, 2, 1, 1, 1, 7])


@pytest.mark.parametrize("name", ["gpt2", pytest.param("llama", marks=pytest.mark.full)])
def test_plan_of_one_target(name, tmp_path):
    """A module for GPUs alone lets half of its layers absorb tokens at the end of
    a block and the others at the start of the next. In calls of any size it
    gives what the CPU's module does."""
    plan = plan_of_heads(name, tmp_path)
    modules = []
    for target in "cpu", "gfx942":
        modules.append(tmp_path / f"{target}.gist")
        subprocess.run(["gist-compile", MODELS / name, "-o", modules[-1], f"--target={target}",
                        "--compute=f32", plan, "--follow-plan"], check=True)
    ids, expected = reference(name)
    width = expected.shape[1]
    limit = tolerance(name, ids)
    for pieces in [5, 1, 1, 2, 1, 1, 1, 7], [4, 4, 4, 1, 3], [len(ids)]:
        check(run(modules[0], "feed", ids, pieces, width),
              run(modules[1], "feed", ids, pieces, width, ["--hip", SIMULATOR]), limit)


def test_plan_with_a_dense_layer(tmp_path):
    """A layer whose heads are all dense keeps the model's cache, beside the
    cache of clusters of the others. Windows that nothing leaves say the same."""
    other = [{"window": 3, "theta": 0.7, "room": 0.5}, {"window": 4, "sinks": 2}]
    modules = {}
    for kind, heads in ("plain", ["dense"] * 2), ("wide", [{"window": 64, "sinks": 0}] * 2):
        plan = tmp_path / f"{kind}.json"
        plan.write_text(json.dumps({"gist_plan": 1, "block": 4,
                                    "layers": [{"heads": heads}, {"heads": other}]}))
        for target in "cpu", "gfx942":
            modules[kind, target] = tmp_path / f"{kind}-{target}.gist"
            subprocess.run(["gist-compile", MODELS / "llama", "-o", modules[kind, target],
                            f"--target={target}", "--compute=f32", f"--plan={plan}",
                            "--follow-plan"], check=True)
    ids, expected = reference("llama")
    width = expected.shape[1]
    limit = tolerance("llama", ids)
    for pieces in [5, 1, 1, 2, 1, 1, 1, 7], [4, 4, 4, 1, 3]:
        found = run(modules["plain", "cpu"], "feed", ids, pieces, width)
        check(run(modules["wide", "cpu"], "feed", ids, pieces, width), found, limit)
        check(found, run(modules["plain", "gfx942"], "feed", ids, pieces, width,
                         ["--hip", SIMULATOR]), limit)


def call_both(name, module, entry, ids, folder):
    """What an entry gives for whole sequences, on the CPU and on the simulator."""
    np.save(folder / "tokens.npy", ids)
    for options in [], ["--device", "hip", "--hip-library", SIMULATOR]:
        output = subprocess.run(
            ["gist-run", "call", module, entry, "-i", f"tokens={folder}/tokens.npy",
             "-o", folder, *options],
            stdout=subprocess.PIPE, check=True, text=True).stdout
        yield np.load(output.splitlines()[0])


# bench/gpu/sanitize.py runs them on a card.
SAID = json.loads((MODELS / "plans.json").read_text())


@pytest.mark.parametrize("form", ["means", "copies", "encoder"])
def test_selections(form, tmp_path):
    """Representatives on both are the same, and so are the outputs. The plan
    changes what is computed: it does not leave all tokens representatives."""
    name = SAID[form]["model"]
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps(SAID[form]["plan"]))
    module = compile_for_both(name, tmp_path, f"--plan={plan}")
    ids = np.resize(reference(name)[0], 37)
    expected, found = call_both(name, module, "forward" if name == "bert" else "score", ids, tmp_path)
    limit = tolerance(name, ids)
    check(expected, found, limit)
    dense = graphs(name)[0](ids)
    assert row_error(dense, expected).max() > 10 * limit


@pytest.mark.parametrize("pieces", [[5, 1, 1, 2, 10], [19]])
def test_gates(pieces, tmp_path):
    """Gates of two and of three levels, for one token and for many; some are
    open and some are closed. The basis is there both ways, each rounded for
    itself, to 8 bits where blocks fit: kernels for one token on a GPU read one
    of them, all others both."""
    rng = np.random.default_rng(1)
    groups = {"0.qkv": (16, 32), "0.down": (48, 96), "1.gate_up": (16, 32), "1.o": (16, 32)}
    save_file({f"{group}.basis": np.linalg.qr(rng.standard_normal((size, k)))[0].T.astype(np.float32)
               .copy() for group, (k, size) in groups.items()}, tmp_path / "bases.safetensors")
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps(SAID["gates"]["plan"]))
    module = compile_for_both("llama", tmp_path, f"--plan={plan}")
    has_single = 1 in pieces
    check_session("llama", module, "feed", pieces,
                  more=2**-8 * len(groups)**0.5 if has_single else 0)


def test_all_logits(tmp_path):
    module = compile_for_both("llama", tmp_path, "--logits=all")
    check_session("llama", module, "score", [11, 1, 1, 6])


def test_losses(tmp_path):
    """The losses of the logits that the same card gives."""
    module = compile_for_both("llama", tmp_path)
    ids, expected = reference("llama")
    pieces, device = [11, 1, 6], ["--hip", SIMULATOR]
    logits = run(module, "score", ids, pieces, expected.shape[1], device)
    found = run(module, "nll", ids, pieces, 1, device)[:, 0]
    np.testing.assert_allclose(found, losses(logits, ids, pieces), atol=1e-4, rtol=0)


@pytest.mark.parametrize("tokens", [1, 16, 17])
@pytest.mark.parametrize("name", ["bert", "esm"])
def test_encoder(name, tokens, tmp_path):
    module = compile_for_both(name, tmp_path)
    ids = np.resize(reference(name)[0], tokens)
    np.save(tmp_path / "tokens.npy", ids)
    results = []
    for options in [], ["--device", "hip", "--hip-library", SIMULATOR]:
        output = subprocess.run(
            ["gist-run", "call", module, "forward", "-i", f"tokens={tmp_path}/tokens.npy",
             "-o", tmp_path, *options],
            stdout=subprocess.PIPE, check=True, text=True).stdout
        results.append(np.load(output.strip()))
    check(*results, tolerance(name, ids))


@pytest.mark.parametrize("name, has_plan", [("llama-q4_1.gguf", False), ("llama", True)])
def test_selftest(name, has_plan, tmp_path):
    """`gist-run selftest` pairs the entries of two targets, and launches all."""
    module = compile_for_both(
        name, tmp_path, *([plan_of_heads(name, tmp_path)] if has_plan else []))

    def selftest(tolerance):
        return subprocess.run(
            ["gist-run", "selftest", module, "--device", "hip", "--hip-library", SIMULATOR,
             "--tokens", "1,17", "--tolerance", str(tolerance)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    result = selftest(tolerance(name, reference(name)[0]))
    assert result.returncode == 0, result
    launched = re.search(r"(\d+) of (\d+) kernels for gfx942 were launched", result.stdout)
    assert launched and launched.group(1) == launched.group(2), result.stdout
    assert {"prefill", "decode", "score"} <= set(re.findall(r"^\w+", result.stdout, re.M))
    # Tokens that the device draws are what the host draws.
    assert re.search(r"^decode +1 +decode\.next +3 .* pass$", result.stdout, re.M)
    # Products of two machines are not equal to the last bit.
    result = selftest(1e-12)
    assert result.returncode == 1 and "comparisons failed" in result.stderr, result


@pytest.mark.full
@pytest.mark.parametrize("name, decides", [("llama", False), ("mixtral", True)])
def test_selftest_knows_decisions(name, decides, tmp_path):
    """Rounding may give a token another expert: one row of each output may be
    off then, and none where nothing is decided."""
    module = compile_for_both(name, tmp_path)
    result = subprocess.run(
        ["gist-run", "selftest", module, "--device", "hip", "--hip-library", SIMULATOR,
         "--tokens", "5"], stdout=subprocess.PIPE, text=True, check=True).stdout
    allowed = re.findall(r"^score +5 +score\.logits .* (\d+) +\S+ +pass$", result, re.M)
    assert len(allowed) == 1 and (int(allowed[0]) >= 1) == decides, result


@pytest.mark.parametrize("name", ["llama", "bert"])
def test_graphs_of_pytorch(name, tmp_path):
    """A graph that torch-mlir wrote is for GPUs too: all kernels of gfx942 run,
    and there is code for sm_90."""
    graph = MODELS.parent / f"passes/Import/Inputs/torch-model-{name}-dynamic.mlir"
    module = tmp_path / "graph.gist"
    subprocess.run(["gist-compile", graph, "--target=cpu", "--target=gfx942", "--target=sm_90",
                    "--context=64", "--progress=off", "-o", module], check=True)
    result = subprocess.run(
        ["gist-run", "selftest", module, "--device", "hip", "--hip-library", SIMULATOR,
         "--tokens", "1,17"], stdout=subprocess.PIPE, text=True, check=True).stdout
    launched = re.search(r"(\d+) of (\d+) kernels for gfx942 were launched", result)
    assert launched and launched.group(1) == launched.group(2), result
    assert "all 2 comparisons passed" in result
    info = subprocess.run(["gist-run", "info", module], stdout=subprocess.PIPE, text=True, check=True).stdout
    assert re.search(r"@sm_90 device cuda .* ptx \d+ bytes", info), info
