# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inputs: random ones, and ones chosen to break an implementation.

Every generator takes a NumPy random generator and gives f32 values that are
already rounded to the element type, so that reference and implementation start
from the same numbers.
"""

import numpy as np

from .numerics import round_to

#: The largest entries whose squares still add up within f32, and the smallest
#: whose squares are normal numbers, for rows of up to a thousand elements.
HUGE = {"f32": 1e17, "f16": 6e4, "bf16": 1e17}
TINY = {"f32": 1e-17, "f16": 6e-8, "bf16": 1e-17}


#: T = 1, T = 2, small, and more than one of anything a loop could be cut into;
#: d = 1, odd and prime ones.
SHAPES = [(1, 1), (1, 5), (2, 1), (2, 7), (3, 3), (7, 2), (12, 13), (33, 17), (40, 31)]

TAUS = [0.05, 0.3, 0.6, 0.9]


def clustered(rng, total, d, clusters=4, spread=0.2):
    """Tokens around a few directions: what a layer's activations look like."""
    centers = rng.standard_normal((clusters, d))
    noise = rng.standard_normal((total, d)) * spread
    scale = np.exp(rng.standard_normal((total, 1)))
    return (centers[rng.integers(clusters, size=total)] + noise) * scale


def spread_out(rng, total, d):
    """Nothing alike: r = T once d is large."""
    return rng.standard_normal((total, d))


def all_equal(rng, total, d):
    """One direction, many lengths: r = 1."""
    return rng.standard_normal(d)[None] * np.exp(rng.standard_normal((total, 1)))


def equal_rows(rng, total, d):
    """Bit-equal rows, so that ties are exact."""
    pool = rng.standard_normal((max(1, total // 3), d))
    return pool[rng.integers(len(pool), size=total)]


def opposite_pairs(rng, total, d):
    """x and -x: alike when `similarity = absolute`, opposite when signed."""
    pool = rng.standard_normal((max(1, total // 4), d))
    sign = rng.choice([-1.0, 1.0], size=(total, 1))
    return pool[rng.integers(len(pool), size=total)] * sign


def turning_chain(rng, total, d, step=0.40):
    """Each token `step` rad from the one before: neighbours are alike, ends
    are not. In one dimension there is no turning and all rows are equal."""
    x = np.zeros((total, d))
    angle = np.arange(total) * step
    x[:, 0] = np.cos(angle)
    if d > 1:
        x[:, 1] = np.sin(angle)
        # A rotation, so that no coordinate is special.
        basis, _ = np.linalg.qr(rng.standard_normal((d, d)))
        x = x @ basis
    else:
        x[:, 0] = 1.0
    return x * np.exp(rng.standard_normal((total, 1)) * 0.3)


def on_the_threshold(rng, total, d):
    """Cosines with token 0 that differ from the theta of one of the taus by
    about the rounding of f32."""
    if d < 2:
        return np.ones((total, d))
    theta = 1 - rng.choice(TAUS, size=total) ** 2
    cos = np.minimum(theta + rng.integers(-4, 5, size=total) * 2.0**-23, 1)
    x = np.zeros((total, d))
    x[:, 0] = cos
    x[:, 1] = np.sqrt(1 - cos**2) * rng.choice([-1, 1], size=total)
    x[:1] = np.eye(1, d)
    basis, _ = np.linalg.qr(rng.standard_normal((d, d)))
    return x @ basis


def zero_rows(rng, total, d):
    x = clustered(rng, total, d)
    x[rng.random(total) < 0.4] = 0
    return x


def broken_rows(rng, total, d):
    """Single NaNs and infinities, and rows full of them."""
    x = clustered(rng, total, d, clusters=2)
    for t in range(total):
        kind = rng.integers(8)
        if kind == 0:
            x[t, rng.integers(d)] = np.nan
        elif kind == 1:
            x[t, rng.integers(d)] = rng.choice([-np.inf, np.inf])
        elif kind == 2:
            x[t] = np.nan
        elif kind == 3:
            x[t] = np.inf
        elif kind == 4:
            x[t] = 0
    return x


def all_broken(rng, total, d):
    """No row can be compared: r = T whatever tau is."""
    return np.full((total, d), np.nan) * np.ones((1, d))


def extreme_norms(element):
    def generate(rng, total, d):
        """Lengths from the smallest to the largest that f32 sums can hold."""
        x = all_equal(rng, total, d) + clustered(rng, total, d, 2, 0.05)
        x /= np.abs(x).max(axis=1, keepdims=True)
        tiny = TINY[element]
        return x * rng.choice([HUGE[element], 1.0, 1024 * tiny, tiny], size=(total, 1))

    generate.__name__ = "extreme_norms"
    return generate


def overflowing_norms(element):
    def generate(rng, total, d):
        """Finite rows whose norms f32 cannot hold, or sees as zero.

        f16 has none: its largest squares fit, so its rows are only tiny.
        """
        x = clustered(rng, total, d, 2, 0.05)
        x /= np.abs(x).max(axis=1, keepdims=True)
        sizes = [1.0, 2e4] if element == "f16" else [1.0, 1e30, 1e-30]
        return x * rng.choice(sizes, size=(total, 1))

    generate.__name__ = "overflowing_norms"
    return generate


def families(element):
    return [
        clustered,
        spread_out,
        all_equal,
        equal_rows,
        opposite_pairs,
        turning_chain,
        on_the_threshold,
        zero_rows,
        broken_rows,
        all_broken,
        extreme_norms(element),
        overflowing_norms(element),
    ]


def rows(rng, generate, total, d, element):
    """Rows of one family, rounded to the element type, as f32."""
    with np.errstate(over="ignore", invalid="ignore"):
        x = np.asarray(generate(rng, total, d), dtype=np.float32)
        return round_to(x, element).astype(np.float32)


def random_offsets(rng, total):
    """Ascending cuts 0 ... T of one to five sequences, which may be empty."""
    parts = rng.integers(1, 6)
    cuts = np.sort(rng.integers(0, total + 1, size=parts - 1))
    return np.concatenate([[0], cuts, [total]]).astype(np.int32)


def random_set(rng, total):
    """Any set of token ids, possibly empty or full, ascending."""
    chance = rng.choice([0.0, 0.1, 0.5, 1.0])
    return np.flatnonzero(rng.random(total) < chance).astype(np.int32)
