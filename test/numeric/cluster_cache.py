# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tensors of a cache of clusters, and random plans for them."""

import dataclasses

import numpy as np

from reference.cluster_cache import HeadCache

LAYERS = 2


def state_types(rows, units, heads, width, element):
    cache = f"tensor<{rows}x{width}x{element}>"
    return [cache, cache, f"tensor<{units}x{width}x{element}>", f"tensor<{units}xf32>",
            f"tensor<{LAYERS}x{heads}xi32>"]


def update_text(q, k, table, state, block):
    """The two ops, on values named %q %k %v %heads %past %layer %s0 … %s4."""
    names = ", ".join(f"%s{i}" for i in range(5))
    parts = [f"%n{i}" for i in range(5)]
    return f"""
  {", ".join(parts)} = gist.cluster_update %k, %v, %heads, %past, %layer
      into({names}) block {block} : {k}, {k}, {table}, {", ".join(state)}
  %o = gist.cluster_attention %q, %heads, %past, %layer on(%n0, %n1, %n3, %n4) block {block}
      : {q}, {table}, {state[0]}, {state[1]}, {state[3]}, {state[4]}
"""


def function_types(layout, heads, group, width, element, queries):
    """Of queries, keys and the table, the state's, and it as arguments %s0 … %s4."""
    state = state_types(layout.rows, layout.units, heads, width, element)
    q = f"tensor<{queries}x{heads * group}x{width}x{element}>"
    k = f"tensor<{queries}x{heads}x{width}x{element}>"
    table = f"tensor<{LAYERS}x{heads}x8xf32>"
    return q, k, table, state, ", ".join(f"%s{i}: {t}" for i, t in enumerate(state))


def update_kernel(k, table, state, kept, block, absorbed="", chosen=""):
    types = ", ".join(state)
    return f"""
func.func private @update(%k: {k}, %v: {k}, %heads: {table}, %past: index, %layer: index, {kept})
    -> ({types}) attributes {{gist.kernel = #gist.kernel<kind = cluster_update, outputs = 5>{chosen}}} {{
  %n:5 = gist.cluster_update %k, %v, %heads, %past, %layer
      into(%s0, %s1, %s2, %s3, %s4) block {block} {absorbed} : {k}, {k}, {table}, {types}
  return %n#0, %n#1, %n#2, %n#3, %n#4 : {types}
}}"""


def absorb_kernel(table, state, kept, block, chosen=""):
    """Lets tokens of all layers leave."""
    types = ", ".join(state)
    return f"""
func.func private @absorb(%heads: {table}, %past: index, {kept}) -> ({types})
    attributes {{gist.kernel = #gist.kernel<kind = cluster_update, outputs = 5>{chosen}}} {{
  %n:5 = gist.cluster_absorb %heads, %past layers 0 to {LAYERS}
      into(%s0, %s1, %s2, %s3, %s4) block {block} : {table}, {types}
  return %n#0, %n#1, %n#2, %n#3, %n#4 : {types}
}}"""


def kernels_text(layout, heads, group, width, element, block, queries="?", tile=None,
                 window="", apart=False, lanes=None):
    """The two ops as kernels, @update and @attend. `apart`: @absorb does for all
    layers what an update begins with. `lanes`: numbers in a vector of a CPU."""
    window = window and f" window {window}"
    chosen = f", gist.tile = #gist.cpu_attention<{tile}>" if tile else ""
    rows = f", gist.tile = #gist.cpu_rows<rows = 1, lanes = {lanes}>" if lanes else ""
    q, k, table, state, kept = function_types(layout, heads, group, width, element, queries)
    read = ", ".join([state[0], state[1], state[3], state[4]])
    absorb = absorb_kernel(table, state, kept, block, rows) if apart else ""
    return absorb + update_kernel(k, table, state, kept, block, "absorbed" if apart else "",
                                  rows) + f"""
func.func private @attend(%q: {q}, %heads: {table}, %past: index, %layer: index, %s0: {state[0]},
    %s1: {state[1]}, %s3: {state[3]}, %s4: {state[4]}, %o: {q})
    -> {q} attributes {{gist.kernel = #gist.kernel<kind = cluster_attention, outputs = 1>{chosen}}} {{
  %r = gist.cluster_attention %q, %heads, %past, %layer on(%s0, %s1, %s3, %s4) block {block}{window}
      : {q}, {table}, {read}
  return %r : {q}
}}"""


def joined_text(layout, heads, group, width, element, block, queries="?"):
    """As batched_text, but @attend appends its rows as well: its state comes last."""
    text = batched_text(layout, heads, group, width, element, block, queries)
    q, k, table, state, kept = function_types(layout, heads, group, width, element, queries)
    types = ", ".join(state)
    read = ", ".join([state[0], state[1], state[3], state[4]])
    return text[:text.index("func.func private @attend")] + f"""
func.func private @attend(%q: {q}, %heads: {table}, %past: index, %layer: index, %k: {k}, %v: {k},
    %o: {q}, {kept})
    -> ({q}, {types}) attributes {{gist.kernel = #gist.kernel<kind = cluster_attention, outputs = 6>}} {{
  %r = gist.cluster_attention %q, %heads, %past, %layer on(%s0, %s1, %s3, %s4)
      own(%k, %v : {k}, {k}) block {block} : {q}, {table}, {read}
  %n:5 = gist.cluster_update %k, %v, %heads, %past, %layer
      into(%s0, %s1, %s2, %s3, %s4) block {block} absorbed : {k}, {k}, {table}, {types}
  return %r, %n#0, %n#1, %n#2, %n#3, %n#4 : {q}, {types}
}}"""


def batched_text(layout, heads, group, width, element, block, queries="?"):
    """The same by the ops that GPUs have for it: @absorb lets tokens of all layers
    leave, @attend reads the call's rows beside the cache, @update appends them."""
    q, k, table, state, kept = function_types(layout, heads, group, width, element, queries)
    read = ", ".join([state[0], state[1], state[3], state[4]])
    return absorb_kernel(table, state, kept, block) + update_kernel(
        k, table, state, kept, block, "absorbed") + f"""
func.func private @attend(%q: {q}, %heads: {table}, %past: index, %layer: index, %s0: {state[0]},
    %s1: {state[1]}, %s3: {state[3]}, %s4: {state[4]}, %k: {k}, %v: {k}, %o: {q})
    -> {q} attributes {{gist.kernel = #gist.kernel<kind = cluster_attention, outputs = 1>}} {{
  %r = gist.cluster_attention %q, %heads, %past, %layer on(%s0, %s1, %s3, %s4)
      own(%k, %v : {k}, {k}) block {block} : {q}, {table}, {read}
  return %r : {q}
}}"""


class Layout:
    """Regions for some heads: the table and how much memory it asks for."""

    def __init__(self, heads, context, block):
        """`heads` are HeadCache; every layer has the same ones."""
        self.table = np.zeros((LAYERS, len(heads), 8), np.float32)
        self.rows = self.units = 0
        for layer in range(LAYERS):
            for number, head in enumerate(heads):
                ring = context if head.window is None else head.window + block
                self.table[layer, number] = [
                    self.rows, ring, self.rows + ring, self.units, head.capacity,
                    -1 if head.window is None else head.window,
                    -1 if head.sinks is None else head.sinks,
                    head.theta if head.random is None else 2 + head.random]
                self.rows += ring + head.capacity
                self.units += head.capacity
        self.units = max(self.units, 1)

    def state(self, width, element):
        """Memory full of NaN: what is read before it is written is seen."""
        kind = {"f32": np.float32, "f16": np.float16}[element]
        return [np.full((self.rows, width), np.nan, kind),
                np.full((self.rows, width), np.nan, kind),
                np.full((self.units, width), np.nan, kind),
                np.full(self.units, np.nan, np.float32),
                np.zeros(self.table.shape[:2], np.int32)]


def plans(block):
    """A head of each kind."""
    return [
        HeadCache(None, block=block),
        HeadCache(2 * block, theta=0.8, capacity=64, block=block),
        HeadCache(3, theta=0.8, capacity=5, block=block),  # too little room
        HeadCache(block, sinks=3, capacity=3, block=block),
        HeadCache(0, theta=0.5, capacity=64, block=block),
        HeadCache(block - 1, random=0.3, capacity=12, block=block),
    ]


def own_window(window, block):
    """A head that sees a window because the model says so."""
    return HeadCache(window - 1, sinks=0, seen=window, block=block)


def keys_with_margin(rng, total, width, thetas, margin):
    """Rows around a few directions, none near any threshold with another."""
    while True:
        centres = rng.standard_normal((6, width))
        rows = centres[rng.integers(6, size=total)] * 2 + 0.35 * rng.standard_normal((total, width))
        rows = rows.astype(np.float16).astype(np.float64)
        unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        cos = unit @ unit.T
        # Equal rows have cosines of one, far from any threshold below it.
        bad = np.zeros(total, bool)
        for theta in thetas:
            bad |= (np.abs(cos - theta) < margin).any(axis=1)
        if not bad.any():
            return rows
        good = rows[~bad]
        if len(good) == 0:
            continue
        rows = good[rng.integers(len(good), size=total)]
        return rows


def keys_of_few(rng, total, width, margin=2e-3):
    """Rows of a few directions: to every one the others have cosines that differ
    clearly, so that it is clear which of any of them is the nearest."""
    while True:
        rows = rng.standard_normal((8, width)).astype(np.float16).astype(np.float64)
        unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        if np.diff(np.sort(unit @ unit.T, axis=1), axis=1).min() > margin:
            # Powers of two change no bit of a direction.
            return rows[rng.integers(8, size=total)] * rng.choice([0.5, 1, 2], (total, 1))


def keys(rng, heads, total, width, thetas=(0.8, 0.5), margin=5e-3):
    """total x heads x width, such that rounding moves no token."""
    return np.stack([keys_with_margin(rng, total, width, thetas, margin) if head.random is None
                     else keys_of_few(rng, total, width) for head in heads], axis=1)


def calls(rng, total, block):
    """Sizes of calls that cross no multiple of the block but at their start."""
    done, sizes = 0, []
    while done < total:
        room = min(block - done % block, total - done)
        size = int(rng.integers(1, room + 1)) if rng.random() < 0.5 else room
        sizes.append(size)
        done += size
    return sizes


def fresh(kinds):
    """NumPy's caches of these heads, empty."""
    return [dataclasses.replace(kind, keys=[], values=[], units=[], members=[])
            for kind in kinds]


def check_clusters(layout, state, layer, wants, in_all_layers):
    """Clusters, not only what they give: which tokens are in each, and the means. The other
    layer has as many, or none."""
    keys_of, values_of, units, weights, counts = state
    assert (counts[1 - layer] == (counts[layer] if in_all_layers else 0)).all()
    assert counts[layer].tolist() == [len(want.members) for want in wants]
    for h, want in enumerate(wants):
        mean, unit = layout.table[layer, h, 2:4].astype(int)
        count = len(want.members)
        assert weights[unit:unit + count].tolist() == [len(m) for m in want.members]
        if want.sinks is None and count:
            np.testing.assert_allclose(units[unit:unit + count].astype(np.float64),
                                       want.units, atol=1e-3)
        for rows, tokens in ((keys_of, want.keys), (values_of, want.values)):
            for j, members in enumerate(want.members):
                expected = np.mean([tokens[t] for t in members], axis=0)
                np.testing.assert_allclose(rows[mean + j].astype(np.float64), expected,
                                           rtol=4e-3, atol=4e-3)


def many_clusters(rng, block, total, width):
    """Heads of which nearly every token founds a cluster, and their keys: more than
    are compared at once, and a number that is not a multiple of that."""
    kinds = [HeadCache(5, theta=0.9, capacity=total, block=block),
             HeadCache(0, theta=0.9, capacity=150, block=block)]
    k = rng.standard_normal((total, 2, width))
    k[100:130] = 1.5 * k[20:50]  # These join clusters of earlier blocks.
    k[150:160] = k[140:150]  # And these of their own block.
    k[180:183] = k[179]  # And these of the token before.
    k = k.astype(np.float16)
    unit = k.astype(np.float64) / np.linalg.norm(k.astype(np.float64), axis=2, keepdims=True)
    for h in range(2):
        assert (np.abs(unit[:, h] @ unit[:, h].T - 0.9) > 2e-3).all()
    return kinds, k


def ties(order, width):
    """A head of blocks of 4, its keys, and which token is in which cluster: products that are
    equal to the bit, of clusters of an earlier block as of the same."""
    axes = np.zeros((2, width))
    axes[0, 0] = axes[1, 1] = 1
    both = axes.sum(axis=0)
    tokens = [*axes[order], both, both,  # founded and joined in one block
              both, both, both, axes[order[1]],
              both, both, both, both]
    k = np.array(tokens, np.float16)[:, None]
    return HeadCache(0, theta=0.6, capacity=4, block=4), k, [[0, 2, 3, 4, 5, 6], [1, 7]]


def without_direction(k):
    """Puts NaN, infinity and zeros into keys of 48 tokens; says where."""
    k[[1, 17], :, 3] = np.nan
    k[[2, 20], :, 0] = np.inf
    k[[5, 6, 30]] = 0
    return {1, 2, 5, 6, 17, 20, 30}
