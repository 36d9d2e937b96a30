# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From SmolLM2 to a plan, as a user goes: limits that hold, and the whole journey.

    PATH=build/dev/bin:$PATH GIST_SMOLLM2_GGUF=... python3 -m pytest test/integration/test_plan_journey.py

Takes a quarter of an hour on two cores.
"""

import json
import os
import pathlib
import subprocess
import time

import pytest

ROOT = pathlib.Path(__file__).parents[2]
MODEL = os.environ.get("GIST_SMOLLM2_GGUF")
pytestmark = pytest.mark.skipif(not MODEL, reason="GIST_SMOLLM2_GGUF names no model")

LIMIT = 40
# What a limit does not count: opening the module, and the call that is under way.
SLACK = 10


def timed(*command):
    before = time.monotonic()
    done = subprocess.run(list(map(str, command)), stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True)
    return done, time.monotonic() - before


def test_limits(tmp_path):
    """At the model's own context one measurement of a plan alone takes minutes."""
    wide, calibration = tmp_path / "wide.gist", tmp_path / "calibration.json"
    subprocess.run(["gist-compile", MODEL, "-o", wide, "--plan=calibration", "--progress=off"],
                   check=True)
    text = ROOT / "docs/dialect.md"
    command = ["gist-plan", "calibrate", wide, "--text", text, "--tokens", 512, "--seconds", LIMIT,
               "-o", calibration]
    done, first = timed(*command)
    assert done.returncode == 0 and f"stopped after {LIMIT} s" in done.stderr, done
    assert LIMIT <= first < LIMIT + SLACK
    measured = len(json.loads(calibration.read_text())["heads"])
    assert 10 < measured < 900
    assert "measurements, 0 min" in done.stderr and "left" in done.stderr
    # The same command goes on.
    done, second = timed(*command)
    assert LIMIT <= second < LIMIT + SLACK
    assert len(json.loads(calibration.read_text())["heads"]) > 1.5 * measured

    # Two long texts and their copies take longer than the limit.
    sizes = []
    for _ in range(2):
        done, _ = timed("gist-plan", "auto", MODEL, "--choices", "heads", "--least", "work",
                        "--calibration", calibration, "--lengths", 4096, "--tries", 0,
                        "--seconds", LIMIT, "-o", tmp_path / "limited")
        assert done.returncode == 0, done
        trials = json.loads((tmp_path / "limited/trials.json").read_text())
        sizes.append(len(trials["windows"]))
    assert sizes[0] <= sizes[1] and sizes[1] > 0


def test_journey(tmp_path):
    done, taken = timed("gist-plan", "auto", MODEL, "--quality", 1.01, "-o", tmp_path / "plan")
    assert done.returncode == 0, done.stderr
    assert taken < 15 * 60
    found = json.loads((tmp_path / "plan/evaluation.json").read_text())
    (plan,) = found["plans"]
    assert [run["text"] for run in plan["texts"]] == ["held-out-prose", "held-out-code"]
    for run in plan["texts"]:
        assert run["tokens"] == 2048 and run["work"]["attention"] < 0.95
        # Text that the plan was not found on may lose a little more.
        assert run["windows"]["perplexity_ratio"] < 1.02
        assert run["recall"]["perplexity_ratio"] < 1.1
    contract = plan["plan"]["contract"]["measured"]
    assert all(row.get("perplexity_ratio", 1) <= 1.01 and row.get("recall_ratio", 1) <= 1.05
               for row in contract)
    page = (tmp_path / "plan/report.html").read_text()
    assert "What heads lose alone" in page and "Where the savings are" in page
