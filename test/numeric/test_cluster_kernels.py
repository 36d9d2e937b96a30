# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The CPU's kernels for a cache of clusters, call by call, against NumPy."""

import numpy as np
import pytest

import cluster_cache
import scratch
from cpu_kernels import Kernels, has_bf16, rows, whole
from reference.cluster_cache import HeadCache

BLOCK, WIDTH, GROUP, TOTAL = 16, 8, 3, 101
STORAGE = {"f32": np.float32, "f16": np.float16}


PAIRED = "queries = 32, keys = 64, registers = 8, lanes = 4, instruction = bfmmla"
# An update does all of it, or tokens leave the windows of all layers at once; with
# vectors of the machine, or of another one.
FORMS = [{}, {"apart": True}, {"apart": True, "lanes": 8}, {"lanes": 16}]


class Cache:
    """A cache of the CPU's kernels beside NumPy's."""

    def __init__(self, kinds, total, block, width, group=GROUP, element="f16", layer=0,
                 apart=False, queries="?", **more):
        """With `queries`, each call has so many tokens."""
        self.apart, self.layer, self.width, self.group = apart, layer, width, group
        self.rows = rows if queries == "?" else whole
        self.layout = cluster_cache.Layout(kinds, total, block)
        text = cluster_cache.kernels_text(self.layout, len(kinds), group, width, element, block,
                                          queries, apart=apart, **more)
        self.kernels = Kernels(text)
        self.attention = text[text.index("func.func private @attend"):]
        self.state = self.layout.state(width, element)
        self.wants = cluster_cache.fresh(kinds)
        self.done = 0

    def call(self, k, v):
        table, state = whole(self.layout.table), [whole(s) for s in self.state]
        if self.apart:
            self.kernels.call("absorb", table, self.done, *state)
        # All layers have the same tokens where all are absorbed at once.
        for layer in range(cluster_cache.LAYERS) if self.apart else [self.layer]:
            self.kernels.call("update", self.rows(k), self.rows(v), table, self.done, layer,
                              *state)
        for h, want in enumerate(self.wants):
            want.append(k[:, h], v[:, h])
        self.past, self.done = self.done, self.done + len(k)

    def attend(self, q, tolerance):
        got = np.full(q.shape, np.nan, q.dtype)
        scratch.call(self.kernels, self.attention, "attend", self.rows(q),
                     whole(self.layout.table), self.past, self.layer,
                     *(whole(self.state[i]) for i in (0, 1, 3, 4)), self.rows(got))
        for h, want in enumerate(self.wants):
            for g in range(h * self.group, (h + 1) * self.group):
                expected = want.attend(q[:, g], self.width**-0.5)
                np.testing.assert_allclose(got[:, g].astype(np.float64), expected,
                                           atol=tolerance, err_msg=f"head {h} at {self.past}")

    def check(self):
        cluster_cache.check_clusters(self.layout, self.state, self.layer, self.wants,
                                     in_all_layers=self.apart)


# bf16 keeps 8 bits of queries, keys, values and weights.
@pytest.mark.parametrize("element,tolerance,tile", [
    ("f32", 5e-5, None), ("f16", 1.6e-2, None),
    pytest.param("f16", 6e-2, PAIRED, marks=pytest.mark.skipif(
        not has_bf16(), reason="this CPU has no bfmmla"))])
@pytest.mark.parametrize("window", [None, 21])
# Clusters that are drawn at random have nearly equal units, of which rounding chooses
# one: with the seeds 10 and 3 x86-64 chooses as the reference does.
@pytest.mark.parametrize("seed", [10, *(pytest.param(seed, marks=pytest.mark.full)
                                        for seed in (0, 1, 2)), 3])
def test_calls(element, tolerance, tile, seed, window):
    """Heads of every kind, or a window that the model has."""
    rng = np.random.default_rng(seed)
    kinds = cluster_cache.plans(BLOCK)
    if window:
        kinds = [cluster_cache.own_window(window, BLOCK)] * 2
    heads, storage = len(kinds), STORAGE[element]
    k = cluster_cache.keys(rng, kinds, TOTAL, WIDTH).astype(storage)
    if seed == 3:
        k[rng.integers(TOTAL, size=4), :, :] = 0  # no direction
    v = rng.standard_normal((TOTAL, heads, WIDTH)).astype(storage)
    q = rng.standard_normal((TOTAL, heads * GROUP, WIDTH)).astype(storage)
    cache = Cache(kinds, TOTAL, BLOCK, WIDTH, element=element, layer=int(rng.integers(2)),
                  apart=seed % 2 == 1, tile=tile, window=window or "")
    for size in cluster_cache.calls(rng, TOTAL, BLOCK):
        part = slice(cache.done, cache.done + size)
        cache.call(k[part], v[part])
        cache.attend(q[part], tolerance)
    cache.check()


@pytest.mark.parametrize("form", FORMS)
def test_many_clusters(form):
    rng = np.random.default_rng(7)
    block, total, width = 32, 230, 48
    kinds, k = cluster_cache.many_clusters(rng, block, total, width)
    v = rng.standard_normal(k.shape).astype(np.float16)
    cache = Cache(kinds, total, block, width, **form)
    for begin in range(0, total, block):
        cache.call(k[begin:begin + block], v[begin:begin + block])
    assert len(cache.wants[0].members) > 128
    assert len(cache.wants[1].members) == 150  # full
    cache.check()


@pytest.mark.parametrize("form", FORMS)
def test_rows_without_direction(form):
    """They found clusters of unit zero while there is room, and are dropped then."""
    rng = np.random.default_rng(1)
    total, width = 48, 24
    kinds = [HeadCache(0, theta=0.8, capacity=c, block=BLOCK) for c in (40, 6)]
    k = cluster_cache.keys(rng, kinds, total, width).astype(np.float16)
    rows_without = cluster_cache.without_direction(k)
    v = rng.standard_normal(k.shape).astype(np.float16)
    cache = Cache(kinds, total, BLOCK, width, **form)
    for begin in range(0, total, BLOCK):
        cache.call(k[begin:begin + BLOCK], v[begin:begin + BLOCK])
    cache.check()
    founded = {t for members in cache.wants[0].members for t in members[:1]}
    assert rows_without & set(range(32)) <= founded


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_ties(order, form):
    """The first cluster wins."""
    head, k, members = cluster_cache.ties(order, width=16)
    v = np.arange(k.size, dtype=np.float16).reshape(k.shape) / 64
    cache = Cache([head], len(k), 4, 16, **form)
    for begin in range(0, len(k), 4):
        cache.call(k[begin:begin + 4], v[begin:begin + 4])
    assert cache.wants[0].members == members
    cache.check()


@pytest.mark.parametrize("lanes", [4, 16])
def test_single_tokens(lanes):
    """Heads of every kind, one token at a time, over the ends of blocks."""
    rng = np.random.default_rng(lanes)
    kinds, total, width = cluster_cache.plans(BLOCK), 100, 32
    k = cluster_cache.keys(rng, kinds, total, width).astype(np.float16)
    v = rng.standard_normal(k.shape).astype(np.float16)
    q = rng.standard_normal((total, len(kinds) * GROUP, width)).astype(np.float16)
    tile = f"queries = 32, keys = 64, registers = 4, lanes = {lanes}, instruction = fma"
    cache = Cache(kinds, total, BLOCK, width, queries=1, tile=tile, apart=lanes == 16)
    for token in range(total):
        part = slice(token, token + 1)
        cache.call(k[part], v[part])
        cache.attend(q[part], 1.6e-2)
    cache.check()
