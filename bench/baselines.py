# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a plan of heads is measured against, made from the plan itself and from
what an evaluation of it found. bench/plan_quality.py --baselines runs them."""

import itertools
import math
import statistics

SINKS = 4


def is_clusters(head):
    return isinstance(head, dict) and "theta" in head


def cluster_heads(plan):
    return [head for layer in plan["layers"] for head in layer.get("heads", [])
            if is_clusters(head)]


def dense_keys(before, tokens):
    """Keys that `tokens` queries at positions from `before` on see, as in
    passes/Plan/File/Work.h."""
    return tokens * before + tokens * (tokens + 1) // 2


def window_keys(tokens, window, sinks, block):
    """Keys that queries see: their block, a window before it, and the sinks."""
    total = 0
    for begin in range(0, tokens, block):
        first = max(0, begin - window)
        count = min(block, tokens - begin)
        total += dense_keys(begin - first, count) + count * min(sinks, first)
    return total


def window_of_work(work, tokens, block, sinks=SINKS):
    """The largest window with which a head does at most this share of dense work."""
    wanted = work * dense_keys(0, tokens)
    low, high = 1, tokens
    while low < high:
        middle = (low + high + 1) // 2
        if window_keys(tokens, middle, sinks, block) <= wanted:
            low = middle
        else:
            high = middle - 1
    return low


def windows_everywhere(plan, work, tokens):
    """Sinks and one window for every head, with the plan's work at `tokens` tokens."""
    window = window_of_work(work, tokens, plan["block"])
    return {"gist_plan": 1, "block": plan["block"], "layers": [
        {"heads": [{"window": window, "sinks": SINKS}] * len(layer["heads"])}
        for layer in plan["layers"]]}


def random_representatives(plan, clusters, tokens):
    """As many representatives as the plan's heads had, drawn at random.

    `clusters` are those of each layer's heads at the end of `tokens` tokens."""
    layers = []
    for layer, counts in zip(plan["layers"], clusters):
        heads = []
        for head, count in zip(layer["heads"], counts):
            if is_clusters(head):
                older = max(1, tokens - head["window"])
                share = min(1.0, max(count / older, 1e-3))
                head = {"window": head["window"], "random": round(share, 4)}
            heads.append(head)
        layers.append({"heads": heads})
    return {"gist_plan": 1, "block": plan["block"], "layers": layers}


def selections(plan, is_inherited, is_traced=False):
    """Every head of every layer on clusters, with the plan's median theta: a
    selection on its own keys, or the first layer's passed on to all others,
    without validating it there.

    Such a selection sees the whole sequence, so these modules score texts and
    have no cache."""
    found = cluster_heads(plan)
    theta = statistics.median(head["theta"] for head in found)
    attend = {"mode": "keys", "merge": "mean", "block": plan["block"],
              "window": round(statistics.median(head["window"] for head in found))}
    select = {"on": "keys", "tau": round(math.sqrt(1 - theta), 4), "similarity": "signed"}
    rest = select | ({"rule": "inherit"} if is_inherited else {})
    return {"gist_plan": 1, "layers": [
        {"selection": rest if n else select, "attend": attend}
        for n in range(len(plan["layers"]))]} | ({"trace": True} if is_traced else {})


def selection_work(plan, kept_of, group, size):
    """Multiply-adds of attention and selections, relative to dense causal
    attention.

    `kept_of[layer]` says of each KV head which tokens are representatives. A
    query sees the tokens of its block and window, and the representatives before
    them; a selection compares a token with the representatives before it.
    `group` query heads share a KV head, whose keys and values have `size`
    numbers each."""
    work = dense = 0
    for layer, kept in zip(plan["layers"], kept_of):
        window, block = layer["attend"]["window"], layer["attend"]["block"]
        for marks in kept:
            before = [0, *itertools.accumulate(map(int, marks))]
            dense += dense_keys(0, len(marks)) * group * 2 * size
            for t in range(len(marks)):
                exact = max(0, t // block * block - window)
                work += (t - exact + 1 + before[exact]) * group * 2 * size
                if layer["selection"].get("rule") != "inherit":
                    work += before[t] * size
    return work / dense
