# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gist.cluster_update and gist.cluster_attention: a KV cache of clusters.

One head at a time, in float64, with lists in place of rings and regions.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from .attention import softmax_rows


def drawn(token):
    """A number in [0, 1) with 22 bits: MurmurHash3's finalizer."""
    h = token
    for shift, factor in ((16, 0x85ebca6b), (13, 0xc2b2ae35)):
        h = (h ^ h >> shift) * factor % 2**32
    return ((h ^ h >> 16) >> 10) / 2**22


@dataclass
class HeadCache:
    """What one KV head of one layer keeps. `window` None: everything. With
    `random` that share of the tokens found clusters, whatever they are like. A
    query sees the last `seen` tokens of what is kept."""

    window: int | None
    theta: float = 1.0
    capacity: int = 0
    sinks: int | None = None
    random: float | None = None
    seen: int | None = None
    block: int = 1
    keys: list = field(default_factory=list)  # of every token so far
    values: list = field(default_factory=list)
    units: list = field(default_factory=list)
    members: list = field(default_factory=list)  # tokens of each cluster
    absorbed: int = 0

    def first_exact(self, past):
        if self.window is None:
            return 0
        return max(0, past // self.block * self.block - self.window)

    def absorb(self, token):
        key = np.asarray(self.keys[token], dtype=np.float64)
        if self.sinks is not None:
            if len(self.members) < min(self.sinks, self.capacity):
                self.found(token, np.zeros_like(key))
            return
        norm = np.sqrt((key**2).sum())
        usable = np.isfinite(norm) and norm > 0
        unit = key / norm if usable else np.zeros_like(key)
        # By an exact sum: how a dot product rounds may depend on where its rows lie,
        # and then equal rows would not tie.
        cosines = [math.fsum(u * unit) for u in self.units] if usable else []
        best = int(np.argmax(cosines)) if cosines else -1
        if self.random is not None:
            is_alike = usable and drawn(token) >= np.float32(2 + self.random) - 2
        else:
            is_alike = best >= 0 and cosines[best] >= self.theta
        if is_alike:
            self.members[best].append(token)
        elif len(self.members) < self.capacity:
            self.found(token, unit)
        elif best >= 0:
            self.members[best].append(token)

    def found(self, token, unit):
        self.units.append(unit)
        self.members.append([token])

    def append(self, keys, values):
        """The tokens of one call, which crosses no block but at its start."""
        past = len(self.keys)
        first = self.first_exact(past)
        while self.absorbed < first:
            self.absorb(self.absorbed)
            self.absorbed += 1
        self.keys += [np.asarray(k, dtype=np.float64) for k in keys]
        self.values += [np.asarray(v, dtype=np.float64) for v in values]

    def attend(self, queries, scale):
        """Outputs of the last len(queries) tokens, for one query head."""
        past = len(self.keys) - len(queries)
        first = self.first_exact(past)
        out = []
        for i, q in enumerate(np.asarray(queries, dtype=np.float64)):
            exact = range(first, past + i + 1)
            means = [np.mean([self.keys[t] for t in m], axis=0) for m in self.members]
            mean_values = [np.mean([self.values[t] for t in m], axis=0) for m in self.members]
            keys = np.array(means + [self.keys[t] for t in exact])
            values = np.array(mean_values + [self.values[t] for t in exact])
            bias = [np.log(len(m)) for m in self.members] + [0.0] * len(exact)
            scores = keys @ q * scale + np.array(bias)
            last = slice(-(self.seen or len(keys)), None)
            out.append(softmax_rows(scores[None, last], values[last])[0])
        return np.array(out)
