# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a page of `gist-plan report` is made of, without a browser.

    report_page.py make EVALUATION     writes measurements of two plans
    report_page.py check PAGE          checks the page of them
"""

import html.parser
import json
import random
import re
import sys

LENGTHS = (512, 2048, 8192)
QUALITIES = (1.01, 1.05)


def make(path):
    """Two plans at three lengths, with numbers as large as those of real models."""
    rng = random.Random(1)
    plans = []
    for quality in QUALITIES:
        heads = [[rng.choice(["dense", {"window": 128, "sinks": 4},
                              {"window": 128, "theta": 0.8, "room": 0.4}]) for _ in range(3)]
                 for _ in range(30)]
        texts = []
        for tokens in LENGTHS:
            part = (tokens / 8192) ** 0.25
            texts.append({
                "text": "prose", "tokens": tokens,
                "windows": {"perplexity": 12.1, "against_perplexity": 12,
                            "perplexity_ratio": 1 + 0.8 * (quality - 1) * part},
                "recall": {"perplexity_ratio": 1 + 4 * (quality - 1) * part},
                "work": {"attention": 1.02 - quality * 0.5 * part, "cache": 0.5,
                         "cache_bytes": 31457280},
                "seconds": 3, "against_seconds": 4,
                "layers": [{"work": 0.5, "gram": 31457280, "clusters_of_heads": [3, 30, 300],
                            "work_of_heads": [1.0 if head == "dense" else 0.25 for head in layer]}
                           for layer in heads]})
        plans.append({"name": f"quality {quality}", "quality": quality, "texts": texts,
                      "plan": {"layers": [{"heads": layer} for layer in heads]}})
    points = [{"bytes": 3e7 * n, "ratio": 1 + 0.2 / n, "note": f"{n} bits"} for n in range(2, 6)]
    json.dump({"gist_evaluation": 1, "model": "A model with-a-very-long-name-that-must-not-widen-"
               "the-page-of-a-small-screen.Q4_1", "plans": plans,
               "linears": [{"weights": "f16", "series": [{"name": "plain", "points": points}]}]},
              open(path, "w"))


class Page(html.parser.HTMLParser):
    """Pictures with their texts, maps with their cells, and all text."""

    def __init__(self, text):
        super().__init__()
        self.plots, self.maps, self.words, self.stack = {}, [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag in ("meta", "circle", "line", "path", "br"):
            if tag == "circle":
                self.plot["marks"].append([float(attributes["cx"]), float(attributes["cy"]), ""])
            return
        if tag == "svg":
            self.plot = self.plots[attributes["aria-label"]] = {"marks": [], "texts": []}
        if tag == "table" and attributes.get("class") == "map":
            self.maps.append({"cells": [], "legend": []})
        self.stack.append((tag, attributes))

    def handle_startendtag(self, tag, attributes):
        if tag == "circle":
            self.handle_starttag(tag, attributes)

    def handle_endtag(self, tag):
        if tag in ("circle", "meta"):
            return
        while self.stack and self.stack.pop()[0] != tag:
            pass

    def handle_data(self, data):
        tags = [tag for tag, _ in self.stack]
        if not data.strip() or "style" in tags:
            return
        self.words.append(data)
        tag, attributes = self.stack[-1]
        if tag == "text":
            self.plot["texts"].append((attributes.get("class", ""), float(attributes["x"]),
                                       float(attributes["y"]), data))
        kinds = [(t, a.get("class", "")) for t, a in self.stack]
        for name, kind in kinds:
            if name == "td" and self.maps and ("table", "map") in kinds:
                self.maps[-1]["cells"].append((kind, data))
        if ("figcaption", "legend") in kinds:
            self.maps[-1]["legend"].append(data)


def check(path):
    text = open(path).read()
    page = Page(text)

    # Each plot has the limits of what it shows: recall may lose five times as much.
    for title, limits in (("Work and perplexity", ["1.01: at most 1.01", "1.05: at most 1.05"]),
                          ("Work and long-range recall",
                           ["1.01: at most 1.05", "1.05: at most 1.25"])):
        plot = page.plots[title]
        named = [(y, words) for kind, _, y, words in plot["texts"] if kind == "limit"]
        assert [words for _, words in sorted(named, reverse=True)] == [
            f"quality {limit}" for limit in limits], named
        # They are not written over each other.
        heights = sorted(y for y, _ in named)
        assert all(b - a >= 14 for a, b in zip(heights, heights[1:])), named
        # Every point has its length beside it.
        lengths = [(x, y, words) for kind, x, y, words in plot["texts"] if kind == "point"]
        assert len(plot["marks"]) == len(lengths) == 6, (plot["marks"], lengths)
        assert sorted(words for *_, words in lengths) == sorted(map(str, LENGTHS * 2))
        for x, y, _ in plot["marks"]:
            assert any(abs(x - a) < 12 and abs(y - b) < 32 for a, b, _ in lengths), (x, y, lengths)

    # A limit's name is filled and not drawn as a dashed line.
    for rule in re.findall(r"([^{}]*)\{[^{}]*stroke-dasharray[^{}]*\}", text):
        assert not re.search(r"(^|[\s,])\.limit", rule), rule

    # Lengths stand at the axis as they are.
    words = [words for *_, words in page.plots["Attention work, worst text"]["texts"]]
    assert set(map(str, LENGTHS)) <= set(words), words

    # Maps: every cell says something, and the legend has every colour.
    assert len(page.maps) == 2
    for found in page.maps:
        kinds = {kind for kind, _ in found["cells"]}
        assert kinds == {"dense", "window", "clusters"}, kinds
        legend = " | ".join(found["legend"])
        for words in ("dense: keeps everything", "window: the first tokens and the last w",
                      "clusters of the cosine named", "the darker, the less work"):
            assert words in legend, legend
        windows = {words for kind, words in found["cells"] if kind == "window"}
        assert windows == {"25", "w128"}, windows
        clusters = {words for kind, words in found["cells"] if kind == "clusters"}
        assert clusters == {"25", "0.8 w128"}, clusters
        assert {words for kind, words in found["cells"] if kind == "dense"} == {"100"}
    assert any("at 8192 tokens" in words for words in page.words)

    # Large numbers are for people.
    assert not [words for words in page.words if re.search(r"\de\+\d", words)]
    assert "30 MiB" in page.words and "943,718,400" in page.words
    ticks = [words for *_, words in page.plots["Weights stored as f16"]["texts"]]
    assert "100" in ticks and "weights read for a token, MB" in ticks, ticks
    assert "30 M" in [words for *_, words in page.plots["Gram operations"]["texts"]]
    print("limits, lengths, legends and numbers")


if __name__ == "__main__":
    {"make": make, "check": check}[sys.argv[1]](sys.argv[2])
