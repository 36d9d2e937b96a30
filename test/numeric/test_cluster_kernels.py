# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The CPU's kernels for a cache of clusters, call by call, against NumPy."""

import dataclasses

import numpy as np
import pytest

import cluster_cache
from cpu_kernels import Kernels, has_bf16, rows, whole

BLOCK, WIDTH, GROUP, TOTAL = 16, 8, 3, 101


PAIRED = "queries = 32, keys = 64, registers = 8, lanes = 4, instruction = bfmmla"


# bf16 keeps 8 bits of queries, keys, values and weights.
@pytest.mark.parametrize("element,tolerance,tile", [
    ("f32", 5e-5, None), ("f16", 1.6e-2, None),
    pytest.param("f16", 6e-2, PAIRED, marks=pytest.mark.skipif(
        not has_bf16(), reason="this CPU has no bfmmla"))])
@pytest.mark.parametrize("window", [None, 21])
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.full)
                                       for seed in (1, 2)), 3])
def test_calls(element, tolerance, tile, seed, window):
    """Heads of every kind, or a window that the model has."""
    rng = np.random.default_rng(seed)
    kinds = cluster_cache.plans(BLOCK)
    if window:
        kinds = [cluster_cache.own_window(window, BLOCK)] * 2
    heads = len(kinds)
    layout = cluster_cache.Layout(kinds, TOTAL, BLOCK)
    kernels = Kernels(cluster_cache.kernels_text(layout, heads, GROUP, WIDTH, element, BLOCK,
                                                 tile=tile, window=window or ""))
    storage = {"f32": np.float32, "f16": np.float16}[element]
    state = layout.state(WIDTH, element)
    k = cluster_cache.keys(rng, kinds, TOTAL, WIDTH).astype(storage)
    if seed == 3:
        k[rng.integers(TOTAL, size=4), :, :] = 0  # no direction
    v = rng.standard_normal((TOTAL, heads, WIDTH)).astype(storage)
    q = rng.standard_normal((TOTAL, heads * GROUP, WIDTH)).astype(storage)
    layer, done = int(rng.integers(2)), 0
    wants = [dataclasses.replace(kind, keys=[], values=[], units=[], members=[])
             for kind in kinds]
    for size in cluster_cache.calls(rng, TOTAL, BLOCK):
        part = slice(done, done + size)
        kernels.call("update", rows(k[part]), rows(v[part]), whole(layout.table), done, layer,
                     *(whole(s) for s in state))
        got = np.full(q[part].shape, np.nan, storage)
        kernels.call("attend", rows(q[part]), whole(layout.table), done, layer, whole(state[0]),
                     whole(state[1]), whole(state[3]), whole(state[4]), rows(got))
        for h, want in enumerate(wants):
            want.append(k[part, h], v[part, h])
            for g in range(GROUP):
                expected = want.attend(q[part, h * GROUP + g], WIDTH**-0.5)
                np.testing.assert_allclose(got[:, h * GROUP + g].astype(np.float64), expected,
                                           atol=tolerance, err_msg=f"head {h} at {done}")
        done += size
    assert state[4][1 - layer].tolist() == [0] * heads
    assert state[4][layer].tolist() == [len(want.members) for want in wants]
    for h, want in enumerate(wants):
        unit = int(layout.table[layer, h, 3])
        assert state[3][unit:unit + len(want.members)].tolist() == [len(m) for m in want.members]
