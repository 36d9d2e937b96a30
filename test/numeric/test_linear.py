# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gated_projection and dequantize, executed."""

import itertools

import numpy as np
import pytest

import harness
import texts
from reference import gated_projection as gated
from reference import numerics
from reference.quantization import FORMATS, HALVES, dequantize

#: (element type of the input, of basis and weights)
ELEMENTS = [
    ("f32", "f32"),
    ("f32", "f16"),
    ("f32", "bf16"),
    ("f16", "f16"),
    ("bf16", "bf16"),
]

#: name -> number of projections, biases, graded
FORMS = {
    "plain": (1, False, False),
    "shared": (3, False, False),
    "biased": (2, True, False),
    "graded": (1, False, True),
    "graded_shared": (2, True, True),
}
EPSILON, EPSILON_LOW = 0.5, 0.2
SIZES = [7, 4, 1]


@pytest.fixture(scope="module", params=ELEMENTS, ids=lambda e: f"{e[0]}-{e[1]}")
def elements(request):
    return request.param


#: How the op is executed: by its definition, or as the products that kernels
#: are made of. Only f32 rows have those, and their open rows meet the weight itself:
#: an image that was rounded makes a difference that the definition has and they have not.
LOWERINGS = {
    "definition": (),
    "products": ("-gist-lower-gates",),
    "all-rows": ("-gist-lower-gates=guards=false",),
}


@pytest.fixture(scope="module", params=LOWERINGS)
def library(elements, request):
    if request.param != "definition" and elements != ("f32", "f32"):
        pytest.skip("only f32 rows are lowered, and only exact images give the same")
    text = ""
    for name, (count, bias, graded) in FORMS.items():
        low = EPSILON_LOW if graded else None
        text += texts.gated_projection(
            name, *elements, [None] * count, EPSILON, low, bias
        )
    fixed = dict(tokens=5, d=10, k=4)
    text += texts.gated_projection("fixed", *elements, [7], EPSILON, **fixed)
    text += texts.gated_projection("never", *elements, [None], 1e9)
    return harness.build(text, LOWERINGS[request.param])


def draw(rng, elements, total, d, k, sizes, bias, low):
    """Tokens from inside the basis to outside it, and the layer, in storage."""
    element, weight_element = elements
    full, _ = np.linalg.qr(rng.standard_normal((d, d)))
    basis = full[:, :k]
    inside = rng.standard_normal((total, k)) @ basis.T
    outside = rng.standard_normal((total, d)) @ (full[:, k:] @ full[:, k:].T)
    share = rng.choice([0.0, 0.1, 0.3, 1.0], size=(total, 1))
    x = numerics.store(
        (inside + share * outside) * 10.0 ** rng.integers(-2, 3, (total, 1)), element
    )
    store = lambda a: numerics.store(a, weight_element)
    weights = [rng.standard_normal((m, d)) for m in sizes]
    groups = [[store(w) for w in weights], [store(w @ basis) for w in weights]]
    groups.append([store(rng.standard_normal(m)) for m in sizes] if bias else [])
    groups.append([store(np.round(w * 2) / 2) for w in weights] if low else [])
    return x, store(basis), groups


def check(elements, run, x, basis, groups, epsilon=EPSILON):
    element, weight_element = elements
    *outputs, level = run(x, basis, *itertools.chain(*groups))
    wide = lambda a: numerics.load(a, weight_element)
    weights, images, biases, low = ([wide(a) for a in group] for group in groups)
    tokens, v = numerics.load(x, element), wide(basis)
    rho = gated.residual_ratio(tokens, v)
    epsilon_low = EPSILON_LOW if low else None

    # A gate may be on either side only where rounding can put it there.
    delta = 4 * (sum(v.shape) + 8) * numerics.UNIT_ROUNDOFF["f32"]
    least = gated.gate_levels(rho - delta, epsilon, epsilon_low)
    most = gated.gate_levels(rho + delta, epsilon, epsilon_low)
    assert ((least <= level) & (level <= most)).all(), (rho, level)

    projections = list(zip(weights, images, biases or [None] * len(weights)))
    wanted = gated.gated_projection(tokens, v, projections, level, low or None)
    for got, want, w in zip(outputs, wanted, weights, strict=True):
        # Terms of the size of |W| |x| may cancel.
        with np.errstate(invalid="ignore"):
            size = np.abs(tokens).sum(axis=1, keepdims=True) * np.abs(w).max(initial=0)
        size = np.where(np.isfinite(size), size, 0)
        numerics.assert_close(got, want, element, 1e-5, floor=size)
    return level


@pytest.mark.parametrize("name", FORMS)
def test_gated_projection(elements, library, name):
    count, bias, graded = FORMS[name]
    rng = np.random.default_rng(0)
    seen = set()
    for total, d, k in [
        (1, 1, 1),
        (1, 9, 3),
        (2, 5, 0),
        (6, 8, 8),
        (19, 23, 5),
        (40, 17, 16),
    ]:
        drawn = draw(rng, elements, total, d, k, SIZES[:count], bias, graded)
        seen |= set(check(elements, getattr(library, name), *drawn).tolist())
    assert seen == ({0, 1, 2} if graded else {0, 1})


@pytest.mark.parametrize("name", FORMS)
def test_tokens_that_are_no_numbers_open_the_gate(elements, library, name, request):
    # Infinite rows times the weight are infinite, where their difference to the
    # subspace is NaN.
    if "definition" not in request.node.name:
        pytest.skip("open rows meet the weight itself")
    count, bias, graded = FORMS[name]
    rng = np.random.default_rng(1)
    x, basis, groups = draw(rng, elements, 6, 9, 3, SIZES[:count], bias, graded)
    values = numerics.load(x, elements[0])
    values[1], values[2, 3], values[3], values[4, 0] = 0, np.nan, np.nan, np.inf
    x = numerics.store(values, elements[0])
    level = check(elements, getattr(library, name), x, basis, groups)
    open_level = 2 if graded else 1
    assert level[1] == 0 and (level[2:5] == open_level).all()


@pytest.mark.parametrize("size", [1e30, 1e-30])
def test_norms_beyond_f32_open_the_gate(elements, library, size):
    """A norm that overflows, or is zero though the token is not, decides
    nothing, so the exact product is taken."""
    if elements[0] == "f16":
        pytest.skip("f16 holds no such numbers")
    rng = np.random.default_rng(4)
    x, basis, groups = draw(rng, elements, 6, 9, 3, [7], False, False)
    v = numerics.load(basis, elements[1])
    tokens = rng.standard_normal((6, 9))
    tokens -= tokens @ v @ v.T
    x = numerics.store(tokens / np.abs(tokens).max() * size, elements[0])
    level = check(elements, library.plain, x, basis, groups)
    assert (level == 1).all()


def test_static_sizes(elements, library):
    rng = np.random.default_rng(2)
    check(elements, library.fixed, *draw(rng, elements, 5, 10, 4, [7], False, False))


def test_a_large_epsilon_closes_every_gate(elements, library):
    rng = np.random.default_rng(3)
    drawn = draw(rng, elements, 12, 10, 4, [7], False, False)
    level = check(elements, library.never, *drawn, epsilon=1e9)
    assert (level == 0).all()


@pytest.fixture(scope="module")
def formats():
    text = ""
    for name, (values, size) in FORMATS.items():
        text += texts.dequantize(name, name, 3, size, values)
        text += texts.dequantize(f"{name}_fixed", name, 1, size, values, rows=4)
    return harness.build(text)


def random_blocks(rng, name, rows, blocks):
    """Random bytes; the f16 fields are replaced by finite numbers of any size."""
    _, size = FORMATS[name]
    raw = rng.integers(256, size=(rows, blocks, size), dtype=np.uint8)
    for at in HALVES.get(name, [0]):
        sign = rng.choice([-1.0, 1.0], size=(rows, blocks, 1))
        value = sign * 10 ** rng.uniform(-7.5, 4.5, (rows, blocks, 1))
        raw[..., at : at + 2] = value.astype("<f2").view(np.uint8)
    return raw


@pytest.mark.parametrize("name", FORMATS)
def test_dequantize(formats, name):
    rng = np.random.default_rng(5)
    for rows, blocks, run in [
        (1, 3, getattr(formats, name)),
        (9, 3, getattr(formats, name)),
        (4, 1, getattr(formats, f"{name}_fixed")),
    ]:
        raw = random_blocks(rng, name, rows, blocks)
        (got,) = run(raw.view(np.int8))
        want = dequantize(raw, name)
        # A few roundings in f32 of terms as large as the largest of the block.
        by_block = lambda a: a.reshape(rows * blocks, -1)
        numerics.assert_close(by_block(got), by_block(want), "f32", rtol=5e-7)
