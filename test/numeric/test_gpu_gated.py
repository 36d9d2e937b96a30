# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gated projections on gfx942, run on the simulator, against NumPy in double
precision. Levels may differ where rounding decides; outputs are judged for the
levels that the kernel chose."""

import functools
import pathlib
import subprocess

import numpy as np
import pytest

import gpu_kernels
import scratch
from gpu_kernels import whole
from reference import gated_projection as gated
from reference import numerics
from reference.quantization import FORMATS, dequantize

#: Calls whose words of control lie side by side, and the one that is made.
CALLS, CALL = 3, 1
EPSILON, EPSILON_LOW = 0.5, 0.2


def tensor(element, *shape):
    return f"tensor<{'x'.join(map(str, shape))}x{element}>"


@functools.lru_cache(maxsize=None)
def build(tokens, d, k, sizes, element, weight, bias, low, epsilon):
    """One launch for a few tokens; `low` is None, an element type or a format."""
    x, v = tensor(element, tokens, d), tensor(weight, d, k)
    arguments, lines, lows = [("x", x), ("v", v)], [], []
    arguments += [(f"w{i}", tensor(weight, m, d)) for i, m in enumerate(sizes)]
    arguments += [(f"m{i}", tensor(weight, m, k)) for i, m in enumerate(sizes)]
    if bias:
        arguments += [(f"b{i}", tensor(weight, m)) for i, m in enumerate(sizes)]
    for i, m in enumerate(sizes if low else []):
        if low not in FORMATS:
            arguments.append((f"l{i}", tensor(weight, m, d)))
            lows.append((f"%l{i}", tensor(weight, m, d)))
            continue
        values, size = FORMATS[low]
        blocks = tensor("i8", m, d // values, size)
        arguments.append((f"l{i}", blocks))
        lines.append(f"%n{i} = gist.dequantize %l{i} format {low} : {blocks}")
        lows.append((f"%n{i}", tensor("f32", m, d)))

    def group(word, values):
        names, types = zip(*values)
        return f"{word}({', '.join(names)} : {', '.join(types)})"

    def named(letter):
        return [("%" + n, t) for n, t in arguments if n[0] == letter and n != "v"]

    clauses = group("weights", named("w")) + " " + group("images", named("m"))
    clauses += " " + group("biases", named("b")) if bias else ""
    clauses += " " + group(f"low {EPSILON_LOW:e} ", lows) if low else ""
    results = [tensor(element, tokens, m) for m in sizes]
    results += [tensor("i8", tokens)]
    header = [f"%{n}: {t}" for n, t in arguments]
    header += [f"%d{i}: {t}" for i, t in enumerate(results)]
    values = [f"%y{i}" for i in range(len(sizes))] + ["%level"]
    lines.append(f"{', '.join(values)} = gist.gated_projection %x, %v, {epsilon:e} "
                 f"{clauses} : {x}, {v}")
    text = f"""
func.func private @gated({', '.join(header)}) -> ({', '.join(results)})
    attributes {{gist.kernel = #gist.kernel<kind = gated_projection, outputs = {len(results)}>}} {{
  {chr(10).join(lines)}
  return {', '.join(values)} : {', '.join(results)}
}}"""
    return gpu_kernels.Kernels(text), scratch.ask(text, "gfx942", CALLS)


def draw(rng, tokens, d, k, sizes, element, weight, bias, low, shares=(0, 0.1, 0.3, 1)):
    """Tokens from inside the basis to outside it, and the layer, in storage."""
    full, _ = np.linalg.qr(rng.standard_normal((d, d)))
    basis = full[:, :k]
    inside = rng.standard_normal((tokens, k)) @ basis.T
    outside = rng.standard_normal((tokens, d)) @ (full[:, k:] @ full[:, k:].T)
    share = rng.choice(shares, size=(tokens, 1))
    x = numerics.store((inside + share * outside) * 10.0 ** rng.integers(-1, 2, (tokens, 1)),
                       element)
    store = functools.partial(numerics.store, element=weight)
    weights = [rng.standard_normal((m, d)) / d**0.5 for m in sizes]
    groups = [[store(w) for w in weights], [store(w @ basis) for w in weights]]
    groups.append([store(rng.standard_normal(m)) for m in sizes] if bias else [])
    lows = []
    for w in weights if low else []:
        if low in FORMATS:
            values, size = FORMATS[low]
            raw = rng.integers(256, size=(len(w), d // values, size), dtype=np.uint8)
            raw[..., :4 if low == "q4_1" else 2].view("<f2")[:] = rng.uniform(0.01, 0.02)
            lows.append(raw)
        else:
            lows.append(store(np.round(w * 2) / 2))
    return x, store(basis), groups + [lows]


def run(x, basis, groups, sizes, element, weight, low, epsilon):
    tokens, (d, k) = len(x), basis.shape
    bias = bool(groups[2])
    kernels, memory = build(tokens, d, k, tuple(sizes), element, weight, bias, low, epsilon)
    outputs = [np.zeros((tokens, m), numerics.STORAGE[element]) for m in sizes]
    level = np.full(tokens, 77, np.int8)
    (words, _), (control, _) = (
        m.make(0x55555555 if m.is_control else np.nan) for m in memory)
    control.reshape(CALLS, -1)[CALL] = 0
    arrays = [x, basis] + [np.ascontiguousarray(a) for g in groups for a in g]
    kernels.call("gated", *map(whole, arrays), CALL, *map(whole, outputs), whole(level),
                 whole(words), whole(control))
    # Only its own words have changed.
    assert (np.delete(control.reshape(CALLS, -1), CALL, axis=0) == 0x55555555).all()
    return outputs, level


def check(drawn, sizes, element, weight, low=None, epsilon=EPSILON):
    x, basis, groups = drawn
    outputs, level = run(x, basis, groups, sizes, element, weight, low, epsilon)
    wide = functools.partial(numerics.load, element=weight)
    weights, images, biases = ([wide(a) for a in group] for group in groups[:3])
    lows = [dequantize(a, low) if low in FORMATS else wide(a) for a in groups[3]]
    tokens, v = numerics.load(x, element), wide(basis)
    rho = gated.residual_ratio(tokens, v)
    epsilon_low = EPSILON_LOW if low else None
    # A gate may be on either side only where rounding can put it there.
    delta = 4 * (sum(v.shape) + 8) * numerics.UNIT_ROUNDOFF["f32"]
    least = gated.gate_levels(rho - delta, epsilon, epsilon_low)
    most = gated.gate_levels(rho + delta, epsilon, epsilon_low)
    assert ((least <= level) & (level <= most)).all(), (rho, level)

    projections = list(zip(weights, images, biases or [None] * len(weights)))
    wanted = gated.gated_projection(tokens, v, projections, level, lows or None)
    for got, want, w in zip(outputs, wanted, weights, strict=True):
        with np.errstate(invalid="ignore"):
            size = np.abs(tokens).sum(axis=1, keepdims=True) * np.abs(w).max(initial=0)
        size = np.where(np.isfinite(size), size, 0)
        numerics.assert_close(got, want, element, 1e-5, floor=size)
    return level


@pytest.fixture
def rng():
    return np.random.default_rng(11)


@pytest.mark.parametrize("tokens", [1, 2, 5, 8])
@pytest.mark.parametrize("element, weight", [("f32", "f32"), ("f32", "f16"), ("f16", "f16"),
                                             ("bf16", "bf16")])
def test_elements(rng, tokens, element, weight):
    sizes = [40]
    check(draw(rng, tokens, 96, 24, sizes, element, weight, False, None), sizes, element, weight)


@pytest.fixture
def unaligned():
    """Rows and blocks that begin at odd multiples of two bytes are read in words
    all the same: gfx942 can."""
    simulated = gpu_kernels.Kernels.open()
    simulated.configure("alignment", gpu_kernels.simulator.REQUIRED)
    yield
    simulated.configure("alignment", gpu_kernels.simulator.STRICT)


@pytest.mark.parametrize("d, k, sizes", [
    (1, 1, [1]), (9, 3, [5]), (33, 1, [17]), (64, 64, [16]), (130, 17, [33]), (72, 40, [300]),
    (576, 64, [100]), (200, 130, [64]),
])
@pytest.mark.parametrize("tokens", [1, 3])
def test_sizes(rng, tokens, d, k, sizes, unaligned):
    check(draw(rng, tokens, d, k, sizes, "f16", "f16", True, None), sizes, "f16", "f16")


@pytest.mark.parametrize("tokens", [1, 4])
@pytest.mark.parametrize("low", [None, "f16", "q4_1", "q8_0"])
def test_projections_that_share_an_input(rng, tokens, low, unaligned):
    sizes = [72, 24, 24]
    seen = set()
    for share in (0, 0.15, 1):
        drawn = draw(rng, tokens, 96, 16, sizes, "f32", "f16", True, low, [share])
        seen |= set(check(drawn, sizes, "f32", "f16", low).tolist())
    assert seen == ({0, 1, 2} if low else {0, 1})


@pytest.mark.parametrize("share, level", [(0, 0), (1, 1)])
def test_all_closed_and_all_open(rng, share, level):
    sizes = [48]
    drawn = draw(rng, 8, 160, 32, sizes, "f16", "f16", False, None, [share])
    assert (check(drawn, sizes, "f16", "f16") == level).all()


@pytest.mark.parametrize("low", [None, "f16"])
def test_tokens_that_are_no_numbers_open_the_gate(rng, low):
    sizes = [20]
    x, basis, groups = draw(rng, 6, 40, 8, sizes, "f32", "f16", True, low)
    x[1], x[2, 3], x[3], x[4, 0] = 0, np.nan, np.nan, np.inf
    level = check((x, basis, groups), sizes, "f32", "f16", low)
    assert level[1] == 0 and (level[2:5] == (2 if low else 1)).all()


@pytest.mark.parametrize("size", [1e30, 1e-30])
def test_norms_beyond_f32_open_the_gate(rng, size, unaligned):
    sizes = [7]
    x, basis, groups = draw(rng, 4, 9, 3, sizes, "f32", "f32", False, None)
    v = basis.astype(np.float64)
    tokens = rng.standard_normal((4, 9))
    tokens -= tokens @ v @ v.T
    x = (tokens / np.abs(tokens).max() * size).astype(np.float32)
    assert (check((x, basis, groups), sizes, "f32", "f32") == 1).all()


# Many tokens: a graph, compiled and run as users do.


def compiled(folder, text):
    """A module of the graph, and how to call it on the simulator."""
    tools = pathlib.Path(gpu_kernels.GIST_OPT).parent
    graph, module = folder / "graph.mlir", folder / "graph.gist"
    graph.write_text(text)
    subprocess.run([tools / "gist-compile", graph, "--target=gfx942", "--context", "1024",
                    "--progress=off", "-o", module], check=True)

    def call(tokens, inputs, names):
        command = [tools / "gist-run", "call", module, "run", "--device", "hip",
                   "--hip-library", gpu_kernels.find_simulator(), "-s", f"T={tokens}",
                   "-o", folder]
        for name, array in inputs.items():
            blocks = array.dtype == np.uint8
            np.save(folder / f"{name}.in.npy", array.view(np.int8) if blocks else array)
            command += ["-i", f"{name}={folder / name}.in.npy"]
        subprocess.run(command, check=True, capture_output=True)
        return [np.load(folder / f"run.{name}.npy") for name in names]

    return call


def graph_text(tokens, d, k, sizes, element, weight, bias, low):
    x, v = tensor(element, tokens, d), tensor(weight, d, k)
    groups = {"w": [tensor(weight, m, d) for m in sizes],
              "m": [tensor(weight, m, k) for m in sizes],
              "b": [tensor(weight, m) for m in sizes] if bias else [],
              "l": [tensor(weight, m, d) for m in sizes] if low else []}
    lines, blocks = [], {}
    if low in FORMATS:
        values, size = FORMATS[low]
        blocks = {f"q{i}": tensor("i8", m, d // values, size) for i, m in enumerate(sizes)}
        groups["l"] = [tensor("f32", m, d) for m in sizes]
        lines = [f"%l{i} = gist.dequantize %{n} format {low} : {t}"
                 for i, (n, t) in enumerate(blocks.items())]
    words = {"w": "weights", "m": "images", "b": "biases", "l": f"low {EPSILON_LOW:e} "}
    arguments = {"x": x, "v": v} | {f"{n}{i}": t for n, types in groups.items()
                                    for i, t in enumerate(types) if n != "l" or not blocks}
    arguments |= blocks
    clauses = "".join(
        f" {words[n]}({', '.join(f'%{n}{i}' for i in range(len(types)))} : {', '.join(types)})"
        for n, types in groups.items() if types)
    results = {f"y{i}": tensor(element, tokens, m) for i, m in enumerate(sizes)}
    results["level"] = tensor("i8", tokens)
    values = ", ".join("%" + n for n in results)
    header = ", ".join('%{0}: {1} {{gist.name = "{0}"}}'.format(n, t) for n, t in arguments.items())
    named = ", ".join('{1} {{gist.name = "{0}"}}'.format(n, t) for n, t in results.items())
    return list(arguments), list(results), f"""
func.func @run({header}) -> ({named}) {{
  {chr(10).join(lines)}
  {values} = gist.gated_projection %x, %v, {EPSILON:e}{clauses} : {x}, {v}
  return {values} : {", ".join(results.values())}
}}"""


def check_module(call, names, results, drawn, element, weight, low):
    """Products are of 16-bit numbers here: errors are relative to rows."""
    x, basis, groups = drawn
    arrays = [x, basis] + [a for group in groups for a in group]
    *outputs, level = call(len(x), dict(zip(names, arrays, strict=True)), results)
    wide = functools.partial(numerics.load, element=weight)
    weights, images, biases = ([wide(a) for a in group] for group in groups[:3])
    lows = [dequantize(a, low) if low in FORMATS else wide(a) for a in groups[3]]
    tokens, v = numerics.load(x, element), wide(basis)
    rho = gated.residual_ratio(tokens, v)
    tolerance = {"f16": 2e-3, "bf16": 1e-2, "f32": 2e-3}[element]
    epsilon_low = EPSILON_LOW if low else None
    least = gated.gate_levels(rho - tolerance, EPSILON, epsilon_low)
    most = gated.gate_levels(rho + tolerance, EPSILON, epsilon_low)
    assert ((least <= level) & (level <= most)).all()
    projections = list(zip(weights, images, biases or [None] * len(weights)))
    wanted = gated.gated_projection(tokens, v, projections, level, lows or None)
    for got, want in zip(outputs, wanted, strict=True):
        got = numerics.load(got.view(numerics.STORAGE[element]), element)
        numbers = np.isfinite(want).all(axis=1)
        assert not np.isfinite(got[~numbers]).all(axis=1).any()
        error = np.linalg.norm(got - want, axis=1)[numbers]
        assert (error <= tolerance * np.linalg.norm(want, axis=1)[numbers] + 1e-6).all()
    return level


@pytest.mark.parametrize("element, weight, low", [
    ("f16", "f16", None), ("bf16", "bf16", None), ("f32", "f16", "f16"), ("f16", "f16", "q4_1")])
def test_many_tokens(rng, tmp_path, element, weight, low, unaligned):
    d, k, sizes, bias = 96, 24, [136, 40], low is not None
    names, results, text = graph_text("?", d, k, sizes, element, weight, bias, low)
    call = compiled(tmp_path, text)
    for tokens in (1, 2, 17, 300):
        drawn = draw(rng, tokens, d, k, sizes, element, weight, bias, low)
        drawn[0][: tokens // 8] = 0
        level = check_module(call, names, results, drawn, element, weight, low)
        assert (level[: tokens // 8] == 0).all()
    for share in (0, 1):
        drawn = draw(rng, 150, d, k, sizes, element, weight, bias, low, [share])
        level = check_module(call, names, results, drawn, element, weight, low)
        assert (level == share * (2 if low else 1)).all()
    if element == "f32":
        drawn[0][3, 5], drawn[0][77] = np.nan, np.inf
        level = check_module(call, names, results, drawn, element, weight, low)
        assert level[3] == level[77] == 2


@pytest.mark.parametrize("d, k", [(33, 1), (40, 40), (100, 12)])
def test_many_tokens_of_odd_sizes(rng, tmp_path, d, k, unaligned):
    names, results, text = graph_text("?", d, k, [17], "f16", "f16", True, None)
    call = compiled(tmp_path, text)
    drawn = draw(rng, 65, d, k, [17], "f16", "f16", True, None)
    check_module(call, names, results, drawn, "f16", "f16", None)


@pytest.mark.parametrize("tokens", [1, 8])
def test_few_tokens_as_a_module(rng, tmp_path, tokens):
    names, results, text = graph_text(tokens, 96, 24, [72, 24], "f16", "f16", True, None)
    call = compiled(tmp_path, text)
    drawn = draw(rng, tokens, 96, 24, [72, 24], "f16", "f16", True, None)
    check_module(call, names, results, drawn, "f16", "f16", None)
