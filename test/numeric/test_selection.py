# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gram_select, cascade_update and their relatives, executed.

Sets are checked as certificates: each decision right within the rounding of
f32, given the earlier decisions of the same set.
"""

import itertools

import numpy as np
import pytest

import harness
import texts
from reference import certificate, generators, numerics
from reference.cascade_update import cascade_update
from reference.selection import gram_select, record

ELEMENTS = ["f32", "f16", "bf16"]
#: T = 0 besides: no token, no representative.
SHAPES = [(0, 3), *generators.SHAPES]
#: One loose threshold and one tight one for Algorithm 1.
PAPER_TAUS = [0.3, 0.9]


def form_name(prefix, *words):
    return "_".join([prefix, *(str(w).replace(".", "_") for w in words)])


def select_forms():
    """(tau, against, similarity, causal, ragged): everything at tau = 0.3, and
    what the tests of coverings need at the others."""
    for form in itertools.product(
        generators.TAUS, ["all", "kept"], ["absolute", "signed"], [0, 1], [0, 1]
    ):
        tau, against, _, causal, _ = form
        if tau == 0.3 or (against == "kept" and causal):
            yield form


@pytest.fixture(scope="module", params=ELEMENTS)
def element(request):
    return request.param


@pytest.fixture(scope="module")
def select(element):
    forms = {form_name("select", *form): form for form in select_forms()}
    return harness.build(
        "".join(
            texts.gram_select(name, element, *form[:3], bool(form[3]), bool(form[4]))
            for name, form in forms.items()
        )
    )


def cascade_forms():
    """(tau, rule, similarity, ragged)"""
    for form in itertools.product(
        generators.TAUS, ["covering", "paper"], ["absolute", "signed"], [0, 1]
    ):
        if form[1] == "covering" or form[0] in PAPER_TAUS:
            yield form


@pytest.fixture(scope="module")
def cascade(element):
    """`covering` is causal, as its invariants ask; `paper` cannot be."""
    return harness.build(
        "".join(
            texts.cascade_update(
                form_name("cascade", *form),
                element,
                *form[:3],
                causal=form[1] == "covering",
                ragged=bool(form[3]),
            )
            for form in cascade_forms()
        )
    )


def inputs(element, seed, shapes=SHAPES):
    rng = np.random.default_rng(seed)
    for generate in generators.families(element):
        for total, d in shapes:
            x = generators.rows(rng, generate, total, d, element)
            yield (
                rng,
                x,
                numerics.store(x, element),
                generators.random_offsets(rng, total),
            )


def random_record(rng, total):
    """Any set, with any assignment to it: what a hint is allowed to be."""
    kept = generators.random_set(rng, total)
    nearest = np.arange(total)
    if len(kept):
        nearest = rng.choice(kept, size=total)
        nearest[kept] = kept
    return record(total, kept, nearest)


def parts_of(selection):
    return selection.ids, selection.count, selection.nearest, selection.weight


def assert_same(want, got):
    """All parts of two selections are equal."""
    for mine, theirs in zip(want, got, strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("against", ["all", "kept"])
@pytest.mark.parametrize("similarity", ["absolute", "signed"])
@pytest.mark.parametrize("ragged", [0, 1])
def test_gram_select_is_certified(element, select, against, similarity, ragged):
    seed, tau = [ELEMENTS.index(element), ragged], 0.3
    for _, x, stored, cuts in inputs(element, seed):
        offsets = cuts if ragged else None
        for causal in (0, 1):
            name = form_name("select", tau, against, similarity, causal, ragged)
            got = getattr(select, name)(stored, *([cuts] if ragged else []))
            certificate.check_selection(
                x, tau, texts.selection_of(got), against, similarity, causal, offsets
            )


def test_away_from_rounding_sets_equal_the_reference(element, select):
    """Where no cosine is near the threshold or a tie, bit for bit."""
    rng = np.random.default_rng(10)
    for total, d in [(9, 11), (30, 24), (150, 40)]:
        x = generators.rows(rng, generators.clustered, total, d, element)
        for form in select_forms():
            tau, against, similarity, causal, ragged = form
            cuts = generators.random_offsets(rng, total)
            offsets = cuts if ragged else None
            want = gram_select(x, tau, against, similarity, causal, offsets)
            got = getattr(select, form_name("select", *form))(
                numerics.store(x, element), *([cuts] if ragged else [])
            )
            assert_same(parts_of(want), got)


#: 3 element types x 2 x 2 parameters x CASES = 6,000 cases of the invariants.
CASES = 500


@pytest.mark.parametrize("similarity", ["absolute", "signed"])
@pytest.mark.parametrize("ragged", [0, 1])
def test_covering_is_kept_whatever_is_inherited(
    element, select, cascade, similarity, ragged
):
    """And I1-I3 hold for both: they are the same selection, bit for bit."""
    seed = [ELEMENTS.index(element), ragged, 7]
    repeated = itertools.chain.from_iterable(
        inputs(element, [*seed, again], generators.SHAPES)
        for again in itertools.count()
    )
    for number, (rng, x, stored, cuts) in enumerate(itertools.islice(repeated, CASES)):
        tau = generators.TAUS[number % 4]
        rest = [cuts] if ragged else []
        fresh = getattr(select, form_name("select", tau, "kept", similarity, 1, ragged))
        kept = fresh(stored, *rest)
        chosen = texts.selection_of(kept)
        certificate.check_invariants(
            x, tau, chosen, similarity, cuts if ragged else None
        )

        hint = random_record(rng, len(x))
        name = form_name("cascade", tau, "covering", similarity, ragged)
        *covering, removed, added = getattr(cascade, name)(
            stored, *parts_of(hint), *rest
        )
        assert_same(kept, covering)
        old, new = set(hint.kept.tolist()), set(chosen.kept.tolist())
        assert (removed, added) == (len(old - new), len(new - old))
    assert number == CASES - 1


@pytest.mark.parametrize("similarity", ["absolute", "signed"])
@pytest.mark.parametrize("ragged", [0, 1])
def test_paper_is_algorithm_1(element, cascade, similarity, ragged):
    seed = [ELEMENTS.index(element), ragged, 8]
    for number, (rng, x, stored, cuts) in enumerate(inputs(element, seed)):
        tau = PAPER_TAUS[number % 2]
        offsets = cuts if ragged else None
        hint = random_record(rng, len(x))
        name = form_name("cascade", tau, "paper", similarity, ragged)
        *parts, removed, added = getattr(cascade, name)(
            stored, *parts_of(hint), *([cuts] if ragged else [])
        )
        chosen = texts.selection_of(parts)
        certificate.check_paper(x, tau, hint.kept, chosen, similarity, offsets)
        old, new = set(hint.kept.tolist()), set(chosen.kept.tolist())
        assert (removed, added) == (len(old - new), len(new - old))


def test_counterexample_to_proposition_4(element, cascade):
    x = numerics.store(np.array([[1, 0, 0], [0, 1, 0], [0, 1, 0.05]]), element)
    old = parts_of(record(3, [0, 2], [0, 0, 2]))
    *parts, removed, added = cascade.cascade_0_3_paper_absolute_0(x, *old)
    paper = texts.selection_of(parts)
    assert (list(paper.kept), removed, added) == ([0, 2], 0, 0)
    # Token 1, a representative of the independent selection, copies its future.
    with pytest.raises(certificate.Violation, match="I1"):
        certificate.check_invariants(numerics.load(x, element), 0.3, paper)
    *parts, removed, added = cascade.cascade_0_3_covering_absolute_0(x, *old)
    assert (list(texts.selection_of(parts).kept), removed, added) == ([0, 1], 1, 1)


def test_counterexample_to_definition_1_being_a_covering(element, select):
    angle = 0.40 * np.arange(4)
    x = numerics.store(np.stack([np.cos(angle), np.sin(angle)], axis=1), element)
    chosen = texts.selection_of(select.select_0_3_all_absolute_1_0(x))
    assert list(chosen.kept) == [0]
    with pytest.raises(certificate.Violation, match="I2"):
        certificate.check_invariants(numerics.load(x, element), 0.3, chosen)
    covering = texts.selection_of(select.select_0_3_kept_absolute_1_0(x))
    assert list(covering.kept) == [0, 2]


@pytest.fixture(scope="module")
def special(element):
    """Forms of which one is enough: per head, static, tau = 0, inherit."""
    heads = dict(heads=3)
    fixed = dict(tokens=12, d=13)
    return harness.build(
        texts.gram_select(
            "head_select", element, 0.3, causal=True, ragged=True, **heads
        )
        + texts.gram_select("head_taus", element, 0.3, causal=True, taus=3, **heads)
        + texts.cascade_update("head_covering", element, 0.3, causal=True, **heads)
        + texts.cascade_update("head_paper", element, 0.3, "paper", **heads)
        + texts.gram_select("fixed_select", element, 0.6, "all", "signed", **fixed)
        + texts.gram_select("fixed_kept", element, 0.6, causal=True, **fixed)
        + texts.cascade_update("fixed_covering", element, 0.6, causal=True, **fixed)
        + texts.cascade_update("fixed_paper", element, 0.6, "paper", **fixed)
        + texts.gram_select("all_select", element, 0.0)
        + texts.cascade_update("all_covering", element, 0.0)
        + texts.cascade_update("all_paper", element, 0.0, "paper")
        + texts.cascade_update("inherit", element, 0.3, "inherit", causal=True)
        + texts.keep_all("everything")
        + texts.keep_all("everything_per_head", heads=2)
        + texts.keep_all("everything_fixed", tokens=5)
    )


def test_one_selection_per_head(element, special):
    rng = np.random.default_rng(11)
    for total, d in [(1, 3), (14, 6), (31, 9)]:
        x = generators.rows(rng, generators.clustered, total * 3, d, element)
        x = x.reshape(total, 3, d)
        stored = numerics.store(x, element)
        cuts = generators.random_offsets(rng, total)
        got = special.head_select(stored, cuts)
        hints = [random_record(rng, total) for _ in range(3)]
        stacked = [np.stack(p) for p in zip(*map(parts_of, hints))]
        *covering, removed, added = special.head_covering(stored, *stacked)
        *paper, gone, new = special.head_paper(stored, *stacked)
        for h, hint in enumerate(hints):
            rows = x[:, h]
            chosen = texts.selection_of_head(got, h)
            certificate.check_selection(rows, 0.3, chosen, causal=True, offsets=cuts)
            kept = texts.selection_of_head(covering, h)
            certificate.check_selection(rows, 0.3, kept, causal=True)
            algorithm = texts.selection_of_head(paper, h)
            certificate.check_paper(rows, 0.3, hint.kept, algorithm)
            old = set(hint.kept.tolist())
            after = set(kept.kept.tolist())
            assert (removed[h], added[h]) == (len(old - after), len(after - old))
            after = set(algorithm.kept.tolist())
            assert (gone[h], new[h]) == (len(old - after), len(after - old))


def test_a_tau_for_each_head(element, special):
    """Data in place of an attribute; outside of (0, 1) everything is kept."""
    rng = np.random.default_rng(12)
    for taus in ([0.2, 0.6, 0.9], [0.0, 0.5, 1.0], [-0.3, np.nan, 1e-3]):
        taus = np.array(taus, np.float32)
        x = generators.rows(rng, generators.clustered, 24 * 3, 7, element)
        x = x.reshape(24, 3, 7)
        got = special.head_taus(numerics.store(x, element), taus)
        for h, tau in enumerate(taus):
            chosen = texts.selection_of_head(got, h)
            if 0 < tau < 1:
                certificate.check_selection(x[:, h], tau, chosen, causal=True)
            else:
                assert_same(
                    parts_of(record(24, range(24), range(24))), parts_of(chosen)
                )


def test_static_shapes(element, special):
    for rng, x, stored, _ in inputs(element, 12, [(12, 13)]):
        got = texts.selection_of(special.fixed_select(stored))
        certificate.check_selection(x, 0.6, got, "all", "signed")
        kept = special.fixed_kept(stored)
        certificate.check_invariants(x, 0.6, texts.selection_of(kept))
        hint = random_record(rng, 12)
        *covering, _, _ = special.fixed_covering(stored, *parts_of(hint))
        assert_same(kept, covering)
        *paper, _, _ = special.fixed_paper(stored, *parts_of(hint))
        certificate.check_paper(x, 0.6, hint.kept, texts.selection_of(paper))


def test_tau_zero_keeps_everything(element, special):
    for rng, x, stored, _ in inputs(element, 13, [(1, 5), (7, 2)]):
        total = len(x)
        want = parts_of(record(total, range(total), range(total)))
        hint = random_record(rng, total)
        results = [special.all_select(stored)]
        for run in (special.all_covering, special.all_paper):
            *parts, removed, added = run(stored, *parts_of(hint))
            assert (removed, added) == (0, total - hint.count)
            results.append(parts)
        for got in results:
            assert_same(want, got)


def test_inherit_changes_nothing(element, special):
    for rng, x, stored, _ in inputs(element, 14, [(1, 1), (12, 13)]):
        hint = random_record(rng, len(x))
        *parts, removed, added = special.inherit(stored, *parts_of(hint))
        want, _, _ = cascade_update(x, hint, 0.3, "inherit")
        assert_same(parts_of(want), parts)
        assert (removed, added) == (0, 0)


def test_keep_all(special):
    want = parts_of(record(5, range(5), range(5)))
    assert_same(want, special.everything(5))
    assert_same(want, special.everything_fixed(5))
    assert_same([np.stack([p, p]) for p in want], special.everything_per_head(5))
