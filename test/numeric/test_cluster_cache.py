# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A cache of clusters by its definition, call by call, against NumPy's and
against gist.attend on the whole sequence."""

import dataclasses

import numpy as np
import pytest

import cluster_cache
import harness
from reference.attend import attend_keys
from reference.selection import gram_select

BLOCK, WIDTH, GROUP, TOTAL = 8, 6, 2, 45


def build(layout, heads, element):
    state = cluster_cache.state_types(layout.rows, layout.units, heads, WIDTH, element)
    q = f"tensor<?x{heads * GROUP}x{WIDTH}x{element}>"
    k = f"tensor<?x{heads}x{WIDTH}x{element}>"
    table = f"tensor<{cluster_cache.LAYERS}x{heads}x8xf32>"
    # Results are new: the caller keeps what it gave.
    arguments = ", ".join(f"%s{i}: {t} {{bufferization.writable = false}}"
                          for i, t in enumerate(state))
    results = ", ".join([q, *state])
    return harness.build(f"""
func.func @next_tokens(%q: {q}, %k: {k}, %v: {k}, %heads: {table}, %past: index, %layer: index,
    {arguments}) -> ({results}) attributes {{llvm.emit_c_interface}} {{
  {cluster_cache.update_text(q, k, table, state, BLOCK)}
  return %o, %n0, %n1, %n2, %n3, %n4 : {results}
}}""")


@pytest.mark.parametrize("element,tolerance", [("f32", 2e-5), ("f16", 4e-3)])
@pytest.mark.parametrize("seed", range(4))
def test_calls(element, tolerance, seed):
    rng = np.random.default_rng(seed)
    kinds = cluster_cache.plans(BLOCK)
    heads = len(kinds)
    layout = cluster_cache.Layout(kinds, TOTAL, BLOCK)
    library = build(layout, heads, element)
    storage = {"f32": np.float32, "f16": np.float16}[element]
    state = layout.state(WIDTH, element)
    k = cluster_cache.keys(rng, kinds, TOTAL, WIDTH).astype(storage)
    if seed == 3:
        k[rng.integers(TOTAL, size=4), :, :] = 0  # no direction
    v = rng.standard_normal((TOTAL, heads, WIDTH)).astype(storage)
    q = rng.standard_normal((TOTAL, heads * GROUP, WIDTH)).astype(storage)
    layer, done, outputs = int(rng.integers(2)), 0, []
    wants = [dataclasses.replace(kind, keys=[], values=[], units=[], members=[])
             for kind in kinds]
    for size in cluster_cache.calls(rng, TOTAL, BLOCK):
        part = slice(done, done + size)
        got, *state = library.next_tokens(q[part], k[part], v[part], layout.table, done, layer, *state)
        for h, want in enumerate(wants):
            want.append(k[part, h], v[part, h])
            for g in range(GROUP):
                expected = want.attend(q[part, h * GROUP + g], WIDTH**-0.5)
                np.testing.assert_allclose(got[:, h * GROUP + g].astype(np.float64), expected,
                                           atol=tolerance * 4, err_msg=f"head {h} at {done}")
        outputs.append(got)
        done += size
    counts = state[4]
    assert counts[1 - layer].tolist() == [0] * heads  # the other layer is untouched
    assert counts[layer].tolist() == [len(want.members) for want in wants]
    for h, want in enumerate(wants):
        unit = int(layout.table[layer, h, 3])
        assert state[3][unit:unit + counts[layer, h]].tolist() == [len(m) for m in want.members]

    # The heads with room are gist.attend on the whole sequence.
    if seed == 3:
        return
    whole = np.concatenate(outputs)
    for h in (1, 4):
        kind = kinds[h]
        selection = gram_select(k[:, h].astype(np.float64), np.sqrt(1 - kind.theta),
                                similarity="signed", causal=True)
        expected = attend_keys(q[:, h * GROUP:(h + 1) * GROUP], k[:, h:h + 1], v[:, h:h + 1],
                               selection, window=kind.window, block=BLOCK, merge="mean")
        np.testing.assert_allclose(whole[:, h * GROUP:(h + 1) * GROUP].astype(np.float64),
                                   expected, atol=tolerance * 4)
