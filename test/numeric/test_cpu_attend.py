# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention on representatives as kernels for the CPU, against NumPy."""

import functools

import numpy as np
import pytest

from cpu_kernels import Kernels, rows, whole
from cpu_selection import part
from reference import generators, numerics
from reference.attend import attend_copy, attend_keys
from reference.selection import gram_select, record


def kernel_text(options, element, heads, kv_heads, d, e, per_head):
    q, k, v, o = (f"tensor<?x{h}x{w}x{element}>"
                  for h, w in ((heads, d), (kv_heads, d), (kv_heads, e), (heads, e)))
    lead = f"{kv_heads}x" if per_head else ""
    parts = f"tensor<{lead}?xi32>", f"tensor<{lead[:-1] + 'x' if per_head else ''}i32>"
    return f"""
func.func private @attend(%q: {q}, %k: {k}, %v: {v}, %i: {parts[0]}, %c: {parts[1]},
    %n: {parts[0]}, %w: {parts[0]}, %o: {o}) -> {o}
    attributes {{gist.kernel = #gist.kernel<kind = attend, outputs = 1>}} {{
  %s = gist.pack_selection %i, %c, %n, %w : {parts[0]}, {parts[1]}, {parts[0]}, {parts[0]}
  %r = gist.attend %q, %k, %v on %s {options} : {q}, {k}, {v}, !gist.selection<{lead}?>
  return %r : {o}
}}
"""


@functools.lru_cache(maxsize=None)
def build(*form):
    return Kernels(kernel_text(*form))


def run(options, element, q, k, v, selection):
    """`selection`: one, or a list of one for each KV head."""
    per_head = isinstance(selection, list)
    kernels = build(options, element, q.shape[1], k.shape[1], k.shape[2], v.shape[2], per_head)
    chosen = selection if per_head else [selection]
    parts = [np.stack([np.asarray(getattr(s, name)) for s in chosen]).astype(np.int32)
             for name in ("ids", "count", "nearest", "weight")]
    if not per_head:
        parts = [p[0] for p in parts]
    out = np.full((len(q), q.shape[1], v.shape[2]), np.nan)
    out = numerics.store(out, element)
    arguments = [rows(numerics.store(x, element)) for x in (q, k, v)]
    arguments += [part(parts[0]), whole(np.asarray(parts[1], np.int32)), part(parts[2]),
                  part(parts[3]), rows(out)]
    kernels.call("attend", *arguments)
    return numerics.load(arguments[-1][0], element)


def inputs(rng, total, element="f32", heads=6, kv_heads=2, d=16, e=8):
    made = [rng.standard_normal((total, h, w)) for h, w in
            ((heads, d), (kv_heads, d), (kv_heads, e))]
    return [numerics.round_to(x, element) for x in made]


def some_selection(rng, total, causal=True):
    x = generators.clustered(rng, total, 12, clusters=max(2, total // 6), spread=0.3)
    return gram_select(x, 0.5, "kept", causal=causal)


TOLERANCE = {"f32": 2e-5, "f16": 4e-3}


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.mark.parametrize("total", [1, 2, 31, 33, 150])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("log_count", [False, True])
def test_copy(rng, total, causal, log_count):
    q, k, v = inputs(rng, total)
    for selection in (some_selection(rng, total, causal),
                      [some_selection(rng, total, causal) for _ in range(2)],
                      record(total, range(total), range(total)),
                      record(total, [0], [0] * total)):
        options = "mode copy" + " log_count" * log_count + " causal" * causal
        got = run(options, "f32", q, k, v, selection)
        want = attend_copy(q, k, v, selection, causal, log_count=log_count)
        np.testing.assert_allclose(got, want, atol=TOLERANCE["f32"])


@pytest.mark.parametrize("total", [1, 2, 31, 33, 150])
@pytest.mark.parametrize("merge", ["mean", "representative"])
def test_keys_both_ways(rng, total, merge):
    q, k, v = inputs(rng, total)
    for selection in (some_selection(rng, total, False),
                      [some_selection(rng, total, False) for _ in range(2)],
                      record(total, range(total), range(total))):
        got = run(f"mode keys merge {merge}", "f32", q, k, v, selection)
        want = attend_keys(q, k, v, selection, merge=merge, causal=False)
        np.testing.assert_allclose(got, want, atol=TOLERANCE["f32"])


@pytest.mark.parametrize("window,block", [(0, 1), (5, 3), (16, 16), (8, 32), (40, 64)])
@pytest.mark.parametrize("merge", ["mean", "representative"])
@pytest.mark.parametrize("element", ["f32", pytest.param("f16", marks=pytest.mark.full)])
def test_keys_causal(rng, window, block, merge, element):
    for total in (1, 33, 170):
        q, k, v = inputs(rng, total, element)
        for selection in (some_selection(rng, total),
                          [some_selection(rng, total) for _ in range(2)]):
            got = run(f"mode keys causal window {window} block {block} merge {merge}", element,
                      q, k, v, selection)
            want = attend_keys(q, k, v, selection, window, block, merge)
            np.testing.assert_allclose(got, want, atol=TOLERANCE[element])


def test_members_that_look_ahead(rng):
    """A token whose representative is in its future belongs to a cluster when
    that one has left the window, too."""
    q, k, v = inputs(rng, 90)
    selection = some_selection(rng, 90, causal=False)
    assert (selection.nearest > np.arange(90)).any()
    got = run("mode keys causal window 8 block 16", "f32", q, k, v, selection)
    want = attend_keys(q, k, v, selection, 8, 16, "mean")
    np.testing.assert_allclose(got, want, atol=TOLERANCE["f32"])


def test_many_clusters(rng):
    """More than one step of keys, heads of the size that models have."""
    q, k, v = inputs(rng, 400, "f16", 3, 1, 64, 64)
    selection = some_selection(rng, 400)
    assert selection.count > 40
    for options, want in (
            ("mode keys causal window 32 block 32", attend_keys(q, k, v, selection, 32, 32, "mean")),
            ("mode copy log_count causal", attend_copy(q, k, v, selection, log_count=True))):
        got = run(options, "f16", q, k, v, selection)
        np.testing.assert_allclose(got, want, atol=TOLERANCE["f16"])
