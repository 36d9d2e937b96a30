# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The reference against itself and against what is known by hand."""

import numpy as np
import pytest

from reference import certificate, generators
from reference.cascade_update import cascade_update, paper_set
from reference.numerics import theta_of
from reference.selection import Selection, cosines, gram_select, record

ELEMENTS = ["f32", "f16", "bf16"]


def cases(element, seed=0):
    rng = np.random.default_rng(seed)
    for generate in generators.families(element):
        for total, d in generators.SHAPES:
            x = generators.rows(rng, generate, total, d, element)
            yield rng, x, float(rng.choice(generators.TAUS))


def hint(rng, total):
    """Any set at all as an inherited selection; assignments do not matter."""
    kept = generators.random_set(rng, total)
    return record(total, kept, np.arange(total))


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("similarity", ["absolute", "signed"])
def test_kept_satisfies_invariants(element, similarity):
    for _, x, tau in cases(element):
        chosen = gram_select(x, tau, "kept", similarity, causal=True)
        certificate.check_invariants(x, tau, chosen, similarity)


@pytest.mark.parametrize("against", ["all", "kept"])
@pytest.mark.parametrize("causal", [False, True])
def test_selections_are_their_own_certificates(against, causal):
    for rng, x, tau in cases("f32", seed=1):
        offsets = generators.random_offsets(rng, len(x))
        for cuts in (None, offsets):
            chosen = gram_select(x, tau, against, "absolute", causal, cuts)
            certificate.check_selection(
                x, tau, chosen, against, "absolute", causal, cuts
            )


def test_covering_ignores_what_is_inherited():
    for rng, x, tau in cases("f32", seed=2):
        fresh = gram_select(x, tau, "kept", causal=True)
        for _ in range(3):
            old = hint(rng, len(x))
            chosen, removed, added = cascade_update(x, old, tau, causal=True)
            np.testing.assert_array_equal(chosen.ids, fresh.ids)
            np.testing.assert_array_equal(chosen.nearest, fresh.nearest)
            assert chosen.count == old.count - removed + added


def test_sequences_of_a_batch_do_not_see_one_another():
    for rng, x, tau in cases("f32", seed=3):
        offsets = generators.random_offsets(rng, len(x))
        whole = gram_select(x, tau, causal=True, offsets=offsets)
        ids, nearest = [], []
        for begin, end in zip(offsets[:-1], offsets[1:]):
            part = gram_select(x[begin:end], tau, causal=True)
            ids += [s + begin for s in part.kept]
            nearest += [s + begin for s in part.nearest]
        np.testing.assert_array_equal(whole.kept, ids)
        np.testing.assert_array_equal(whole.nearest, nearest)


def algorithm_1(x, inherited, tau):
    """Algorithm 1 of the paper, one statement for each of its lines."""
    theta = theta_of(tau)
    r_old = sorted(inherited)
    r_bar = sorted(set(range(len(x))) - set(r_old))
    norms = np.linalg.norm(x, axis=1)
    x_hat = x / norms[:, None]  # 1
    x_rep = x_hat[r_old]  # 2
    gram = x_rep @ x_rep.T  # 3
    gamma_rep = [  # 4
        max([abs(gram[i, j]) for j in range(i)], default=-np.inf)
        for i in range(len(r_old))
    ]
    r_valid = [s for s, g in zip(r_old, gamma_rep) if g < theta]  # 5
    x_bar = x_hat[r_bar]  # 6
    cross = x_bar @ x_hat[r_valid].T  # 7
    gamma_cross = np.abs(cross).max(axis=1, initial=-np.inf)  # 8
    r_new = [t for t, g in zip(r_bar, gamma_cross) if g < theta]  # 9
    return sorted(r_valid + r_new)  # 10, 11


def test_paper_is_algorithm_1():
    # Rows without a direction are outside the paper, and on the threshold two
    # right computations in floating point may differ.
    rng = np.random.default_rng(4)
    families = [
        generators.clustered,
        generators.spread_out,
        generators.turning_chain,
        generators.opposite_pairs,
    ]
    compared = changed = 0
    for generate in families * 8:
        for total, d in generators.SHAPES:
            x = generators.rows(rng, generate, total, d, "f32").astype(np.float64)
            tau = float(rng.choice(generators.TAUS))
            if np.abs(cosines(x) - theta_of(tau)).min() < 1e-9:
                continue
            inherited = generators.random_set(rng, total)
            want = algorithm_1(x, inherited, tau)
            assert paper_set(x, list(inherited), tau) == want
            compared += 1
            changed += list(inherited) != want
    assert compared > 200 and changed > 100


def test_proposition_4_is_false_as_written():
    # Algorithm 1 drops token 1 because of token 2, which comes later.
    x = np.array([[1, 0, 0], [0, 1, 0], [0, 1, 0.05]])
    tau = 0.3
    independent = gram_select(x, tau, "all")
    assert list(independent.kept) == [0, 1]
    old = record(3, [0, 2], [0, 0, 2])
    chosen, removed, added = cascade_update(x, old, tau, "paper")
    assert (list(chosen.kept), removed, added) == ([0, 2], 0, 0)
    assert not set(independent.kept) <= set(chosen.kept)
    assert chosen.nearest[1] == 2
    with pytest.raises(certificate.Violation, match="I1"):
        certificate.check_invariants(x, tau, chosen)
    covering, removed, added = cascade_update(x, old, tau, causal=True)
    assert (list(covering.kept), removed, added) == ([0, 1], 1, 1)
    certificate.check_invariants(x, tau, covering)


def test_definition_1_is_not_a_covering():
    # Neighbours 0.40 rad apart are alike (cos 0.92 >= 0.91), so only the first
    # token of the chain is kept; the last is at an angle of 1.2.
    angle = 0.40 * np.arange(4)
    x = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    chosen = gram_select(x, 0.3, "all", causal=True)
    assert list(chosen.kept) == [0]
    assert cosines(x)[0, 3] == pytest.approx(0.36, abs=0.005)
    with pytest.raises(certificate.Violation, match="I2"):
        certificate.check_invariants(x, 0.3, chosen)
    covering = gram_select(x, 0.3, "kept", causal=True)
    assert list(covering.kept) == [0, 2]
    certificate.check_invariants(x, 0.3, covering)


def test_by_hand():
    e = np.eye(3)
    x = np.stack([e[0], -2 * e[0], 0 * e[0], e[1], e[0], np.nan * e[0], 3 * e[1]])
    chosen = gram_select(x, 0.3)
    assert list(chosen.ids) == [0, 2, 3, 5, -1, -1, -1]
    assert list(chosen.nearest) == [0, 0, 2, 3, 0, 5, 3]
    assert list(chosen.weight) == [3, 1, 2, 1, 0, 0, 0]
    signed = gram_select(x, 0.3, similarity="signed")
    assert list(signed.kept) == [0, 1, 2, 3, 5]
    assert list(gram_select(x, 0.0).kept) == list(range(7))


def test_nearest_may_look_ahead_unless_causal():
    # Token 1 is covered by 0 and nearer to 2; 0 and 2 do not cover each other.
    turn = lambda a: [np.cos(a), np.sin(a)]
    x = np.array([turn(0), turn(0.40), turn(0.70)])
    assert list(gram_select(x, 0.3).nearest) == [0, 2, 2]
    assert list(gram_select(x, 0.3, causal=True).nearest) == [0, 0, 2]


BROKEN = {
    "a kept token that is covered": lambda s: record(4, [0, 1, 2], [0, 1, 2, 2]),
    "a dropped token that is not": lambda s: record(4, [0], [0, 0, 0, 0]),
    "a nearest token that is worse": lambda s: record(4, [0, 2], [0, 0, 2, 0]),
    "a wrong weight": lambda s: Selection(s.ids, s.count, s.nearest, s.weight[::-1]),
    "a wrong count": lambda s: Selection(s.ids, 3, s.nearest, s.weight),
    "descending ids": lambda s: Selection(
        np.array([2, 0, -1, -1]), 2, s.nearest, s.weight
    ),
    "garbage past the count": lambda s: Selection(
        np.array([0, 2, 0, 0]), 2, s.nearest, s.weight
    ),
}


@pytest.mark.parametrize("what", BROKEN)
def test_certificates_refuse(what):
    angle = 0.40 * np.arange(4)
    x = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    right = gram_select(x, 0.3, causal=True)
    assert list(right.nearest) == [0, 0, 2, 2]
    certificate.check_selection(x, 0.3, right, causal=True)
    with pytest.raises(certificate.Violation):
        certificate.check_selection(x, 0.3, BROKEN[what](right), causal=True)
