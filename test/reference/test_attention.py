# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention in the reference: known cases, and forms that must agree."""

import numpy as np
import pytest

from reference import generators
from reference.attend import attend_copy, attend_keys
from reference.attention import attention
from reference.selection import gram_select, record


def inputs(rng, queries, keys, heads=4, kv_heads=2, width=6, value_width=5):
    q = rng.standard_normal((queries, heads, width))
    k = rng.standard_normal((keys, kv_heads, width))
    v = rng.standard_normal((keys, kv_heads, value_width))
    return q, k, v


def keep_all(total):
    return record(total, range(total), range(total))


def test_one_key_is_its_value():
    q, k, v = inputs(np.random.default_rng(0), 1, 1)
    np.testing.assert_allclose(attention(q, k, v)[0], np.repeat(v[0], 2, axis=0))


def test_softmax_by_hand():
    q = np.array([[[2.0]]])
    k = np.array([[[0.0]], [[np.log(3) / 2]]])
    v = np.array([[[0.0]], [[1.0]]])
    assert attention(q, k, v, scale=1.0)[0, 0, 0] == pytest.approx(0.75)


def test_queries_are_the_last_positions():
    q, k, v = inputs(np.random.default_rng(1), 9, 9)
    whole = attention(q, k, v, window=4, sinks=1)
    last = attention(q[6:], k, v, window=4, sinks=1)
    np.testing.assert_allclose(last, whole[6:])


def test_window_and_sinks_are_a_mask():
    q, k, v = inputs(np.random.default_rng(2), 8, 8)
    t, s = np.indices((8, 8))
    seen = (s <= t) & ((s > t - 3) | (s < 2))
    mask = np.where(seen, 0, -np.inf)
    got = attention(q, k, v, window=3, sinks=2)
    np.testing.assert_allclose(got, attention(q, k, v, causal=False, mask=mask))


def test_a_query_that_sees_nothing_gives_zeros():
    q, k, v = inputs(np.random.default_rng(3), 2, 3)
    mask = np.zeros((2, 3))
    mask[1] = -np.inf
    got = attention(q, k, v, causal=False, mask=mask)
    assert (got[1] == 0).all() and (got[0] != 0).all()


def test_ragged_is_each_sequence_alone():
    q, k, v = inputs(np.random.default_rng(4), 7, 10)
    got = attention(q, k, v, offsets=[0, 3, 3, 7], key_offsets=[0, 5, 6, 10])
    np.testing.assert_allclose(got[:3], attention(q[:3], k[:5], v[:5]))
    np.testing.assert_allclose(got[3:], attention(q[3:], k[6:], v[6:]))


@pytest.mark.parametrize("causal", [False, True])
def test_keeping_all_is_dense_attention(causal):
    q, k, v = inputs(np.random.default_rng(5), 11, 11)
    want = attention(q, k, v, causal=causal)
    chosen = keep_all(11)
    np.testing.assert_allclose(attend_copy(q, k, v, chosen, causal=causal), want)
    for merge in ("representative", "mean"):
        got = attend_keys(q, k, v, chosen, 2, 3, merge, causal=causal)
        np.testing.assert_allclose(got, want)


def test_a_window_over_everything_is_dense_attention():
    q, k, v = inputs(np.random.default_rng(6), 11, 11)
    chosen = record(11, [0], [0] * 11)
    got = attend_keys(q, k, v, chosen, window=11, block=1)
    np.testing.assert_allclose(got, attention(q, k, v))


@pytest.mark.parametrize("merge", ["representative", "mean"])
@pytest.mark.parametrize("causal", [False, True])
def test_merging_equal_tokens_changes_nothing(merge, causal):
    # Equal keys and values, so n copies are exactly one with log n added.
    rng = np.random.default_rng(7)
    kind = rng.integers(3, size=13)
    q, k, v = inputs(rng, 13, 13)
    k, v = k[kind], v[kind]
    first = [int(np.flatnonzero(kind == c)[0]) for c in kind]
    chosen = record(13, set(first), first)
    got = attend_keys(q, k, v, chosen, 1, 2, merge, causal)
    np.testing.assert_allclose(got, attention(q, k, v, causal=causal))


def test_copy_with_equal_tokens():
    rng = np.random.default_rng(8)
    kind = np.array([0, 1, 0, 0, 2, 1])
    q, k, v = inputs(rng, 6, 6)
    q, k, v = q[kind], k[kind], v[kind]
    chosen = record(6, [0, 1, 4], [0, 1, 0, 0, 4, 1])
    counted = attend_copy(q, k, v, chosen, causal=False, log_count=True)
    np.testing.assert_allclose(counted, attention(q, k, v, causal=False))
    # Representative 4 sees members 0, 2, 3 of 0, one of 1 and itself.
    causal = attend_copy(q, k, v, chosen, log_count=True)
    np.testing.assert_allclose(causal[4], attention(q[:5], k[:5], v[:5])[4])
    np.testing.assert_array_equal(causal[[0, 2, 3]], causal[[0, 0, 0]])


@pytest.mark.parametrize("merge", ["representative", "mean"])
def test_decoding_gives_what_prefill_gives(merge):
    rng = np.random.default_rng(9)
    for total, window, block in [(1, 0, 1), (9, 0, 4), (14, 3, 4), (20, 5, 1)]:
        q, k, v = inputs(rng, total, total)
        keys = generators.clustered(rng, total, 5)
        whole = gram_select(keys, 0.5, causal=True, similarity="signed")
        prefill = attend_keys(q, k, v, whole, window, block, merge)
        for t in range(total):
            # Only what is known at step t: the selection of a prefix is the
            # prefix of the selection, because it is causal and greedy.
            so_far = gram_select(keys[: t + 1], 0.5, causal=True, similarity="signed")
            step = attend_keys(
                q[t : t + 1], k[: t + 1], v[: t + 1], so_far, window, block, merge
            )
            np.testing.assert_allclose(step[0], prefill[t], rtol=1e-12)


def test_one_selection_per_kv_head():
    rng = np.random.default_rng(10)
    q, k, v = inputs(rng, 10, 10)
    chosen = [gram_select(k[:, g], 0.8, causal=True) for g in range(2)]
    assert list(chosen[0].ids) != list(chosen[1].ids)
    for run in (attend_copy, attend_keys):
        got = run(q, k, v, chosen)
        np.testing.assert_allclose(got[:, :2], run(q, k, v, chosen[0])[:, :2])
        np.testing.assert_allclose(got[:, 2:], run(q, k, v, chosen[1])[:, 2:])


def test_ragged_attend_is_each_sequence_alone():
    rng = np.random.default_rng(11)
    q, k, v = inputs(rng, 12, 12)
    x = generators.clustered(rng, 12, 6)
    cuts = [0, 5, 12]
    whole = gram_select(x, 0.5, causal=True, offsets=cuts)
    for run in (attend_copy, lambda *a, **o: attend_keys(*a, 2, 3, "mean", **o)):
        got = run(q, k, v, whole, offsets=cuts)
        for a, b in zip(cuts[:-1], cuts[1:]):
            part = gram_select(x[a:b], 0.5, causal=True)
            np.testing.assert_allclose(got[a:b], run(q[a:b], k[a:b], v[a:b], part))
