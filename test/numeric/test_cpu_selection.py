# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Selections as kernels for the CPU, checked as certificates against NumPy."""

import numpy as np
import pytest

from cpu_selection import run
from reference import certificate, generators, numerics
from reference.selection import Selection, gram_select, record, usable_rows


def rounded(x, element):
    return numerics.round_to(x, element)


def check(x, element="f32", rule="kept", tau=0.3, similarity="absolute", causal=True, **more):
    ((got,),) = run(x, element, rule, tau=tau, similarity=similarity, causal=causal, **more)
    certificate.check_selection(x, tau, got, rule, similarity, causal)
    return got


@pytest.fixture
def rng():
    """Every test draws from its own, whichever tests ran before it."""
    return np.random.default_rng(5)


@pytest.mark.parametrize("rule", ["all", "kept"])
@pytest.mark.parametrize("total", [1, 2, 31, 32, 33, 35, 64, 200])
@pytest.mark.parametrize("causal", [False, True])
def test_sizes(rng, rule, total, causal):
    x = rounded(generators.clustered(rng, total, 64, clusters=9, spread=0.35), "f32")
    got = check(x, "f32", rule, causal=causal)
    assert total < 60 or 1 < got.count < total


@pytest.mark.parametrize("rule", ["all", "kept"])
@pytest.mark.parametrize("element", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("d", [4, 12, 24, 96])
def test_elements(rng, rule, element, d):
    x = rounded(generators.clustered(rng, 100, d, clusters=9, spread=0.3), element)
    check(x, element, rule)


@pytest.mark.parametrize("rule", ["all", "kept"])
@pytest.mark.parametrize("similarity", ["absolute", "signed"])
@pytest.mark.parametrize("causal", [False, True])
def test_forms(rng, rule, similarity, causal):
    for make in (generators.opposite_pairs, generators.equal_rows, generators.on_the_threshold,
                 generators.turning_chain, generators.all_equal, generators.spread_out):
        x = rounded(make(rng, 130, 64), "f32")
        check(x, "f32", rule, similarity=similarity, causal=causal)


@pytest.mark.parametrize("element", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("rule", ["all", "kept"])
def test_rows_without_direction(rng, rule, element):
    """NaN, infinity, zeros, and norms that leave the range of f32."""
    x = rounded(generators.clustered(rng, 90, 64, spread=0.2), element)
    x[3, 5], x[10], x[40, 0], x[66] = np.nan, 0, np.inf, 0
    if element != "f16":
        x[20], x[21] = 1e30, 1e-30
    got = check(x, element, rule)
    for t in np.flatnonzero(~usable_rows(x)):
        assert t in got.kept and (got.nearest == t).sum() == 1


@pytest.mark.parametrize("rule", ["all", "kept"])
@pytest.mark.parametrize("causal", [False, True])
def test_heads(rng, rule, causal):
    x = rounded(np.stack([generators.clustered(rng, 130, 32, clusters=c, spread=0.3)
                          for c in (1, 5, 20)], 1), "f16")
    selections = run(x, "f16", rule, similarity="signed", causal=causal)
    for h, (got,) in enumerate(selections):
        certificate.check_selection(x[:, h], 0.3, got, rule, "signed", causal)
    assert len({got.count for (got,) in selections}) > 1


def test_taus(rng):
    x = rounded(np.stack([generators.clustered(rng, 130, 32, clusters=5, spread=0.3)] * 4, 1),
                "f32")
    taus = [0.3, 0.7, 0.0, 1.5]
    selections = [got for (got,) in run(x, "f32", "kept", taus=taus)]
    for tau, got in zip(taus, selections):
        certificate.check_selection(x[:, 0], tau if 0 < tau < 1 else 0, got, causal=True)
    counts = [got.count for got in selections]
    assert 130 == counts[2] == counts[3] > counts[0] > counts[1]


@pytest.mark.parametrize("rule", ["all", "kept"])
@pytest.mark.parametrize("causal", [False, True])
def test_threads(rng, rule, causal):
    """Several workgroups at once give what one after the other gives."""
    x = rounded(generators.clustered(rng, 900, 32, clusters=60, spread=0.3), "f32")
    ((one,),) = run(x, "f32", rule, causal=causal)
    for threads in (2, 5):
        ((many,),) = run(x, "f32", rule, causal=causal, threads=threads)
        for name in ("ids", "nearest", "weight"):
            np.testing.assert_array_equal(getattr(one, name), getattr(many, name))


def hints(rng, x, tau):
    """Inherited sets: the right one, neighbours of it, and wrong ones."""
    total = len(x)
    right = gram_select(x, tau, "kept", causal=True).kept
    yield right
    yield right[rng.random(len(right)) < 0.9]
    some = rng.random(total) < 0.05
    yield np.union1d(right[rng.random(len(right)) < 0.95], np.flatnonzero(some))
    yield np.arange(total)
    yield np.array([0])
    yield np.array([total - 1])


def inherit(total, kept):
    """Any assignment to the set: only a representative is its own."""
    kept = [int(s) for s in kept]
    nearest = [t if t in kept else kept[t % len(kept)] for t in range(total)]
    return record(total, kept, nearest)


@pytest.mark.parametrize("causal", [False, True])
def test_covering(rng, causal):
    x = rounded(generators.clustered(rng, 150, 64, clusters=12, spread=0.33), "f32")
    for kept in hints(rng, x, 0.3):
        ((got, removed, added),) = run(x, "f32", "covering", inherit(150, kept), causal=causal)
        certificate.check_selection(x, 0.3, got, "kept", "absolute", causal)
        new, old = set(got.kept), set(kept)
        assert (removed, added) == (len(old - new), len(new - old))


@pytest.mark.parametrize("threads", [1, 3])
def test_paper(rng, threads):
    x = rounded(generators.clustered(rng, 150, 64, clusters=12, spread=0.33), "f32")
    for kept in hints(rng, x, 0.3):
        ((got, removed, added),) = run(x, "f32", "paper", inherit(150, kept), causal=False,
                                       threads=threads)
        certificate.check_paper(x, 0.3, kept, got)
        new, old = set(got.kept), set(int(s) for s in kept)
        assert (removed, added) == (len(old - new), len(new - old))


def test_paper_heads(rng):
    x = rounded(np.stack([generators.clustered(rng, 100, 32, clusters=c, spread=0.3)
                          for c in (3, 8)], 1), "f16")
    old = [inherit(100, [0, 7, 50]), inherit(100, range(0, 100, 3))]
    stacked = Selection(*(np.stack([np.asarray(getattr(o, name)) for o in old])
                          for name in ("ids", "count", "nearest", "weight")))
    for h, (got, removed, added) in enumerate(run(x, "f16", "paper", stacked, causal=False)):
        certificate.check_paper(x[:, h], 0.3, old[h].kept, got)
        assert len(old[h].kept) - removed + added == got.count


def subspace_of(x, k):
    """Coefficients in the first k principal directions, and what is left."""
    _, vectors = np.linalg.eigh(x.T.astype(np.float64) @ x)
    basis = vectors[:, ::-1][:, :k]
    g = x @ basis
    return g, np.linalg.norm(x - g @ basis.T, axis=1)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("similarity", ["absolute", "signed"])
@pytest.mark.parametrize("noise", [0.0, 0.05, 1.0])
def test_subspace(rng, causal, similarity, noise):
    """A bound may save products, never change what is selected: rows of low
    rank, nearly so, and of full rank; at the threshold, too."""
    low = rng.standard_normal((300, 8)) @ rng.standard_normal((8, 64))
    low = low[rng.integers(300, size=300)] + 0.1 * rng.standard_normal((300, 64))
    for x in (low + noise * rng.standard_normal(low.shape),
              generators.on_the_threshold(rng, 200, 64), generators.all_equal(rng, 90, 64),
              generators.turning_chain(rng, 200, 64)):
        x = rounded(x, "f32")
        ((plain,),) = run(x, "f32", "kept", similarity=similarity, causal=causal)
        for k in (4, 16):
            ((bound,),) = run(x, "f32", "kept", similarity=similarity, causal=causal,
                              subspace=subspace_of(x, k))
            for name in ("ids", "nearest", "weight"):
                np.testing.assert_array_equal(getattr(plain, name), getattr(bound, name))
