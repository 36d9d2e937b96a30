# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plans of depths that `gist-plan depths` finds for encoders, against NumPy.

    PATH=build/dev/bin:$PATH python3 -m pytest test/integration/test_encoder_depth_fit.py
"""

import json
import subprocess
import sys

import numpy as np
import pytest
from safetensors.numpy import load_file

from ranks import MODELS
from test_depth import TEST, as_stored, depth
from test_depth_fit import differences, least_squares, write_text

WINDOW, TOKENS = 32, 60 * 32
BERT = {"heads": 4, "epsilon": 1e-12}


class Encoder:
    """A tiny encoder of sentences, with texts."""

    def __init__(self, folder):
        self.folder, self.model = folder, folder / "bert"
        subprocess.run([sys.executable, TEST / "tools/Inputs/with_tokenizer.py", MODELS / "bert",
                        self.model], check=True)
        (self.model / "1_Pooling").mkdir()
        (self.model / "1_Pooling/config.json").write_text(
            json.dumps({"word_embedding_dimension": 32, "pooling_mode_mean_tokens": True}))
        (self.model / "modules.json").write_text(json.dumps([
            {"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{kind}"}
            for i, (path, kind) in enumerate([("", "Transformer"), ("1_Pooling", "Pooling"),
                                              ("2_Normalize", "Normalize")])]))
        rng = np.random.default_rng(7)
        self.ids = write_text(folder / "fit.txt", 2 * TOKENS, rng)[:TOKENS].reshape(-1, WINDOW)
        self.other = write_text(folder / "other.txt", 4096, rng)
        self.tensors = load_file(self.model / "model.safetensors")

    def plan(self, kinds, name="plan.json", **depth_part):
        layers = [{"depth": {"thin": kind[1]} if isinstance(kind, tuple) else kind}
                  for kind in kinds]
        (self.folder / name).write_text(json.dumps(
            {"gist_plan": 1, "block": 64, "layers": layers,
             "depth": {**depth_part, "maps": "none"}}))
        return self.folder / name

    def command(self, *options, output="fitted.json", tokens=TOKENS):
        return subprocess.run(
            ["gist-plan", "depths", self.model, "--text", self.folder / "fit.txt", "--held-out",
             self.folder / "other.txt", "--max-tokens", str(tokens), "--window", str(WINDOW), "-o",
             self.folder / output, *options], capture_output=True, text=True)

    def walk(self, kinds, maps):
        """What layers make of all pieces that maps are fitted with."""
        pieces = []
        for ids in self.ids:
            pieces.append([])
            depth.bert(self.tensors, maps, kinds, ids, seen=pieces[-1], **BERT)
        return [{name: np.concatenate([seen[n][name] for seen in pieces])
                 for name in pieces[0][n]} for n in range(len(kinds))]

    def embed(self, kinds, maps, ids):
        rows = depth.bert(self.tensors, maps, kinds, ids, **BERT).mean(0)
        return rows / np.linalg.norm(rows)


@pytest.fixture(scope="module", name="encoder")
def make_encoder(tmp_path_factory):
    return Encoder(tmp_path_factory.mktemp("encoder"))


def reference_maps(encoder, kinds, found):
    """All maps, one layer after the other."""
    target = encoder.walk(["full"] * len(kinds), {})
    maps, done = {}, ["full"] * len(kinds)
    for n, kind in enumerate(kinds):
        now = encoder.walk(done, maps)[n]
        if kind == "linear":
            maps[f"{n}.linear"], maps[f"{n}.linear.bias"] = least_squares(
                depth.normalise(now["x"]), target[n]["after"] - now["x"])
        else:
            rows = maps[f"{n}.thin.rows"] = found[f"{n}.thin.rows"]
            # What goes into the norm, with the block's own bias, which stays.
            bias = encoder.tensors[f"encoder.layer.{n}.output.dense.bias"]
            maps[f"{n}.thin"], maps[f"{n}.thin.bias"] = least_squares(
                now["neurons"][:, rows.astype(int)],
                target[n]["sum"] - now["attended"] - bias)
        done[n] = kind
    return maps


@pytest.mark.parametrize("kinds", [["linear", ("thin", 64)], [("thin", 33), ("thin", 20)]])
def test_maps_and_certificate(encoder, kinds):
    result = encoder.command("--plan", encoder.plan(kinds))
    assert result.returncode == 0, result.stderr
    found = as_stored(load_file(encoder.folder / "fitted.maps.safetensors"))
    reference = reference_maps(encoder, kinds, found)
    apart = differences(found, reference)
    assert len(apart) == 2 and max(apart.values()) < 0.01, apart
    # The certificate says what the plan does to embeddings of other texts.
    kept = json.loads((encoder.folder / "fitted.json").read_text())["contract"]["certificate"]
    pieces = encoder.other[:4096 // WINDOW * WINDOW].reshape(-1, WINDOW)[:kept["pieces"]]
    own, planned = (np.stack([encoder.embed(kind, reference, ids) for ids in pieces])
                    for kind in (["full"] * 2, kinds))
    cosines = (own * planned).sum(1)
    assert kept["mean"] == pytest.approx(cosines.mean(), abs=2e-3)
    assert kept["worst"] == pytest.approx(cosines.min(), abs=5e-3)
    assert kept["share_kept"] == pytest.approx((cosines >= 0.9).mean(), abs=0.05)

    def nearest(rows):
        alike = rows @ rows.T
        np.fill_diagonal(alike, -1)
        return alike.argmax(1)
    assert kept["same_nearest"] == pytest.approx((nearest(own) == nearest(planned)).mean(),
                                                 abs=0.1)


def test_a_search_keeps_the_cosine(encoder):
    # The first of these qualities leaves no room, and the others have plans all the same.
    result = encoder.command("-q", "0.995", "--also", "0.8", "--also", "0.6", output="found.json")
    assert result.returncode == 1
    assert "no layer can be left out at quality 0.995; ask for less" in result.stderr
    assert not (encoder.folder / "found.json").exists()
    works = []
    for name, quality in ("found-0.8.json", 0.8), ("found-0.6.json", 0.6):
        plan = json.loads((encoder.folder / name).read_text())
        assert plan["contract"]["cosine"] == quality
        assert "first" not in plan["depth"]
        works.append(plan["contract"]["work"])
        speed = plan["contract"]["speed"]
        assert speed["times"] == pytest.approx(speed["dense_seconds"] / speed["seconds"])
        result = subprocess.run(["gist-compile", encoder.model, "-o", encoder.folder / "less.gist",
                                 "--plan", encoder.folder / name], capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
    assert 1 > works[0] >= works[1] > 0


@pytest.mark.parametrize("kinds, depth_part, options, message", [
    (["full", "full"], {}, [], "no layer is thin, linear or of the tail"),
    (["full"] * 3 + [("thin", 20)], {}, [], "the plan has 4 layers, the model 2"),
    ([("thin", 97), "full"], {}, [], "the model has 96 neurons there"),
    (["full", "linear"], {}, [], "is the last one, behind which there is no other"),
    (["linear", "full"], {"first": 4, "last": 128}, [], "which an encoder does not have"),
    (["linear", "full"], {}, ["-q", "1.01"], "expected a number between 0.5 and 0.9999"),
])
def test_bad_plans_are_refused(encoder, kinds, depth_part, options, message):
    plan = encoder.plan(kinds, "bad.json", **depth_part)
    result = encoder.command("--plan", plan, *options, output="none.json")
    assert result.returncode == 1
    assert message in result.stderr
    assert not (encoder.folder / "none.json").exists()


def test_too_little_text_is_refused(encoder):
    plan = encoder.plan(["linear", "full"], "short.json")
    result = encoder.command("--plan", plan, output="none.json", tokens=WINDOW - 1)
    assert result.returncode == 1
    assert f"the texts have 0 tokens; a window has {WINDOW}" in result.stderr


def test_an_encoder_without_embeddings_is_refused(encoder, tmp_path):
    subprocess.run([sys.executable, TEST / "tools/Inputs/with_tokenizer.py", MODELS / "bert",
                    tmp_path / "plain"], check=True)
    result = subprocess.run(["gist-plan", "depths", tmp_path / "plain", "-o", tmp_path / "p.json"],
                            capture_output=True, text=True)
    assert result.returncode == 1
    assert "the model gives no embedding of a text" in result.stderr
