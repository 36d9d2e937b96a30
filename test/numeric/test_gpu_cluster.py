# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gfx942's kernels for a cache of clusters, run on the simulator call by call,
against NumPy. Memory starts as NaN, so that what is read before it is written
is seen."""

import numpy as np
import pytest

import cluster_cache
import scratch
from gpu_kernels import Kernels, rows, whole
from reference.cluster_cache import HeadCache

STORAGE = {"f32": np.float32, "f16": np.float16}
# Scores and weights of attention are multiplied in f16.
TOLERANCE = 4e-3


class Cache:
    """A cache on the simulator beside NumPy's."""

    def __init__(self, kinds, total, block, width=8, group=3, element="f16", layer=0,
                 batched=False, joined=False, window=None):
        """`batched`: tokens leave the windows of all layers in one launch, and attention
        reads the call's rows where they are. `joined`: it also puts them into the
        cache."""
        self.batched, self.joined = batched or joined, joined
        self.width, self.group, self.layer, self.done = width, group, layer, 0
        self.layout = cluster_cache.Layout(kinds, total, block)
        self.state = self.layout.state(width, element)
        self.wants = cluster_cache.fresh(kinds)
        text = (cluster_cache.joined_text if joined else
                cluster_cache.batched_text if batched else cluster_cache.kernels_text)
        more = {"window": window} if window else {}
        texts = [text(self.layout, len(kinds), group, width, element, block, queries, **more)
                 for queries in ("?", 1)]
        self.many, self.one = (Kernels(text) for text in texts)
        # The last kernel of each.
        self.attends = [text[text.index("func.func private @attend"):] for text in texts]

    def call(self, q, k, v, attend=True):
        size, table = len(k), whole(self.layout.table)
        kernels, wrap = (self.one, whole) if size == 1 else (self.many, rows)
        state = [whole(s) for s in self.state]
        own = [wrap(k), wrap(v)] if self.batched else []
        if self.batched:
            kernels.call("absorb", table, self.done, *state)
        else:
            kernels.call("update", wrap(k), wrap(v), table, self.done, self.layer, *state)
        for h, want in enumerate(self.wants):
            want.append(k[:, h], v[:, h])
        appends = attend and self.joined
        if attend:
            got = np.full(q.shape, np.nan, q.dtype)
            arguments = [wrap(q), table, self.done, self.layer]
            if appends:
                arguments += [*own, wrap(got), *state]
            else:
                arguments += [state[0], state[1], state[3], state[4], *own, wrap(got)]
            self.memory = memory = scratch.make(self.attends[size == 1], "gfx942", *arguments)
            kernels.call("attend", *arguments, *memory)
            assert not any(words.any() for words, _ in memory[1:])  # for the next call
            for h, want in enumerate(self.wants):
                for g in range(h * self.group, (h + 1) * self.group):
                    expected = want.attend(q[:, g], self.width**-0.5)
                    norm = np.linalg.norm(expected, axis=1)
                    error = np.linalg.norm(got[:, g].astype(np.float64) - expected, axis=1)
                    assert (error <= TOLERANCE * norm).all(), (h, self.done, error / norm)
        # All layers have the same tokens where all are absorbed at once.
        for layer in range(cluster_cache.LAYERS if self.batched else 0):
            if appends and layer == self.layer:
                continue
            kernels.call("update", wrap(k), wrap(v), table, self.done, layer, *state)
        self.done += size

    def check(self):
        cluster_cache.check_clusters(self.layout, self.state, self.layer, self.wants,
                                     in_all_layers=self.batched)


def draw(rng, total, kinds, group, width, element):
    heads = len(kinds)
    k = cluster_cache.keys(rng, kinds, total, width).astype(STORAGE[element])
    v = rng.standard_normal((total, heads, width)).astype(STORAGE[element])
    q = rng.standard_normal((total, heads * group, width)).astype(STORAGE[element])
    return q, k, v


@pytest.mark.parametrize("form", [{}, {"batched": True}, {"joined": True}])
@pytest.mark.parametrize("element", ["f16", "f32"])
@pytest.mark.parametrize("seed", [pytest.param(0, marks=pytest.mark.full), 1, 2])
def test_calls(element, seed, form):
    """A head of each kind, calls of any size, rows without direction."""
    rng = np.random.default_rng(seed)
    block, total = 16, 85
    kinds = cluster_cache.plans(block)
    q, k, v = draw(rng, total, kinds, 3, 8, element)
    if seed == 2:
        k[rng.integers(total, size=4)] = 0
    cache = Cache(kinds, total, block, element=element, layer=seed % 2, **form)
    for size in cluster_cache.calls(rng, total, block):
        part = slice(cache.done, cache.done + size)
        cache.call(q[part], k[part], v[part])
    cache.check()


@pytest.mark.parametrize("width, block, total, window", [(8, 16, 85, 21), (8, 16, 85, 5),
                                                         (64, 128, 300, 70)])
def test_windows(width, block, total, window):
    """Windows that the model has, longer and shorter than a block."""
    rng = np.random.default_rng(window)
    kinds = [cluster_cache.own_window(window, block)] * 2
    q, k, v = draw(rng, total, kinds, 2, width, "f16")
    cache = Cache(kinds, total, block, width, group=2, window=window)
    for size in cluster_cache.calls(rng, total, block):
        part = slice(cache.done, cache.done + size)
        cache.call(q[part], k[part], v[part])


@pytest.mark.parametrize("form", [{}, {"joined": True}])
@pytest.mark.parametrize("width,block,total,group", [
    (64, 128, 371, 3),
    (128, 128, 260, 1),  # a block is absorbed in parts
    (40, 24, 70, 2),  # neither a tile's width nor its tokens
])
def test_sizes(width, block, total, group, form):
    rng = np.random.default_rng(width)
    kinds = [HeadCache(block // 2, theta=0.8, capacity=total, block=block),
             HeadCache(None, block=block),
             HeadCache(9, theta=0.5, capacity=total // 20, block=block),
             HeadCache(7, random=0.4, capacity=total, block=block)]
    q, k, v = draw(rng, total, kinds, group, width, "f16")
    cache = Cache(kinds, total, block, width, group, **form)
    for size in [block, block - 1, 1, total - 2 * block - 1, 1]:
        part = slice(cache.done, cache.done + size)
        cache.call(q[part], k[part], v[part])
    cache.check()


def test_many_clusters():
    rng = np.random.default_rng(7)
    block, total, width = 32, 230, 16
    kinds, k = cluster_cache.many_clusters(rng, block, total, width)
    v = rng.standard_normal(k.shape).astype(np.float16)
    q = rng.standard_normal(k.shape).astype(np.float16)
    cache = Cache(kinds, total, block, width, 1)
    for begin in range(0, total, block):
        part = slice(begin, min(begin + block, total))
        cache.call(q[part], k[part], v[part], attend=begin + block >= total)
    assert len(cache.wants[0].members) > 128
    assert len(cache.wants[1].members) == 150  # full
    cache.check()


def test_rows_without_direction():
    """NaN, infinity and zeros found clusters of unit zero while there is room,
    and are dropped afterwards."""
    rng = np.random.default_rng(1)
    block, total, width = 16, 48, 8
    kinds = [HeadCache(0, theta=0.8, capacity=c, block=block) for c in (40, 6)]
    _, k, v = draw(rng, total, kinds, 1, width, "f16")
    rows_without = cluster_cache.without_direction(k)
    cache = Cache(kinds, total, block, width, 1)
    for begin in range(0, total, block):
        part = slice(begin, begin + block)
        cache.call(None, k[part], v[part], attend=False)
    cache.check()
    founded = {t for members in cache.wants[0].members for t in members[:1]}
    assert rows_without & set(range(32)) <= founded


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_ties(order):
    """Products that are equal to the bit: the first cluster wins, one of an
    earlier block as one of the same."""
    block, width = 4, 8
    head, k, members = cluster_cache.ties(order, width)
    v = np.arange(k.size, dtype=np.float16).reshape(k.shape) / 64
    cache = Cache([head], len(k), block, width, 1)
    for begin in range(0, len(k), block):
        cache.call(None, k[begin:begin + block], v[begin:begin + block], attend=False)
    assert cache.wants[0].members == members
    cache.check()


@pytest.mark.parametrize("width", [64, 136])
def test_parts_of_keys(width):
    """A head that sees all tokens beside one that sees few: the keys of its blocks of
    queries are cut into parts. Heads of 136 are neither a tile's columns nor do
    threads share their chunks evenly."""
    rng = np.random.default_rng(width)
    block, total, group = 32, 1190, 1
    kinds = [HeadCache(None, block=block), HeadCache(20, sinks=4, capacity=4, block=block)]
    q, k, v = draw(rng, total, kinds, group, width, "f16")
    cache = Cache(kinds, total, block, width, group, joined=True)
    for begin in range(0, total, block):
        part = slice(begin, min(begin + block, total))
        cache.call(q[part], k[part], v[part], attend=begin + block >= total)
    assert np.isfinite(cache.memory[0][0][1]).any()  # a second part was handed in
    cache.check()


@pytest.mark.parametrize("form", [{}, {"joined": True}])
def test_one_query_of_many_keys(form):
    """A long ring that wraps, then single tokens over a block's end."""
    rng = np.random.default_rng(3)
    block, total, width, group = 64, 330, 32, 8
    kinds = [HeadCache(70, theta=0.8, capacity=50, block=block),
             HeadCache(100, sinks=4, capacity=4, block=block)]
    q, k, v = draw(rng, total, kinds, group, width, "f16")
    cache = Cache(kinds, total, block, width, group, **form)
    for begin in range(0, 5 * block, block):
        end = min(begin + block, 5 * block - 2)
        cache.call(q[begin:end], k[begin:end], v[begin:end], attend=begin == 64)
    while cache.done < total - 4:
        part = slice(cache.done, cache.done + 1)
        cache.call(q[part], k[part], v[part])
    cache.check()
