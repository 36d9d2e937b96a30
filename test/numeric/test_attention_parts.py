# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention of a single query on CPUs, whose keys come in parts of 256."""

import threading

import numpy as np
import pytest

import cpu_kernels as cpu
import scratch
from cpu_kernels import rows, whole
from test_cpu_kernels import attend, draw

PART = 256
WINDOWS = {
    "causal": {},
    "causal window 300 sinks 3": dict(window=300, sinks=3),
    "causal window 700": dict(window=700),
}


class Attention:
    """The kernel of one query, or of any number of them."""

    def __init__(self, group, heads, size, element, options, lanes, tokens="1"):
        tile = f"queries = 32, keys = 64, registers = 4, lanes = {lanes}, instruction = fma"
        self.text = cpu.attention(heads * group, heads, size, element, options, tile=tile,
                                  tokens=tokens, ahead=64)
        self.kernels = cpu.Kernels(self.text)
        self.make = whole if tokens == "1" else rows

    def __call__(self, q, k, v, threads=1, seed=None):
        """With a seed, workgroups run in an order that is drawn."""
        out = np.full(q.shape, np.nan, q.dtype)
        arguments = self.make(q), rows(k), rows(v), self.make(out)
        # What is read before it is written is NaN.
        results, control = scratch.make(self.text, "cpu", *arguments)
        function, slots, tasks = self.kernels.prepare("attention", *arguments, results, control)
        self.tasks = len(tasks)
        if seed is not None:
            np.random.default_rng(seed).shuffle(tasks)
        workers = [threading.Thread(target=lambda mine: [function(slots, *t) for t in mine],
                                    args=(tasks[i::threads],)) for i in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert not control[0].any()  # The next call finds it zero.
        return out


@pytest.mark.parametrize("options", WINDOWS)
@pytest.mark.parametrize("lanes, group, heads, size, element", [
    (16, 3, 3, 64, "f16"), (8, 7, 2, 48, "f16"), (4, 1, 1, 80, "f32")])
def test_one_query(lanes, group, heads, size, element, options):
    """As NumPy has it; the same bits whatever the order of workgroups and threads, and
    where the number of queries is not known."""
    dtype, tolerance = {"f32": (np.float32, 2e-5), "f16": (np.float16, 2e-3)}[element]
    kernels, any_number = (Attention(group, heads, size, element, options, lanes, tokens)
                           for tokens in ("1", "?"))
    rng = np.random.default_rng(lanes)
    for keys in [1, 255, 256, 257, 300, 5000]:
        q = (3 * draw(rng, 1, heads * group, size)).astype(dtype)
        k, v = (draw(rng, keys, heads, size).astype(dtype) for _ in range(2))
        # The largest scores are not all in one part, and the first one is far from most.
        k[rng.integers(keys, size=3)] *= 4
        out = kernels(q, k, v)
        assert kernels.tasks == heads * -(-keys // PART)
        expected = attend(q, k, v, causal=True, **WINDOWS[options])
        np.testing.assert_allclose(out, expected, atol=tolerance)
        np.testing.assert_array_equal(kernels(q, k, v, seed=keys), out)
        np.testing.assert_array_equal(kernels(q, k, v, threads=3, seed=keys + 1), out)
        np.testing.assert_array_equal(any_number(q, k, v, threads=2, seed=keys), out)


def test_many_queries_have_one_part():
    """Workgroups of other parts leave results alone."""
    kernel = Attention(3, 2, 32, "f16", "causal", 16, tokens="?")
    rng = np.random.default_rng(1)
    q, k, v = (draw(rng, t, h, 32).astype(np.float16) for t, h in ((37, 6), (700, 2), (700, 2)))
    out = kernel(q, k, v, threads=2, seed=1)
    np.testing.assert_allclose(out, attend(q, k, v, causal=True), atol=2e-3)


@pytest.mark.parametrize("where", [3, 255, 256, 600, 699])
def test_values_that_are_no_numbers(where):
    """A NaN and an infinity reach the columns that they are in, of the heads that see
    them, from any part, and no other."""
    kernel = Attention(2, 2, 32, "f16", "causal", 16)
    rng = np.random.default_rng(where)
    q, k, v = (draw(rng, t, h, 32).astype(np.float16) for t, h in ((1, 4), (700, 2), (700, 2)))
    clean = kernel(q, k, v)
    v[where, 1, 5], v[where, 1, 17] = np.nan, np.inf
    out = kernel(q, k, v)
    assert np.isnan(out[0, 2:, 5]).all() and not np.isfinite(out[0, 2:, 17]).any()
    out[0, 2:, [5, 17]] = clean[0, 2:, [5, 17]]
    np.testing.assert_array_equal(out, clean)


def test_rows_outside_a_window_are_not_read():
    kernel = Attention(3, 2, 32, "f32", "causal window 300 sinks 3", 8)
    rng = np.random.default_rng(2)
    q, k, v = (draw(rng, t, h, 32) for t, h in ((1, 6), (3000, 2), (3000, 2)))
    expected = kernel(q, k, v)
    k[64:3000 - 300 - 64], v[64:3000 - 300 - 64] = np.nan, np.inf
    np.testing.assert_array_equal(kernel(q, k, v), expected)


def test_scores_far_apart():
    """A part whose scores are all far below the largest counts nothing, and a part of
    -infinity is not a NaN."""
    kernel = Attention(1, 1, 32, "f32", "causal", 16)
    q, k, v = np.zeros((1, 1, 32), np.float32), *np.zeros((2, 600, 1, 32), np.float32)
    q[..., 0], k[:256, :, 0], k[256:, :, 0] = 1e4, -1e30, 1e3
    v[:] = np.arange(600)[:, None, None]
    expected = attend(q, k, v, causal=True)
    np.testing.assert_allclose(kernel(q, k, v), expected, rtol=1e-5)
    k[:256, :, 0] = -np.inf
    np.testing.assert_allclose(kernel(q, k, v), expected, rtol=1e-5)


def test_no_keys():
    """Attention that is not causal may have none: it finds nothing."""
    text = cpu.attention(6, 2, 32, "f32", "", tokens="1")
    q, out = draw(np.random.default_rng(0), 1, 6, 32), np.full((1, 6, 32), np.nan, np.float32)
    none = rows(np.zeros((0, 2, 32), np.float32))
    scratch.call(cpu.Kernels(text), text, "attention", whole(q), none, none, whole(out))
    np.testing.assert_array_equal(out, 0)
