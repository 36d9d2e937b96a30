# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The maps that `gist-plan depths` fits, against least squares in NumPy.

    PATH=build/dev/bin:$PATH python3 -m pytest test/integration/test_depth_fit.py
"""

import json
import subprocess
import sys

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from test_depth import FIRST, TEST, as_stored, depth, write_model

KINDS = ["linear", ("thin", 48), "full", "tail", "tail"]
WIDTH, WINDOW, TOKENS = 48, 96, 20 * 96


def write_text(path, count, rng):
    """Characters that a model of single ones reads, some of them more often."""
    codes = 33 + rng.integers(0, 94, count) % rng.integers(20, 94, count)
    path.write_text("".join(map(chr, codes)))
    return codes - 33


class Fit:
    """What the command made of a random model, and what it made it from."""

    def __init__(self, folder):
        rng = np.random.default_rng(5)
        self.weights, _ = write_model(folder / "plain", WIDTH, rng)
        self.model = folder / "model"
        subprocess.run([sys.executable, TEST / "tools/Inputs/with_tokenizer.py", folder / "plain",
                        self.model], check=True)
        self.ids = write_text(folder / "fit.txt", 2 * TOKENS, rng)[:TOKENS]
        write_text(folder / "other.txt", 4096, rng)
        layers = [{"depth": {"thin": kind[1]} if isinstance(kind, tuple) else kind}
                  for kind in KINDS]
        (folder / "plan.json").write_text(json.dumps(
            {"gist_plan": 1, "block": 64, "layers": layers,
             "depth": {"first": 4, "last": 128, "maps": "none"}}))
        self.folder = folder
        self.run = self.command(WINDOW, "--plan", folder / "plan.json")
        self.maps = as_stored(load_file(folder / "fitted.maps.safetensors"))

    def command(self, window, *options, output="fitted.json"):
        return subprocess.run(
            ["gist-plan", "depths", self.model, "--text", self.folder / "fit.txt", "--held-out",
             self.folder / "other.txt", "--tasks", "0", "--prompt", "192", "--answer", "64",
             "--max-tokens", str(TOKENS), "--window", str(window), "-o", self.folder / output,
             *options], capture_output=True, text=True)


@pytest.fixture(scope="module", name="fit")
def make_fit(tmp_path_factory):
    return Fit(tmp_path_factory.mktemp("fit"))


def least_squares(x, y, ridge=1e-3):
    """A map with a bias, and a ridge relative to the squares of each column of x."""
    x = np.hstack([x, np.ones((len(x), 1))])
    sums = x.T @ x
    sums[np.diag_indices(len(sums) - 1)] *= 1 + ridge
    found = np.linalg.solve(sums, x.T @ y)
    return found[:-1].T, found[-1]


def walk(fit, kinds, maps, first):
    """What layers make of the rows behind the first ones, for all windows."""
    windows = []
    for ids in fit.ids.reshape(-1, WINDOW):
        seen = []
        depth.llama(fit.weights, maps, kinds, list(range(first, WINDOW)), ids, heads=4, kv_heads=2,
                    epsilon=1e-5, theta=5000.0, seen=seen)
        windows.append(seen)
    return [{name: np.concatenate([seen[n][name][FIRST:] for seen in windows])
             for name in windows[0][n]} for n in range(len(kinds))]


def reference_maps(fit, first):
    """All maps, one layer after the other. The rows before `first` are whole."""
    target = walk(fit, ["full"] * len(KINDS), {}, first)
    maps, kinds = {}, ["full"] * len(KINDS)
    for n, kind in enumerate(KINDS):
        now = walk(fit, kinds, maps, first)[n]
        if isinstance(kind, tuple):
            rows = fit.maps[f"{n}.thin.rows"]
            maps[f"{n}.thin.rows"] = rows
            maps[f"{n}.thin"], maps[f"{n}.thin.bias"] = least_squares(
                now["neurons"][:, rows.astype(int)], target[n]["after"] - now["attended"])
        elif kind == "linear":
            maps[f"{n}.linear"], maps[f"{n}.linear.bias"] = least_squares(
                depth.normalise(now["x"]), target[n]["after"] - now["x"])
        elif kind == "tail":
            if KINDS[n - 1] != "tail":
                tail = depth.normalise(now["x"])
            for part in "kv":
                maps[f"{n}.{part}.tail"], maps[f"{n}.{part}.tail.bias"] = least_squares(
                    tail, target[n][part])
            continue
        kinds[n] = kind
    return maps


def differences(maps, reference):
    """Of each map, relative to its own size."""
    return {name: np.linalg.norm(maps[name] - value) / np.linalg.norm(value)
            for name, value in reference.items() if value.ndim == 2}


def test_maps_are_least_squares_on_what_a_prompt_does(fit):
    assert fit.run.returncode == 0, fit.run.stderr
    found = differences(fit.maps, reference_maps(fit, FIRST))
    assert len(found) == 6
    assert max(found.values()) < 0.002, found
    # The first tokens of a prompt walk through all layers, also while maps are fitted: every other
    # token looks at them. Only layers behind a reduced one can tell.
    wrong = differences(fit.maps, reference_maps(fit, 0))
    assert wrong["1.thin"] > 10 * found["1.thin"], (wrong, found)


def test_the_plan_compiles_with_its_maps(fit):
    result = subprocess.run(["gist-compile", fit.model, "-o", fit.folder / "less.gist", "--plan",
                             fit.folder / "fitted.json"], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_windows_of_whole_tokens_are_refused(fit):
    result = fit.command(4, "--plan", fit.folder / "plan.json")
    assert result.returncode == 1
    assert ("a window has 4 tokens, and the first 4 of a prompt are whole; expected more"
            in result.stderr)


def test_thin_layers_for_all_tokens_are_fitted_without_a_certificate(fit):
    plan = json.loads((fit.folder / "plan.json").read_text())
    plan["depth"]["thin_for_all"] = True
    (fit.folder / "all.json").write_text(json.dumps(plan))
    result = fit.command(WINDOW, "--plan", fit.folder / "all.json", output="for-all.json")
    assert result.returncode == 0, result.stderr
    assert "fitted, and not judged" in result.stdout
    written = json.loads((fit.folder / "for-all.json").read_text())
    assert written["depth"]["thin_for_all"] and "certificate" not in written["contract"]


def test_the_last_layer_is_fitted_for_all_tokens(fit):
    """No other layer shows what goes into it."""
    last = len(KINDS) - 1
    layers = [{"depth": "full"}] * last + [{"depth": {"thin": 48}}]
    (fit.folder / "last.json").write_text(json.dumps(
        {"gist_plan": 1, "block": 64, "layers": layers,
         "depth": {"first": 4, "last": 128, "maps": "none", "thin_for_all": True}}))
    result = fit.command(WINDOW, "--plan", fit.folder / "last.json", output="last-fitted.json")
    assert result.returncode == 0, result.stderr
    found = as_stored(load_file(fit.folder / "last-fitted.maps.safetensors"))
    neurons, blocks = [], []
    for ids in fit.ids.reshape(-1, WINDOW):
        seen = []
        depth.llama(fit.weights, {}, ["full"] * len(KINDS), [], ids, heads=4, kv_heads=2,
                    epsilon=1e-5, theta=5000.0, seen=seen)
        neurons.append(seen[last]["neurons"][:, found[f"{last}.thin.rows"].astype(int)])
        blocks.append(seen[last]["after"] - seen[last]["attended"])
    reference = least_squares(np.concatenate(neurons), np.concatenate(blocks))[0]
    assert differences(found, {f"{last}.thin": reference})[f"{last}.thin"] < 0.002


def test_a_search_finds_a_plan_for_each_quality(fit):
    result = fit.command(WINDOW, "-q", "1.3", "--also", "1.9", "--tries", "5", output="found.json")
    assert result.returncode == 0, result.stderr
    plans = [json.loads((fit.folder / name).read_text())
             for name in ("found.json", "found-1.9.json")]
    assert [plan["contract"]["quality"] for plan in plans] == [1.3, 1.9]
    assert 1 > plans[0]["contract"]["work"] >= plans[1]["contract"]["work"] > 0
    for plan in plans:
        assert any(layer["depth"] != "full" for layer in plan["layers"])
        assert (fit.folder / plan["depth"]["maps"]).exists()


def test_the_plan_says_what_it_saves_of_the_time_of_a_prompt(fit):
    plan = json.loads((fit.folder / "fitted.json").read_text())
    speed = plan["contract"]["speed"]
    assert speed["times"] == pytest.approx(speed["dense_seconds"] / speed["seconds"])
    assert plan["depth"]["least"]["cpu"] >= 1
    # Prompts whose bulk is shorter are read whole.
    plan["depth"]["least"] = {"cpu": 61, "cuda": 62}
    (fit.folder / "later.json").write_text(json.dumps(plan))
    subprocess.run(["gist-compile", fit.model, "-o", fit.folder / "later.gist", "--plan",
                    fit.folder / "later.json"], check=True)
    info = subprocess.run(["gist-run", "info", fit.folder / "later.gist"], check=True,
                          capture_output=True, text=True).stdout
    assert "4 128 61" in info, info


def test_a_quality_without_a_plan_leaves_the_others(fit):
    result = fit.command(WINDOW, "-q", "1.0001", "--also", "1.9", "--tries", "3",
                         output="strict.json")
    assert result.returncode == 1
    assert "no layer can be left out at quality 1.0001" in result.stderr
    assert not (fit.folder / "strict.json").exists()
    assert (fit.folder / "strict-1.9.json").exists()


def verify(fit, module, plan, *options):
    return subprocess.run(
        ["gist-plan", "verify", module, plan, "--text", fit.folder / "other.txt", "--tasks", "0",
         "--lengths", "192", "--answer", "64", "--quality", "1.9", *options],
        capture_output=True, text=True)


def test_plans_of_heads_and_depths_are_judged_together(fit):
    """Windows that hold everything lose nothing, and others do."""
    losses = {}
    for window in 448, 64:
        heads = [["dense", {"window": window, "sinks": 4}]] * len(KINDS)
        (fit.folder / "heads.json").write_text(json.dumps(
            {"gist_plan": 1, "block": 64, "layers": [{"heads": layer} for layer in heads]}))
        name = f"both-{window}.json"
        result = fit.command(WINDOW, "--plan", fit.folder / "plan.json", "--heads",
                             fit.folder / "heads.json", output=name)
        assert result.returncode == 0, result.stderr
        plan = json.loads((fit.folder / name).read_text())
        assert [layer["heads"] for layer in plan["layers"]] == heads
        assert plan["layers"][0]["depth"] == "linear"
        losses[window] = [part["ratio"] for part in plan["contract"]["certified"]]
        result = subprocess.run(["gist-compile", fit.model, "-o", fit.folder / "both.gist", "--plan",
                                 fit.folder / name], capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
    alone = json.loads((fit.folder / "fitted.json").read_text())["contract"]["certified"]
    assert losses[448] == pytest.approx([part["ratio"] for part in alone], rel=0.01)
    assert losses[64] != pytest.approx(losses[448], rel=0.01)
    # The same by `verify`, without fitting anything again.
    module = fit.folder / "trial.gist"
    subprocess.run(["gist-compile", fit.model, "-o", module, "--observe", "--context=320",
                    "--plan=calibration+depths", "--plan-block=64"], check=True)
    result = verify(fit, module, fit.folder / "both-64.json", "--model", fit.model, "-o",
                    fit.folder / "verified.json")
    assert result.returncode == 0, result.stderr
    judged = json.loads((fit.folder / "verified.json").read_text())["gist_certificates"][0]
    assert [part["ratio"] for part in judged["parts"]] == pytest.approx(losses[64], rel=0.01)
    assert 0 < judged["work"] < 1


def test_verify_refuses_depths_that_it_cannot_try(fit, tmp_path):
    module = fit.folder / "depths.gist"
    subprocess.run(["gist-compile", fit.model, "-o", module, "--observe", "--context=320",
                    "--plan=depths"], check=True)
    plan = json.loads((fit.folder / "fitted.json").read_text())
    plan["depth"]["maps"] = str(fit.folder / plan["depth"]["maps"])
    model = ["--model", fit.model]

    def refuse(message, *options, **changes):
        path = tmp_path / "plan.json"
        path.write_text(json.dumps({**plan, "depth": {**plan["depth"], **changes}}))
        result = verify(fit, module, path, *options)
        assert result.returncode == 1 and message in result.stderr, result.stderr

    refuse("name it with --model")
    refuse("--sessions: plans of depths are tried in one session, got 2", *model, "--sessions", "2")
    refuse("the first 5 and the last 128 tokens of a prompt are whole", *model, first=5)
    refuse("thin layers are for written tokens too", *model, thin_for_all=True)
    # Maps of another model.
    other = load_file(fit.folder / "fitted.maps.safetensors")
    other["weights"] = other["weights"] + 1
    save_file(other, tmp_path / "other.safetensors")
    refuse("fitted for other weights", *model, maps=str(tmp_path / "other.safetensors"))
    del other["0.linear"]
    other["weights"] = other["weights"] - 1
    save_file(other, tmp_path / "less.safetensors")
    refuse("there is no tensor '0.linear'", *model, maps=str(tmp_path / "less.safetensors"))
