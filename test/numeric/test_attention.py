# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""attention and attend, executed, against the reference in float64."""

import itertools

import numpy as np
import pytest

import harness
import texts
from reference import generators, numerics
from reference.attend import attend_copy, attend_keys
from reference.attention import attention
from reference.selection import gram_select, record

ELEMENTS = ["f32", "f16", "bf16"]
WIDTH, VALUE_WIDTH = 6, 5
#: Two query heads to a KV head; all to one; one to one.
HEADS = [(4, 2), (3, 1), (2, 2)]

#: words of the op -> arguments of the reference, mask, ragged
DENSE = {
    "plain": ("", dict(causal=False), False, False),
    "causal": ("causal", dict(), False, False),
    "scale": ("causal scale 2.5e-1", dict(scale=0.25), False, False),
    "window": ("causal window 3", dict(window=3), False, False),
    "one": ("causal window 1", dict(window=1), False, False),
    "sinks": ("causal window 3 sinks 2", dict(window=3, sinks=2), False, False),
    "mask": ("", dict(causal=False), True, False),
    "mask_causal": ("causal window 4 sinks 1", dict(window=4, sinks=1), True, False),
    "ragged": ("", dict(causal=False), False, True),
    "ragged_causal": ("causal window 4 sinks 1", dict(window=4, sinks=1), False, True),
    "ragged_mask": ("causal", dict(), True, True),
}


#: Every form with the first grouping of heads, three of them with the others.
DENSE_FORMS = [
    (name, heads)
    for name, heads in itertools.product(DENSE, HEADS)
    if heads == HEADS[0] or name in ("plain", "sinks", "ragged_mask")
]


@pytest.fixture(scope="module", params=ELEMENTS)
def element(request):
    return request.param


@pytest.fixture(scope="module")
def dense(element):
    text = ""
    for name, (heads, kv_heads) in DENSE_FORMS:
        words, _, mask, ragged = DENSE[name]
        text += texts.attention(
            f"{name}_{heads}_{kv_heads}",
            element,
            heads,
            kv_heads,
            WIDTH,
            VALUE_WIDTH,
            words,
            mask,
            ragged,
        )
    text += texts.attention("fixed", element, 4, 2, 7, 7, "causal", queries=5, keys=9)
    text += texts.attention("fixed_both", element, 2, 1, 3, 3, "", queries=5, keys=9)
    return harness.build(text)


def draw(
    rng,
    element,
    queries,
    keys,
    heads,
    kv_heads,
    width=WIDTH,
    value_width=VALUE_WIDTH,
    sharpness=1.0,
):
    """Queries, keys and values in storage."""
    return [
        numerics.store(rng.standard_normal(shape) * factor, element)
        for shape, factor in [
            ((queries, heads, width), sharpness),
            ((keys, kv_heads, width), 1.0),
            ((keys, kv_heads, value_width), 1.0),
        ]
    ]


def wide(arrays, element):
    return [numerics.load(a, element) for a in arrays]


def draw_mask(rng, queries, keys):
    """Zeros, biases and -infinity; some rows see nothing at all."""
    mask = rng.standard_normal((queries, keys)).astype(np.float32)
    mask[rng.random((queries, keys)) < 0.3] = -np.inf
    mask[rng.random(queries) < 0.2] = -np.inf
    return mask


def ragged_cuts(rng, queries, keys):
    """Offsets of queries and keys in which every sequence has enough keys."""
    offsets = generators.random_offsets(rng, queries)
    spare = np.sort(rng.integers(0, keys - queries + 1, size=len(offsets) - 2))
    return offsets, (offsets + np.concatenate([[0], spare, [keys - queries]])).astype(
        np.int32
    )


@pytest.mark.parametrize("name, heads", DENSE_FORMS)
def test_attention(element, dense, name, heads):
    _, options, mask, ragged = DENSE[name]
    run = getattr(dense, f"{name}_{heads[0]}_{heads[1]}")
    rng = np.random.default_rng(0)
    # Scores of several hundred overflow an exp that does not subtract the
    # maximum; small ones leave every weight alike.
    shapes = [(0, 0), (0, 4), (1, 1), (1, 9), (2, 2), (7, 7), (5, 13), (23, 40)]
    if not options.get("causal", True) and not ragged:
        shapes += [(6, 2), (3, 0)]
    for (queries, keys), sharpness in itertools.product(shapes, [1.0, 300.0, 1e-3]):
        stored = draw(rng, element, queries, keys, *heads, sharpness=sharpness)
        extra, more = [], dict(options)
        if mask:
            more["mask"] = draw_mask(rng, queries, keys)
            extra.append(more["mask"])
        if ragged:
            more["offsets"], more["key_offsets"] = ragged_cuts(rng, queries, keys)
            extra += [more["offsets"], more["key_offsets"]]
        (got,) = run(*stored, *extra)
        want = attention(*wide(stored, element), **more)
        # Rounding of a score of size s shifts its weight by s in the last place.
        rtol = 1e-5 if sharpness < 10 else 1e-3
        numerics.assert_close(got, want, element, rtol, floor=0.1)


def test_attention_with_static_sizes(element, dense):
    rng = np.random.default_rng(1)
    stored = draw(rng, element, 5, 9, 4, 2, 7, 7)
    (got,) = dense.fixed(*stored)
    numerics.assert_close(got, attention(*wide(stored, element)), element, floor=0.1)
    stored = draw(rng, element, 5, 9, 2, 1, 3, 3)
    (got,) = dense.fixed_both(*stored)
    want = attention(*wide(stored, element), causal=False)
    numerics.assert_close(got, want, element, floor=0.1)


@pytest.mark.parametrize("name", ["causal", "sinks"])
def test_what_a_query_does_not_see_cannot_spoil_it(element, dense, name):
    """NaN and infinity in keys and values stay with the queries that see them."""
    rng = np.random.default_rng(2)
    run = getattr(dense, f"{name}_4_2")
    for bad in (np.nan, np.inf):
        q, k, v = wide(draw(rng, element, 9, 9, 4, 2), element)
        k[5], v[6] = np.nan, bad
        stored = [numerics.store(a, element) for a in (q, k, v)]
        (got,) = run(*stored)
        want = attention(*wide(stored, element), **DENSE[name][1])
        assert np.isfinite(want[:5]).all() and np.isnan(want[5]).all()
        numerics.assert_close(got, want, element, floor=0.1)


COPY = {
    f"copy{'_count' * count}{'_causal' * causal}": (count, causal)
    for count, causal in itertools.product([0, 1], [0, 1])
}
WINDOWS = [(0, 1), (3, 4), (5, 1)]
KEYS = {
    f"keys_{merge}_{window}_{block}": (merge, window, block)
    for merge in ("representative", "mean")
    for window, block in [*WINDOWS, (None, None)]
}


def keys_words(merge, window, block):
    place = "" if window is None else f"causal window {window} block {block} "
    return f"mode keys {place}merge {merge}"


@pytest.fixture(scope="module")
def sparse(element):
    text = ""
    for per_head, ragged in itertools.product([0, 1], [0, 1]):
        tail = f"_{per_head}_{ragged}"
        for name, (count, causal) in COPY.items():
            words = "mode copy" + " log_count" * count + " causal" * causal
            text += texts.attend(
                name + tail, element, 4, 2, WIDTH, VALUE_WIDTH, words, per_head, ragged
            )
        for name, form in KEYS.items():
            text += texts.attend(
                name + tail,
                element,
                4,
                2,
                WIDTH,
                VALUE_WIDTH,
                keys_words(*form),
                per_head,
                ragged,
            )
    # Static sizes, an own scale, and the default of merge.
    words = "mode keys causal scale 5.0e-1 window 2 block 3"
    text += texts.attend("fixed_keys", element, 3, 1, 7, 4, words, tokens=11)
    words = "mode copy log_count causal scale 5.0e-1"
    text += texts.attend("fixed_copy", element, 3, 1, 7, 4, words, tokens=11)
    return harness.build(text)


def draw_selection(rng, total, offsets=None):
    """One selection: a covering of random rows, or any assignment at all."""
    if rng.random() < 0.5:
        x = generators.clustered(rng, total, 5)
        causal = bool(rng.integers(2))
        return gram_select(x, 0.5, causal=causal, offsets=offsets)
    nearest = np.arange(total)
    cuts = [0, total] if offsets is None else offsets
    for begin, end in zip(cuts[:-1], cuts[1:]):
        if begin == end:
            continue
        kept = begin + generators.random_set(rng, end - begin)
        if len(kept) == 0:
            kept = np.array([rng.integers(begin, end)])
        nearest[begin:end] = rng.choice(kept, size=end - begin)
        nearest[kept] = kept
    return record(total, np.unique(nearest), nearest)


def sparse_cases(element, per_head, ragged, seed):
    rng = np.random.default_rng(seed)
    for total in [0, 1, 2, 5, 12, 12, 29, 29, 29]:
        stored = draw(rng, element, total, total, 4, 2)
        cuts = generators.random_offsets(rng, total) if ragged else None
        if per_head:
            chosen = [draw_selection(rng, total, cuts) for _ in range(2)]
            parts = [np.stack([getattr(s, p) for s in chosen]) for p in texts.PARTS]
        else:
            chosen = draw_selection(rng, total, cuts)
            parts = [getattr(chosen, p) for p in texts.PARTS]
        yield stored, chosen, parts + ([cuts] if ragged else []), cuts


@pytest.mark.parametrize("per_head", [0, 1])
@pytest.mark.parametrize("ragged", [0, 1])
@pytest.mark.parametrize("name", COPY)
def test_attend_copy(element, sparse, name, per_head, ragged):
    count, causal = COPY[name]
    run = getattr(sparse, f"{name}_{per_head}_{ragged}")
    for stored, chosen, rest, cuts in sparse_cases(element, per_head, ragged, 3):
        (got,) = run(*stored, *rest)
        want = attend_copy(
            *wide(stored, element), chosen, causal, None, count, offsets=cuts
        )
        numerics.assert_close(got, want, element, floor=0.1)


@pytest.mark.parametrize("per_head", [0, 1])
@pytest.mark.parametrize("ragged", [0, 1])
@pytest.mark.parametrize("name", KEYS)
def test_attend_keys(element, sparse, name, per_head, ragged):
    merge, window, block = KEYS[name]
    run = getattr(sparse, f"{name}_{per_head}_{ragged}")
    place = {} if window is None else dict(window=window, block=block)
    for stored, chosen, rest, cuts in sparse_cases(element, per_head, ragged, 4):
        (got,) = run(*stored, *rest)
        want = attend_keys(
            *wide(stored, element),
            chosen,
            merge=merge,
            causal=window is not None,
            offsets=cuts,
            **place,
        )
        numerics.assert_close(got, want, element, floor=0.1)


def test_attend_with_static_sizes(element, sparse):
    rng = np.random.default_rng(5)
    for _ in range(4):
        stored = draw(rng, element, 11, 11, 3, 1, 7, 4)
        chosen = draw_selection(rng, 11)
        parts = [getattr(chosen, p) for p in texts.PARTS]
        (got,) = sparse.fixed_keys(*stored, *parts)
        want = attend_keys(*wide(stored, element), chosen, 2, 3, "mean", scale=0.5)
        numerics.assert_close(got, want, element, floor=0.1)
        (got,) = sparse.fixed_copy(*stored, *parts)
        want = attend_copy(*wide(stored, element), chosen, True, 0.5, True)
        numerics.assert_close(got, want, element, floor=0.1)


def test_a_prefix_is_not_changed_by_what_follows(element, sparse):
    """Decoding token t must give what prefill gave: bit for bit here, since
    one definition computes both."""
    rng = np.random.default_rng(6)
    total = 17
    stored = draw(rng, element, total, total, 4, 2)
    x = generators.clustered(rng, total, 5)
    for name in ("keys_mean_3_4", "keys_representative_0_1"):
        run = getattr(sparse, f"{name}_0_0")

        def execute(length):
            chosen = gram_select(x[:length], 0.5, causal=True)
            parts = [getattr(chosen, p) for p in texts.PARTS]
            return run(*(a[:length] for a in stored), *parts)[0]

        whole = execute(total)
        for length in range(1, total):
            np.testing.assert_array_equal(execute(length), whole[:length])
