# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""attention and attend on gfx942, run on the simulator, against the reference in
double precision. Lengths are around multiples of tiles; destinations start as
NaN, so that what is not written is seen."""

import numpy as np
import pytest

import scratch
from gpu_kernels import Kernels, rows, whole
from reference import numerics
from reference.attend import attend_copy, attend_keys
from reference.attention import attention
from reference.selection import record

TOLERANCE = {"f16": 2e-3, "f32": 2e-3, "bf16": 1e-2}


def draw(rng, shape, element):
    """Random numbers as they are stored, and what is stored as numbers."""
    stored = numerics.store(rng.standard_normal(shape), element)
    return stored, numerics.load(stored, element).astype(np.float64)


def blank(shape, element):
    """NaN in every place."""
    return numerics.store(np.full(shape, np.nan), element)


def check(stored, want, element="f16"):
    """Within the tolerance of the norm of each row."""
    got = numerics.load(stored, element).astype(np.float64)
    assert not np.isnan(got).any()
    norm = np.maximum(np.linalg.norm(want, axis=-1), 1e-6)
    assert (np.linalg.norm(got - want, axis=-1) / norm).max() < TOLERANCE[element]


ATTRIBUTES = "attributes {gist.kernel = #gist.kernel<kind = attention, outputs = 1>}"


def dense_text(heads, kv_heads, size, words, element="f16", value_size=None, queries="?", mask=False):
    q = f"tensor<{queries}x{heads}x{size}x{element}>"
    k = f"tensor<?x{kv_heads}x{size}x{element}>"
    v = f"tensor<?x{kv_heads}x{value_size or size}x{element}>"
    o = f"tensor<{queries}x{heads}x{value_size or size}x{element}>"
    m = f"tensor<{queries}x?xf32>"
    return f"""
func.func private @kernel(%q: {q}, %k: {k}, %v: {v}{f", %m: {m}" if mask else ""}, %out: {o})
    -> {o} {ATTRIBUTES} {{
  %r = gist.attention %q, %k, %v {f"mask(%m : {m})" if mask else ""} {words} : {q}, {k}, {v}
  return %r : {o}
}}"""


def call(text, *arguments):
    """Calls the kernel, which leaves its words of control zero."""
    memory = scratch.make(text, "gfx942", *arguments)
    Kernels(text).call("kernel", *arguments, *memory)
    for words, _ in memory[1:]:
        assert not words.any()


def run_dense(queries, keys, heads=4, kv_heads=2, size=64, words="causal", element="f16",
              value_size=None, mask=False, one=False, **reference):
    rng = np.random.default_rng(queries * 1009 + keys * 31 + size)
    value_size = value_size or size
    q, exact_q = draw(rng, (queries, heads, size), element)
    k, exact_k = draw(rng, (keys, kv_heads, size), element)
    v, exact_v = draw(rng, (keys, kv_heads, value_size), element)
    out = blank((queries, heads, value_size), element)
    first = whole if one else rows
    arguments = [first(q), rows(k), rows(v)]
    if mask:
        reference["mask"] = np.where(
            rng.random((queries, keys)) < 0.3, -np.inf, rng.standard_normal((queries, keys))
        ).astype(np.float32)
        reference["mask"][-1] = -np.inf  # sees nothing
        arguments.append((reference["mask"], [1] if one else [0, 1]))
    text = dense_text(heads, kv_heads, size, words, element, value_size, 1 if one else "?", mask)
    call(text, *arguments, first(out))
    want = attention(exact_q, exact_k, exact_v, causal="causal" in words, **reference)
    check(out, want, element)


@pytest.mark.parametrize("queries", [1, 2, 31, 63, 64, 65, 127, 128, 129])
def test_lengths(queries):
    run_dense(queries, queries)


@pytest.mark.parametrize("size", [8, 32, 64, 80, 96, 128, 256])
def test_head_sizes(size):
    run_dense(70, 90, size=size)


def test_values_of_another_size():
    run_dense(40, 40, size=40, value_size=24)


@pytest.mark.parametrize("heads,kv_heads", [(1, 1), (3, 1), (9, 3), (8, 1), (5, 5)])
def test_grouped_heads(heads, kv_heads):
    run_dense(67, 80, heads, kv_heads, 32)


@pytest.mark.parametrize("element", ["f32", "bf16"])
@pytest.mark.parametrize("one", [False, True])
def test_elements(element, one):
    run_dense(1 if one else 66, 130, element=element, one=one)


FORMS = {
    "plain": ("", dict()),
    "window": ("causal window 70", dict(window=70)),
    "narrow": ("causal window 1", dict(window=1)),
    "sinks": ("causal window 30 sinks 3", dict(window=30, sinks=3)),
    "many_sinks": ("causal window 9 sinks 70", dict(window=9, sinks=70)),
    # Scores of hundreds: all but a few weights vanish.
    "scale": ("causal scale 6.0e+0", dict(scale=6.0)),
}


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("one", [False, True])
def test_forms(name, one):
    words, reference = FORMS[name]
    run_dense(1 if one else 150, 200, 2, 2, words=words, one=one, **reference)


@pytest.mark.parametrize("words", ["", "causal", "causal window 20 sinks 2"])
@pytest.mark.parametrize("one", [False, True])
def test_masks(words, one):
    numbers = dict(window=20, sinks=2) if "window" in words else {}
    run_dense(1 if one else 50, 77, words=words, mask=True, one=one, **numbers)


@pytest.mark.parametrize("heads,kv_heads,size", [(4, 4, 256), (12, 2, 64), (16, 1, 32), (2, 2, 80)])
@pytest.mark.parametrize("keys", [1, 2, 255, 300])
def test_one_query(heads, kv_heads, size, keys):
    run_dense(1, keys, heads, kv_heads, size, one=True)


@pytest.mark.parametrize("keys", [512, 513, 1300, 9 * 512 + 1])
def test_one_query_in_parts(keys):
    """Parts of 512 keys, which the workgroup that comes last puts together, up to
    eight at once."""
    run_dense(1, keys, 3, 1, 64, one=True)


def test_one_query_of_few_keys_and_a_window():
    """A window of more keys than a part has, and a head that is not filled."""
    run_dense(1, 1400, 4, 2, 40, words="causal window 700 sinks 5", one=True, window=700, sinks=5)


def test_large_scores_do_not_overflow():
    q = np.full((5, 1, 64), 60, np.float16)
    k = np.full((70, 1, 64), 60, np.float16)
    k[::3] = -60
    v = np.random.default_rng(1).standard_normal((70, 1, 64)).astype(np.float16)
    out = blank((5, 1, 64), "f16")
    Kernels(dense_text(1, 1, 64, "causal")).call("kernel", rows(q), rows(k), rows(v), rows(out))
    check(out, attention(q, k, v))


@pytest.mark.parametrize("queries", [1, 37])
def test_cache_and_conversion(queries):
    """Keys and values in a cache of layers, and heads side by side in f32 after it."""
    heads, kv_heads, size, layer, past = 6, 2, 64, 2, 50
    total = past + queries
    t = 1 if queries == 1 else "?"
    cache = f"tensor<3x128x{kv_heads}x{size}xf16>"
    k = f"tensor<?x{kv_heads}x{size}xf16>"
    q, flat = f"tensor<{t}x{heads}x{size}xf16>", f"tensor<{t}x{heads * size}xf16>"
    out = f"tensor<{t}x{heads * size}xf32>"
    identity = "affine_map<(t, d) -> (t, d)>"
    text = f"""
func.func private @kernel(%q: {q}, %kc: {cache}, %vc: {cache}, %layer: index, %total: index,
                          %out: {out}) -> {out} {ATTRIBUTES} {{
  %k = tensor.extract_slice %kc[%layer, 0, 0, 0] [1, %total, {kv_heads}, {size}] [1, 1, 1, 1]
      : {cache} to {k}
  %v = tensor.extract_slice %vc[%layer, 0, 0, 0] [1, %total, {kv_heads}, {size}] [1, 1, 1, 1]
      : {cache} to {k}
  %a = gist.attention %q, %k, %v causal : {q}, {k}, {k}
  %c = tensor.collapse_shape %a [[0], [1, 2]] : {q} into {flat}
  %r = linalg.generic {{indexing_maps = [{identity}, {identity}],
      iterator_types = ["parallel", "parallel"]}} ins(%c : {flat}) outs(%out : {out}) {{
  ^bb0(%x: f16, %y: f32):
    %z = arith.extf %x : f16 to f32
    linalg.yield %z : f32
  }} -> {out}
  return %r : {out}
}}"""
    rng = np.random.default_rng(3)
    kc, vc = (rng.standard_normal((3, 128, kv_heads, size)).astype(np.float16) for _ in "kv")
    # Rows past the end must not be read.
    kc[:, total:] = vc[:, total:] = np.nan
    queries_ = rng.standard_normal((queries, heads, size)).astype(np.float16)
    got = np.full((queries, heads * size), np.nan, np.float32)
    first = whole if queries == 1 else rows
    call(text, first(queries_), whole(kc), whole(vc), layer, total, first(got))
    want = attention(queries_, kc[layer, :total], vc[layer, :total])
    check(got.reshape(want.shape), want, "f32")


#
# attend
#


def attend_text(heads, kv_heads, size, words, per_head, element="f16"):
    q, k = (f"tensor<?x{n}x{size}x{element}>" for n in (heads, kv_heads))
    lead = f"{kv_heads}x" if per_head else ""
    part, count = f"tensor<{lead}?xi32>", f"tensor<{kv_heads}xi32>" if per_head else "tensor<i32>"
    return f"""
func.func private @kernel(%q: {q}, %k: {k}, %v: {k}, %ids: {part}, %count: {count},
    %nearest: {part}, %weight: {part}, %out: {q}) -> {q}
    attributes {{gist.kernel = #gist.kernel<kind = attend, outputs = 1>}} {{
  %s = gist.pack_selection %ids, %count, %nearest, %weight : {part}, {count}, {part}, {part}
  %r = gist.attend %q, %k, %v on %s {words} : {q}, {k}, {k}, !gist.selection<{lead}?>
  return %r : {q}
}}"""


def draw_selection(rng, total, number, causal):
    """A random selection of about `number` representatives."""
    kept = sorted({0} | set(rng.choice(total, min(number, total), replace=False).tolist()))
    nearest = []
    for t in range(total):
        allowed = [s for s in kept if s <= t] if causal else kept
        nearest.append(t if t in kept else int(rng.choice(allowed)))
    return record(total, kept, nearest)


def run_attend(total, number, reference, words, heads=4, kv_heads=2, size=64, per_head=False,
               causal_selection=True, element="f16", selections=None, mean=False):
    rng = np.random.default_rng(total * 1009 + number * 31 + size)
    q, k, v = (draw(rng, (total, n, size), element) for n in (heads, kv_heads, kv_heads))
    selections = selections or [
        draw_selection(rng, total, number, causal_selection)
        for _ in range(kv_heads if per_head else 1)
    ]
    parts = [np.stack([np.asarray(getattr(s, name), np.int32) for s in selections])
             for name in ("ids", "nearest", "weight")]
    count = np.array([s.count for s in selections], np.int32)
    if not per_head:
        parts, count = [part[0].copy() for part in parts], count.reshape(())
    dims = [1] if per_head else [0]
    out = blank((total, heads, size), element)
    text = attend_text(heads, kv_heads, size, words, per_head, element)
    arguments = [rows(q[0]), rows(k[0]), rows(v[0]), (parts[0], dims), whole(count),
                 (parts[1], dims), (parts[2], dims)]
    shapes = [a[0].shape for a in [*arguments, rows(out)]]
    memory = [m.make(0 if m.is_control else -1, *shapes) for m in scratch.ask(text, "gfx942", 2)]
    assert bool(memory) == mean
    number = [1] * mean  # the second of two calls
    Kernels(text).call("kernel", *arguments, *number, rows(out), *memory)
    want = reference(q[1], k[1], v[1], selections if per_head else selections[0])
    check(out, want, element)


def copy(causal=True, log_count=False):
    return lambda q, k, v, s: attend_copy(q, k, v, s, causal=causal, log_count=log_count)


@pytest.mark.parametrize("total,number", [(1, 1), (2, 1), (64, 64), (129, 64), (300, 130), (300, 1)])
def test_copy(total, number):
    run_attend(total, number, copy(), "mode copy causal", heads=2)


@pytest.mark.parametrize("size", [32, 80, 256])
def test_copy_head_sizes(size):
    run_attend(150, 60, copy(), "mode copy causal", size=size)


def test_copy_per_head():
    run_attend(140, 50, copy(), "mode copy causal", heads=6, per_head=True)


def test_copy_of_groups_across_workgroups():
    """Of three rows of a group the first two are the last of a workgroup."""
    run_attend(150, 130, copy(), "mode copy causal", heads=3, kv_heads=1, size=32)


def test_copy_both_ways():
    run_attend(140, 50, copy(False), "mode copy", causal_selection=False)
    run_attend(140, 50, copy(False, True), "mode copy log_count", causal_selection=False)


@pytest.mark.parametrize("total,number", [(1, 1), (65, 20), (300, 130), (300, 1)])
@pytest.mark.parametrize("ahead", [False, True])
def test_copy_counts_up_to_the_query(total, number, ahead):
    run_attend(total, number, copy(True, True), "mode copy log_count causal",
               causal_selection=not ahead, heads=6, size=32, per_head=total == 65)


def test_copy_elements():
    run_attend(70, 30, copy(), "mode copy causal", element="bf16")
    run_attend(70, 30, copy(), "mode copy causal", element="f32")


def keys(window=0, block=1, causal=True):
    return lambda q, k, v, s: attend_keys(q, k, v, s, window, block, causal=causal)


def keys_words(window, block):
    return f"mode keys causal window {window} block {block} merge representative"


@pytest.mark.parametrize("total,number,window,block", [
    (1, 1, 0, 1), (70, 20, 16, 16), (200, 60, 0, 32), (300, 100, 30, 50), (150, 150, 300, 64),
    (260, 5, 7, 130),
])
def test_keys(total, number, window, block):
    run_attend(total, number, keys(window, block), keys_words(window, block), heads=2)


def test_keys_per_head():
    run_attend(130, 40, keys(10, 32), keys_words(10, 32), heads=6, size=32, per_head=True)


def test_keys_of_a_selection_that_looks_ahead():
    """Members before their representative count once both are old enough."""
    run_attend(160, 30, keys(16, 16), keys_words(16, 16), causal_selection=False, size=32)


def test_keys_both_ways():
    run_attend(140, 50, keys(causal=False), "mode keys merge representative",
               causal_selection=False)


def test_keys_in_several_tables():
    """More ids before the window than one table of counts has room for."""
    total = 4096 + 200
    kept = sorted(set(range(0, total, 97)) | {4095, 4096, 4097})
    near = [max(s for s in kept if s <= t) for t in range(total)]
    run_attend(total, 0, keys(64, 2200), keys_words(64, 2200), heads=1, kv_heads=1, size=8,
               selections=[record(total, kept, near)])


#
# Clusters that stand with their means
#


def means(window=0, block=1, causal=True):
    return lambda q, k, v, s: attend_keys(q, k, v, s, window, block, causal=causal, merge="mean")


def run_means(total, number, window=0, block=1, causal=True, **options):
    words = f"mode keys causal window {window} block {block}" if causal else "mode keys"
    run_attend(total, number, means(window, block, causal), words, mean=True, **options)


@pytest.mark.parametrize("total,number,window,block", [
    (1, 1, 0, 1), (70, 20, 16, 16), (200, 60, 0, 32), (300, 100, 30, 50), (150, 150, 300, 64),
    (260, 5, 7, 130), (257, 1, 3, 32),
])
def test_means(total, number, window, block):
    run_means(total, number, window, block, heads=2)


@pytest.mark.parametrize("size", [32, 80, 96, 128, 256])
def test_means_head_sizes(size):
    run_means(131, 40, 10, 32, size=size)


@pytest.mark.parametrize("heads,kv_heads", [(1, 1), (9, 3), (8, 1)])
def test_means_grouped_heads(heads, kv_heads):
    run_means(140, 30, 16, 32, heads=heads, kv_heads=kv_heads, size=32)


@pytest.mark.parametrize("causal", [True, False])
def test_means_per_head(causal):
    numbers = dict(window=10, block=32) if causal else {}
    run_means(130, 40, causal=causal, heads=6, size=32, per_head=True, **numbers)


def test_means_of_a_selection_that_looks_ahead():
    run_means(160, 30, 16, 16, causal_selection=False, size=32)


@pytest.mark.parametrize("total,number", [(1, 1), (2, 2), (140, 50), (300, 3), (300, 300)])
def test_means_both_ways(total, number):
    run_means(total, number, causal=False, causal_selection=False)


@pytest.mark.parametrize("element", ["f32", "bf16"])
def test_means_elements(element):
    run_means(90, 25, 8, 16, element=element)


def test_means_in_several_tables():
    total = 4096 + 200
    kept = sorted(set(range(0, total, 97)) | {4095, 4096, 4097})
    near = [max(s for s in kept if s <= t) for t in range(total)]
    run_means(total, 0, 64, 2200, heads=1, kv_heads=1, size=8,
              selections=[record(total, kept, near)])
