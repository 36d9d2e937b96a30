# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Selections as kernels for gfx942, executed on the simulator and checked as
certificates against the NumPy reference."""

import functools

import numpy as np
import pytest

import gpu_kernels
import scratch
from gpu_kernels import whole
from reference import certificate, generators, numerics
from reference.cascade_update import cascade_update
from reference.selection import Selection, gram_select, record, usable_rows

#: Words of scratch for sums of tiles that workgroups share, of which there may be
#: fewer: kSplitWords in passes/Tile/Gpu/Select/SelectRounds.h.
SHARED = 1 << 23

#: Small tiles, so that a few dozen tokens are several of them.
SMALL = (
    "#gist.gpu_selection<rows = 64, columns = 64, depth = {depth}, waves = [2, 2], stages = 2,"
    " instruction = mfma_32x32x8, element = {element}, group = 8, loads = 8>"
)
#: The same with rows rounded to 8 bits, and several groups of tiles.
FP8 = (
    "#gist.gpu_selection<rows = 64, columns = 64, depth = {depth}, waves = [2, 2], stages = 2,"
    " instruction = mfma_32x32x16, element = f8E4M3FNUZ, group = 2, loads = 3>"
)


def kernel_text(rule, d, element, heads, similarity, causal, tau, ragged, tile, taus=False):
    tokens = f"tensor<?x{heads}x{d}x{element}>" if heads else f"tensor<?x{d}x{element}>"
    part = f"tensor<{heads}x?xi32>" if heads else "tensor<?xi32>"
    count = f"tensor<{heads}xi32>" if heads else "tensor<i32>"
    selection = f"!gist.selection<{heads}x?>" if heads else "!gist.selection<?>"
    is_cascade = rule in ("covering", "paper")
    arguments = [f"%x: {tokens}"]
    if is_cascade:
        arguments += [f"%oi: {part}", f"%oc: {count}", f"%on: {part}", f"%ow: {part}"]
    if taus:
        arguments += [f"%taus: tensor<{max(heads, 1)}xf32>"]
    if ragged:
        arguments += ["%starts: tensor<?xi32>"]
    results = [part, count, part, part] + [count, count] * is_cascade
    arguments += [f"%d{i}: {type}" for i, type in enumerate(results)]
    own = f"taus(%taus : tensor<{max(heads, 1)}xf32>)" if taus else f"{tau:e}"
    options = f"similarity {similarity}" + " causal" * causal
    options += " offsets(%starts : tensor<?xi32>)" * ragged
    if is_cascade:
        body = f"""
  %p = gist.pack_selection %oi, %oc, %on, %ow : {part}, {count}, {part}, {part}
  %s, %r, %a = gist.cascade_update %x, %p, {own} rule {rule} {options}
      : {tokens}, {selection}"""
    else:
        body = f"""
  %s = gist.gram_select %x, {own} against {rule} {options} : {tokens}"""
    values = "%i, %c, %n, %w" + ", %r, %a" * is_cascade
    attribute = f", gist.tile = {tile}" if tile else ""
    return f"""
func.func private @select({", ".join(arguments)}) -> ({", ".join(results)})
    attributes {{gist.kernel = #gist.kernel<kind = select, outputs = {len(results)}>{attribute}}} {{{body}
  %i, %c, %n, %w = gist.unpack_selection %s : {selection}
  return {values} : {", ".join(results)}
}}
"""


@functools.lru_cache(maxsize=None)
def build(rule, d, element, heads=0, similarity="absolute", causal=True, tau=0.3,
          ragged=False, small=True, taus=False, fp8=False):
    tile = ""
    if fp8:
        tile = FP8.format(depth=64 if d > 32 else 32)
    elif small:
        tile = SMALL.format(depth=32 if d > 16 else 16,
                            element="bf16" if element == "bf16" else "f16")
    text = kernel_text(rule, d, element, heads, similarity, causal, tau, ragged, tile, taus)
    return gpu_kernels.Kernels(text), scratch.ask(text, "gfx942")


def part(array):
    """A part of a selection: tokens are its last, dynamic dimension."""
    return np.ascontiguousarray(array), [array.ndim - 1]


def run(x, element, rule, old=None, offsets=None, room=0, taus=None, **options):
    """x: T x d or T x heads x d. A list of (Selection, removed, added). `room` are
    words of scratch for sums of tiles that workgroups share."""
    total, heads = len(x), x.shape[1] if x.ndim == 3 else 0
    kernels, memory = build(rule, x.shape[-1], element, heads, ragged=offsets is not None,
                            taus=taus is not None, **options)
    shape, rows = ((heads,), (heads, total)) if heads else ((), (total,))
    arguments = [(numerics.store(x, element), [0])]
    if old is not None:
        arguments += [part(old.ids), whole(np.asarray(old.count, np.int32)), part(old.nearest), part(old.weight)]
    if taus is not None:
        arguments += [whole(np.asarray(taus, np.float32))]
    if offsets is not None:
        arguments += [(np.array(offsets, np.int32), [0])]
    outputs = [np.full(s, 77, np.int32) for s in (rows, shape, rows, rows)]
    if old is not None:
        outputs += [np.full(shape, 77, np.int32) for _ in range(2)]
    arguments += [part(o) if o.shape == rows else whole(o) for o in outputs]
    outputs = [a[0] for a in arguments[-len(outputs):]]
    shapes = [a[0].shape for a in arguments]
    (words, dynamic), control = (
        m.make(0 if m.is_control else 0x55555555, *shapes) for m in memory)
    kernels.call("select", *arguments, (words[: len(words) - SHARED + room], dynamic), control)
    # The next selection may be given the same words.
    assert not control[0].any()
    if not heads:
        outputs = [o[None] for o in outputs]
    result = []
    for h in range(max(heads, 1)):
        ids, count, nearest, weight = (o[h] for o in outputs[:4])
        result.append((Selection(ids, count.item(), nearest, weight),
                       *(o[h].item() for o in outputs[4:])))
    return result


def delta_of(d, element):
    """What may separate a cosine from the reference's: rounding of f32 sums, and
    for f32 rows what is lost by splitting them into two f16."""
    return numerics.cosine_error(d) + (4 * 2.0**-21 if element == "f32" else 0)


def check(x, element, rule="kept", tau=0.3, similarity="absolute", causal=True,
          offsets=None, small=True):
    """In rounds, and where sums have room in one go."""
    for room in (0, 1 << 18):
        ((got,),) = run(x, element, rule, tau=tau, similarity=similarity, causal=causal,
                        offsets=offsets, small=small, room=room)
        certificate.check_selection(x, tau, got, rule, similarity, causal, offsets,
                                    delta_of(x.shape[1], element))
    return got


def rounded(x, element):
    return numerics.round_to(x, element)


@pytest.fixture
def rng():
    """Every test draws from its own, whichever tests ran before it."""
    return np.random.default_rng(5)


@pytest.mark.parametrize("rule", ["all", "kept"])
@pytest.mark.parametrize("total", [1, 2, 63, 64, 65, 200])
def test_sizes(rng, rule, total):
    x = rounded(generators.clustered(rng, total, 64, clusters=9, spread=0.35), "f16")
    got = check(x, "f16", rule)
    assert total < 60 or 1 < got.count < total


@pytest.mark.parametrize("rule", ["all", "kept"])
@pytest.mark.parametrize("element", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("d", [7, 24, 96])
def test_elements(rng, rule, element, d):
    x = rounded(generators.clustered(rng, 100, d, clusters=9, spread=0.3), element)
    check(x, element, rule)


@pytest.mark.parametrize("rule", ["all", "kept"])
@pytest.mark.parametrize("similarity", ["absolute", "signed"])
@pytest.mark.parametrize("causal", [False, True])
def test_forms(rng, rule, similarity, causal):
    for make in (generators.opposite_pairs, generators.equal_rows,
                 generators.turning_chain, generators.all_equal, generators.spread_out):
        x = rounded(make(rng, 130, 64), "f16")
        check(x, "f16", rule, similarity=similarity, causal=causal)


def test_ragged(rng):
    x = rounded(generators.clustered(rng, 150, 64, spread=0.3), "f16")
    for rule in ("all", "kept"):
        check(x, "f16", rule, offsets=[0, 40, 41, 41, 150])


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
def test_heads(rng, rule):
    x = rounded(
        np.stack([generators.clustered(rng, 130, 32, clusters=c, spread=0.3)
                  for c in (1, 5, 20)], 1), "f16")
    selections = run(x, "f16", rule, similarity="signed")
    for h, (got,) in enumerate(selections):
        certificate.check_selection(x[:, h], 0.3, got, rule, "signed", True)
    assert len({got.count for (got,) in selections}) > 1


@pytest.mark.parametrize("rule", ["all", "kept"])
def test_taus(rng, rule):
    """A tau for each head; one outside of (0, 1) keeps every token."""
    x = rounded(np.stack([generators.clustered(rng, 130, 32, clusters=5, spread=0.3)] * 4, 1),
                "f16")
    taus = [0.3, 0.7, 0.0, 1.5]
    selections = [got for (got,) in run(x, "f16", rule, taus=taus)]
    for tau, got in zip(taus, selections):
        certificate.check_selection(x[:, 0], tau if 0 < tau < 1 else 0, got, rule, causal=True)
    counts = [got.count for got in selections]
    assert 130 == counts[2] == counts[3] > counts[0] > counts[1]


@pytest.mark.parametrize("rule", ["all", "kept"])
def test_shared_tiles(rng, rule):
    """A few long tiles: many workgroups compute parts of each."""
    x = rounded(generators.clustered(rng, 150, 1024, clusters=12, spread=0.33), "f16")
    ((alone,),) = run(x, "f16", rule)
    ((got,),) = run(x, "f16", rule, room=1 << 20)
    certificate.check_selection(x, 0.3, got, rule, causal=True, delta=delta_of(1024, "f16"))
    assert got.count == alone.count


@pytest.mark.parametrize("element", ["f32", "f16"])
def test_recalled_sums(rng, element):
    """With room for the sums of all tiles no workgroup decides what comes next."""
    x = rounded(generators.clustered(rng, 300, 64, clusters=30, spread=0.33), element)
    x[7], x[200, 3] = 0, np.nan
    for room in (0, 1 << 18):
        ((got,),) = run(x, element, "all", room=room)
        certificate.check_selection(x, 0.3, got, "all", causal=True,
                                    delta=delta_of(64, element))
    if element == "f32":
        return
    x = np.stack([x, x[::-1]], 1)
    for h, (got,) in enumerate(run(x, "f16", "all", room=1 << 19)):
        certificate.check_selection(x[:, h], 0.3, got, "all", causal=True,
                                    delta=delta_of(64, "f16"))


def hints(rng, x, tau):
    """Inherited sets: the right one, neighbours of it, and wrong ones."""
    total = len(x)
    right = gram_select(x, tau, "kept", causal=True).kept
    yield right
    yield right[rng.random(len(right)) < 0.9]
    some = rng.random(total) < 0.05
    yield np.union1d(right[rng.random(len(right)) < 0.95], np.flatnonzero(some))
    yield np.array([], int)
    yield np.arange(total)
    yield np.array([total - 1])


def inherit(total, kept):
    kept = [int(s) for s in kept]
    before = [max([s for s in kept if s <= t], default=-1) for t in range(total)]
    return record(total, kept, before)


@pytest.mark.parametrize("element", ["f32", "f16"])
@pytest.mark.parametrize("causal", [False, True])
def test_covering(rng, element, causal):
    x = rounded(generators.clustered(rng, 150, 64, clusters=12, spread=0.33), element)
    for kept in hints(rng, x, 0.3):
        ((got, removed, added),) = run(x, element, "covering", inherit(150, kept),
                                       causal=causal)
        certificate.check_selection(x, 0.3, got, "kept", "absolute", causal,
                                    delta=delta_of(64, element))
        new, old = set(got.kept), set(kept)
        assert (removed, added) == (len(old - new), len(new - old))


def test_covering_heads(rng):
    x = rounded(np.stack([generators.clustered(rng, 100, 32, clusters=c, spread=0.3)
                          for c in (3, 8)], 1), "f16")
    old = [inherit(100, [0, 7, 50]), inherit(100, range(0, 100, 3))]
    stacked = Selection(*(np.stack([np.asarray(getattr(o, name)) for o in old])
                          for name in ("ids", "count", "nearest", "weight")))
    stacked.count = stacked.count.astype(np.int32)
    for h, (got, removed, added) in enumerate(run(x, "f16", "covering", stacked)):
        certificate.check_selection(x[:, h], 0.3, got, "kept", causal=True)
        assert len(old[h].kept) - removed + added == got.count


@pytest.mark.parametrize("seed", [12, 40, 78])
def test_covering_decided_again(seed):
    """Suspects drop what hid others, which so become suspects: three decisions,
    of which each begins a tile of columns, make more columns than tokens."""
    x = rounded(generators.clustered(np.random.default_rng(seed), 100, 32, clusters=3,
                                     spread=0.3), "f16")
    ((got, removed, added),) = run(x, "f16", "covering", inherit(100, [0, 7, 50]))
    certificate.check_selection(x, 0.3, got, "kept", causal=True)
    assert 3 - removed + added == got.count


def test_covering_one_suspect_at_a_time():
    """Each token is like its neighbours alone, and every second one is
    inherited, those that the covering does not keep: each decision finds one
    suspect, until there is no room for another column and the chunk ends."""
    total, width = 80, 6
    x = np.zeros((total, total + width), np.float32)
    for t in range(total):
        x[t, t:t + width] = 1  # The cosine is 5/6 with the next, then 4/6.
    ((got, removed, added),) = run(x, "f16", "covering",
                                   inherit(total, range(1, total, 2)), tau=0.5)
    assert list(got.kept) == list(range(0, total, 2))
    assert (removed, added) == (total // 2, total // 2)
    certificate.check_selection(x, 0.5, got, "kept", causal=True)


def test_paper(rng):
    x = rounded(generators.clustered(rng, 150, 64, clusters=12, spread=0.33), "f16")
    for kept in hints(rng, x, 0.3):
        ((got, removed, added),) = run(x, "f16", "paper", inherit(150, kept), causal=False)
        certificate.check_paper(x, 0.3, kept, got)
        new, old = set(got.kept), set(int(s) for s in kept)
        assert (removed, added) == (len(old - new), len(new - old))


def test_chunks(rng):
    """More tokens than columns, in the tiles of the target; a chain, of which
    every decision depends on the one before, across the border of a chunk."""
    x = rounded(generators.clustered(rng, 2200, 16, clusters=60, spread=0.3), "f16")
    x[2000:2100] = rounded(generators.turning_chain(rng, 100, 16, 0.3), "f16")
    got = check(x, "f16", "kept", small=False)
    assert 60 < got.count < 2000
    ((again, removed, added),) = run(x, "f16", "covering", inherit(2200, range(0, 2200, 40)),
                                     small=False)
    certificate.check_selection(x, 0.3, again, "kept", causal=True)


# Rows rounded to 8 bits.


def to_fnuz(x):
    """Rounds to the nearest f8E4M3FNUZ number, ties to even: three bits behind the
    first one, down to 2^-10. None here is larger than the largest, 240."""
    _, exponent = np.frexp(x)  # x = m 2^exponent, 1/2 <= |m| < 1.
    unit = 2.0 ** (np.maximum(exponent - 1, -7) - 3)
    return np.rint(x / unit) * unit


def rounded_rows(x):
    """What the kernel compares: rows scaled by a power of two to a norm of more
    than 2^6 and at most 2^7, rounded, and scaled back."""
    norm = np.linalg.norm(x, axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        power = 2.0 ** (7 + np.floor(np.log2(1 / norm)))
    usable = usable_rows(x)
    result = x.copy()
    result[usable] = to_fnuz(x[usable] * power[usable]) / power[usable]
    return result


def check_fp8(x, element, rule="kept", against=None, tau=0.3, old=None, similarity="absolute", **options):
    """Two certificates. The selection is exactly that of the rounded rows, but for
    what a norm at a power of two leaves open: which of two powers a row is scaled
    by, which numbers below 2^-12 of the norm notice, by 2^-16 of it at most. And it
    is that of the rows themselves, for pairs further from the threshold than
    rounding can move them: each number by 2^-4 of itself or 2^-17 of the norm, so
    each row by an angle of asin(2^-4 + 2^-17 sqrt(d))."""
    d = x.shape[-1]
    ((got, *counts),) = run(x, element, rule, old, tau=tau, similarity=similarity, fp8=True, **options)
    near = numerics.cosine_error(d) + 4 * 2.0**-16 * d**0.5
    turn = 2 * np.arcsin(2.0**-4 + 2.0**-17 * d**0.5)
    for rows, delta in ((rounded_rows(x), near), (x, turn)):
        if rule == "paper":
            certificate.check_paper(rows, tau, old.kept, got, similarity, delta=delta)
        else:
            certificate.check_selection(rows, tau, got, against or rule, similarity,
                                        rule != "paper", delta=delta)
    return got, *counts


@pytest.mark.parametrize("rule", ["all", "kept"])
@pytest.mark.parametrize("element", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("d", [7, 24, 96])
def test_fp8(rng, rule, element, d):
    x = rounded(generators.clustered(rng, 150, d, clusters=9, spread=0.3), element)
    got, = check_fp8(x, element, rule)
    assert 1 < got.count < 150


def test_fp8_rounds(rng):
    """Numbers that lie between those of 8 bits are rounded: the cosine of the first
    two rows is above the threshold, and that of what they become below it."""
    x = np.zeros((2, 64), np.float32)
    x[0, :2], x[1, :2] = [1, 0], [1, 0.46]
    exact, small = 1 / np.sqrt(1 + 0.46**2), 1 / np.sqrt(1 + 0.46875**2)
    tau = np.sqrt(1 - (exact + small) / 2)
    x = rounded(x, "f16")
    assert check(x, "f16", "kept", tau=tau).count == 1
    got, = check_fp8(x, "f16", "kept", tau=tau)
    assert got.count == 2


@pytest.mark.parametrize("similarity", ["absolute", "signed"])
def test_fp8_equal_rows(rng, similarity):
    """Rounding is the same for equal rows: they are found at the finest threshold."""
    for make in (generators.equal_rows, generators.opposite_pairs):
        x = rounded(make(rng, 130, 96), "f16")
        got, = check_fp8(x, "f16", "kept", tau=0.02, similarity=similarity)
        want = gram_select(x, 0.02, "kept", similarity, causal=True)
        assert list(got.kept) == list(want.kept)


def test_fp8_rows_without_direction(rng):
    x = rounded(generators.clustered(rng, 90, 64, spread=0.2), "bf16")
    x[3, 5], x[10], x[40, 0], x[66], x[20], x[21] = np.nan, 0, np.inf, 0, 1e15, 1e-15
    got, = check_fp8(x, "bf16", "all")
    for t in np.flatnonzero(~usable_rows(x)):
        assert t in got.kept and (got.nearest == t).sum() == 1


def test_fp8_cascades(rng):
    x = rounded(generators.clustered(rng, 150, 64, clusters=12, spread=0.33), "f16")
    kept = list(hints(rng, x, 0.3))[2]
    got, removed, added = check_fp8(x, "f16", "covering", "kept", old=inherit(150, kept))
    assert len(kept) - removed + added == got.count
    check_fp8(x, "f16", "paper", old=inherit(150, kept), causal=False)


def test_fp8_shared_tiles(rng):
    """Long rows, of which many numbers are denormal; sums of parts and recalled."""
    x = generators.clustered(rng, 150, 1024, clusters=12, spread=0.33)
    x = rounded(x * np.exp(2 * rng.standard_normal(1024)), "f16")
    for room in (0, 1 << 20):
        check_fp8(x, "f16", "all", room=room)
