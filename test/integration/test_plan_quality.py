# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""bench/plan_quality.py --baselines on a tiny model, and its page.

    PATH=build/dev/bin:$PATH python3 -m pytest test/integration/test_plan_quality.py
"""

import json
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import baselines  # noqa: E402

TEXT = ("It was the best of times, it was the worst of times, it was the age of wisdom, "
        "it was the age of foolishness, it was the epoch of belief.")
PLAN = {"gist_plan": 1, "block": 8, "layers": [
    {"heads": ["dense", {"window": 8, "theta": 0.6, "room": 1}]},
    {"heads": [{"window": 8, "sinks": 2}, {"window": 8, "theta": 0.8, "room": 1}]}]}


def test_window_of_work():
    """The largest window whose queries see no more than the work allows."""
    tokens, block = 96, 8
    query, key = np.arange(tokens)[:, None], np.arange(tokens)[None, :]

    def share(window):
        first = np.maximum(0, query // block * block - window)
        seen = (key <= query) & ((key >= first) | (key < np.minimum(baselines.SINKS, first)))
        return seen.sum() / (key <= query).sum()

    for work in (0.2, 0.37, 0.8):
        window = baselines.window_of_work(work, tokens, block)
        assert share(window) <= work < share(window + 1)
    assert baselines.window_of_work(1, tokens, block) == tokens


def test_selection_work():
    """Rows that are seen and compared, counted one by one."""
    random = np.random.default_rng(1)
    tokens, group, size = 24, 3, 4
    plan = {"layers": [
        {"selection": {}, "attend": {"window": 3, "block": 4}},
        {"selection": {"rule": "inherit"}, "attend": {"window": 3, "block": 4}}]}
    kept = random.random((2, tokens)) < 0.4
    kept[:, 0] = True
    work = dense = 0
    for layer in plan["layers"]:
        for marks in kept:
            for t in range(tokens):
                exact = max(0, t // 4 * 4 - 3)
                rows = len(range(exact, t + 1)) + sum(1 for s in range(exact) if marks[s])
                work += rows * group * 2 * size
                if "rule" not in layer["selection"]:
                    work += sum(1 for s in range(t) if marks[s]) * size
                dense += (t + 1) * group * 2 * size
    assert baselines.selection_work(plan, [kept, kept], group, size) == pytest.approx(work / dense)


def test_random_representatives():
    made = baselines.random_representatives(PLAN, [[0, 20], [2, 5]], 48)
    assert made["layers"][0]["heads"] == ["dense", {"window": 8, "random": 0.5}]
    assert made["layers"][1]["heads"] == [{"window": 8, "sinks": 2},
                                          {"window": 8, "random": 0.125}]


def test_tiny_model(tmp_path):
    subprocess.run([sys.executable, ROOT / "test/tools/Inputs/with_tokenizer.py",
                    ROOT / "test/models/llama", tmp_path / "llama"], check=True)
    (tmp_path / "plan.json").write_text(json.dumps(PLAN))
    (tmp_path / "text").write_text(TEXT)
    subprocess.run([sys.executable, ROOT / "bench/plan_quality.py", "--gist-run", "gist-run",
                    "--gist-compile", "gist-compile", "--model", tmp_path / "llama",
                    "--plan", f"mine={tmp_path / 'plan.json'}", "--text", f"book={tmp_path / 'text'}",
                    "--tokens", "64", "--windows", "2", "--layers", "--baselines",
                    "-o", tmp_path / "evaluation.json"], check=True)
    found = json.loads((tmp_path / "evaluation.json").read_text())
    plans = {plan["name"]: plan for plan in found["plans"]}
    assert list(plans) == ["mine", "random representatives", "sinks + window everywhere",
                           "fresh selection in every layer", "inherited without validation"]
    assert [name for name, plan in plans.items() if "baseline" not in plan] == ["mine"]
    runs = {name: plan["texts"][0] for name, plan in plans.items()}
    for run in runs.values():
        assert len(run["variation"]["perplexity_ratio"]["values"]) == 2
        assert all(layer["attention_error"] > 0 for layer in run["layers"])
    # The same work, as close as a whole window comes to it.
    work = runs["mine"]["work"]["attention"]
    assert work * 0.9 < runs["sinks + window everywhere"]["work"]["attention"] <= work * 1.01
    fresh, inherited = (runs[name] for name in
                        ("fresh selection in every layer", "inherited without validation"))
    assert fresh["layers"][1]["rule"] == "fresh" and inherited["layers"][1]["rule"] == "inherit"
    assert inherited["layers"][1]["jaccard"] == 1 and inherited["layers"][1]["turnover"] == 0
    assert inherited["work"]["attention"] < fresh["work"]["attention"]

    page = tmp_path / "page.html"
    subprocess.run(["gist-plan", "report", tmp_path / "evaluation.json", "-o", page], check=True)
    html = page.read_text()
    assert "http" not in html  # nothing is fetched
    pictures = [ElementTree.fromstring(part.split("</svg>")[0] + "</svg>")
                for part in ("<svg" + rest for rest in html.split("<svg")[1:])]
    titles = [picture.get("aria-label") for picture in pictures]
    for title in ("Attention work, worst text", "KV cache", "Work and long-range recall",
                  "Error of what attention gives", "Turnover against the layer before"):
        assert title in titles
    for picture in pictures:
        _, _, width, height = map(float, picture.get("viewBox").split())
        assert picture.findall("circle")
        for circle in picture.findall("circle"):
            assert 0 <= float(circle.get("cx")) <= width
            assert 0 <= float(circle.get("cy")) <= height
    for name in plans:
        assert f"<td>{name}</td>" in html
