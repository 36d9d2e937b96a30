# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whole models that work on representatives, against NumPy, layer by layer.

    PATH=build/dev/bin:$PATH python3 -m pytest test/integration/test_selections.py

A module with a traced plan gives the rows that each selection looked at and the
nearest representative of every token. The selection is checked as a certificate
on those rows; the rows, and the model's result, against a forward pass in
float64 that uses the same selections.

GIST_SMOLLM2_GGUF and GIST_MINILM_FOLDER are the sample models; without them only
tiny ones run.
"""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from safetensors.numpy import load_file

TEST = pathlib.Path(__file__).parent.parent
sys.path.insert(0, str(TEST))
from reference import certificate, models  # noqa: E402
from reference.attend import attend_copy, attend_keys  # noqa: E402
from reference.selection import record  # noqa: E402

SMOLLM2, MINILM = (os.environ.get(name) for name in ("GIST_SMOLLM2_GGUF", "GIST_MINILM_FOLDER"))

#: The paper's: independent selections against all tokens, Algorithm 1, or one
#: selection for all layers.
PAPER = {
    "independent": ({"on": "residual", "against": "all"},
                    {"on": "residual", "against": "all"}, {"mode": "copy"}),
    "algorithm1": ({"on": "residual", "against": "all"},
                   {"on": "residual", "rule": "paper"}, {"mode": "copy"}),
    "one": ({"on": "residual", "against": "all"},
            {"on": "residual", "rule": "inherit"}, {"mode": "copy"}),
    "normalised": ({"on": "normalised", "against": "all"},
                   {"on": "normalised", "rule": "paper"}, {"mode": "copy", "log_count": True}),
}
COVERING = {
    "covering": ({"on": "residual"}, {"on": "residual", "rule": "covering"},
                 {"mode": "keys", "merge": "representative"}),
    "inherit": ({"on": "keys", "similarity": "signed"}, {"on": "keys", "rule": "inherit"},
                {"mode": "keys"}),
    "keys": ({"on": "keys", "similarity": "signed"}, {"on": "keys", "similarity": "signed"},
             {"mode": "keys"}),
}
#: Each KV head has a tau of its own; with 0 it keeps every token.
PER_HEAD = {
    "taus": ({"on": "keys", "similarity": "signed"}, {"on": "keys", "similarity": "signed"},
             {"mode": "keys"}),
    "taus covering": ({"on": "keys"}, {"on": "keys", "rule": "covering"}, {"mode": "keys"}),
}
FORMS = {**PAPER, **COVERING, **PER_HEAD}


def make_plan(form, layers, tau, causal, kv_heads):
    first, next_one, attend = FORMS[form]
    if form in PER_HEAD:
        tau = [tau * part for part in (1, 0, 0.5, 0.75)[:kv_heads]]
    attend = dict(attend)
    if attend["mode"] == "keys" and causal:
        attend |= {"window": 6, "block": 4}
    return {"gist_plan": 1, "trace": True, "layers": [
        {"selection": {"tau": tau, **(next_one if n else first)}, "attend": attend}
        for n in range(layers)]}


def run(model, plan, entry, ids, folder, *options):
    """The outputs of the compiled model, by name."""
    (folder / "plan.json").write_text(json.dumps(plan))
    module = folder / "model.gist"
    subprocess.run(["gist-compile", model, "-o", module, "--compute=f32",
                    f"--plan={folder / 'plan.json'}", *options], check=True)
    np.save(folder / "tokens.npy", np.asarray(ids, np.int32))
    out = subprocess.run(["gist-run", "call", module, entry, "--input",
                          f"tokens={folder}/tokens.npy", "--output", folder],
                         stdout=subprocess.PIPE, check=True, text=True).stdout
    return {pathlib.Path(line).stem.removeprefix(entry + "."): np.load(line)
            for line in out.splitlines()}


def selection_from(nearest):
    kept = np.flatnonzero(nearest == np.arange(len(nearest)))
    return record(len(nearest), kept, nearest)


class Checker:
    """Attention that follows the plan with the selections of the module, which
    it checks on the way."""

    def __init__(self, plan, outputs, causal, tolerance):
        self.plan, self.outputs = plan, outputs
        self.causal, self.tolerance = causal, tolerance
        self.before, self.counts = None, []

    def __call__(self, layer, q, k, v, residual, normalised):
        choice = self.plan["layers"][layer]
        select, attend = choice["selection"], choice["attend"]
        if select.get("rule") == "inherit":
            return self.attend(attend, q, k, v)
        rows = {"residual": residual, "normalised": normalised, "keys": k}[select["on"]]
        got = self.outputs[f"selection.{layer}.rows"]
        scale = np.abs(rows).max()
        np.testing.assert_allclose(got, rows, atol=self.tolerance * scale,
                                   err_msg=f"rows of layer {layer}")
        per_head = got.ndim == 3
        nearest = self.outputs[f"selection.{layer}.nearest"]
        chosen = [selection_from(n) for n in (nearest if per_head else [nearest])]
        for h, selection in enumerate(chosen):
            self.check(select, got[:, h] if per_head else got, selection, h)
        self.before = chosen
        self.counts.append([s.count for s in chosen])
        return self.attend(attend, q, k, v)

    def attend(self, attend, q, k, v):
        chosen = self.before if len(self.before) > 1 else self.before[0]
        if attend["mode"] == "copy":
            return attend_copy(q, k, v, chosen, self.causal,
                               log_count=attend.get("log_count", False))
        window, block = attend.get("window", 0), attend.get("block", 1)
        return attend_keys(q, k, v, chosen, window, block, attend.get("merge", "mean"),
                           self.causal)

    def check(self, select, rows, selection, head):
        tau, rule = select["tau"], select.get("rule", "fresh")
        if isinstance(tau, list):
            tau = tau[head]
        similarity = select.get("similarity", "absolute")
        if rule == "paper":
            certificate.check_paper(rows, tau, self.before[head].kept, selection, similarity)
        else:
            against = select.get("against", "kept")
            certificate.check_selection(rows, tau, selection, against, similarity, self.causal)


def check_llama(model, weights, settings, form, tau, ids, folder, tolerance):
    plan = make_plan(form, settings["layers"], tau, True, settings["kv_heads"])
    outputs = run(model, plan, "score", ids, folder)
    checker = Checker(plan, outputs, True, tolerance)
    want = models.llama(weights, ids, checker, **settings)
    np.testing.assert_allclose(outputs["logits"], want, atol=tolerance * np.abs(want).max())
    return checker.counts


TINY = dict(layers=2, heads=4, kv_heads=2, epsilon=1e-6, theta=5000.0)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("tau", [0.3, 0.8])
def test_tiny_llama(form, tau, tmp_path):
    folder = TEST / "models" / "llama"
    weights = models.llama_weights(load_file(folder / "model.safetensors"))
    ids = np.random.default_rng(3).integers(0, 20, 60)  # few words: some are alike
    counts = check_llama(folder, weights, TINY, form, tau, ids, tmp_path, 1e-4)
    assert any(1 < count < 60 for layer in counts for count in layer)


@pytest.mark.parametrize("form", FORMS)
def test_tiny_bert(form, tmp_path):
    folder = TEST / "models" / "bert"
    tensors = load_file(folder / "model.safetensors")
    ids = np.random.default_rng(4).integers(0, 12, 38)
    plan = make_plan(form, 2, 0.6, causal=False, kv_heads=4)
    outputs = run(folder, plan, "forward", ids, tmp_path)
    checker = Checker(plan, outputs, False, 1e-4)
    want = models.bert(tensors, ids, checker, layers=2, heads=4, epsilon=1e-12)
    np.testing.assert_allclose(outputs["hidden_states"], want, atol=1e-4 * np.abs(want).max())
    assert any(count < 38 for layer in checker.counts for count in layer)


@pytest.mark.parametrize("name", ["gpt2", "gptj", "opt", "opt-post", "llama3", "esm"])
def test_other_architectures(name, tmp_path):
    """Where nothing is redundant, attention on representatives is dense."""
    model = TEST / "models" / name
    layers = json.loads((model / "config.json").read_text())
    layers = layers.get("num_hidden_layers") or layers.get("n_layer")
    is_decoder = name != "esm"
    entry = "score" if is_decoder else "forward"
    attend = {"mode": "keys", "merge": "representative"}
    if is_decoder:
        attend |= {"window": 4, "block": 4}
    ids = np.random.default_rng(6).permutation(30)[:17]  # no word twice

    def compute(selection):
        plan = {"gist_plan": 1, "layers": [
            {"selection": {"tau": 1e-3, **selection}, "attend": attend}] * layers}
        return run(model, plan, entry, ids, tmp_path)["logits"]

    np.save(tmp_path / "tokens.npy", ids.astype(np.int32))
    dense = tmp_path / "dense.gist"
    subprocess.run(["gist-compile", model, "-o", dense, "--compute=f32", "--kv-type=f32"],
                   check=True)
    out = subprocess.run(["gist-run", "call", dense, entry, "--input",
                          f"tokens={tmp_path}/tokens.npy", "--output", tmp_path],
                         stdout=subprocess.PIPE, check=True, text=True).stdout
    want = np.load(out.split()[0])
    for on in ("residual", "normalised") + ("keys",) * (name != "gpt2"):
        np.testing.assert_allclose(compute({"on": on}), want, atol=1e-4)


def text_ids(tokenizer, count):
    return tokenizer.encode((TEST.parent / "README.md").read_text()).ids[:count]


@pytest.mark.skipif(not SMOLLM2, reason="needs the sample model")
@pytest.mark.parametrize("form", PAPER)
def test_smollm2(form, tmp_path):
    import gguf
    tensors = {t.name: gguf.quants.dequantize(t.data, t.tensor_type)
               for t in gguf.GGUFReader(SMOLLM2).tensors}
    settings = dict(layers=30, heads=9, kv_heads=3, epsilon=1e-5, theta=100000.0,
                    neighbours=True)
    ids = np.random.default_rng(5).integers(1000, 1040, 72)
    check_llama(SMOLLM2, models.llama_weights(tensors), settings, form, 0.3, ids, tmp_path, 2e-3)


@pytest.mark.skipif(not MINILM, reason="needs the sample model")
@pytest.mark.parametrize("form", [*PAPER, "covering", "keys"])
def test_minilm(form, tmp_path):
    from tokenizers import Tokenizer
    path = pathlib.Path(MINILM)
    tokenizer = Tokenizer.from_file(str(path / "tokenizer.json"))
    ids = np.array(text_ids(tokenizer, 96))
    plan = make_plan(form, 6, 0.4, causal=False, kv_heads=12)
    outputs = run(path, plan, "embed", ids, tmp_path)
    checker = Checker(plan, outputs, False, 1e-3)
    states = models.bert(load_file(path / "model.safetensors"), ids, checker, layers=6,
                         heads=12, epsilon=1e-12)
    want = states.mean(0) / np.linalg.norm(states.mean(0))
    np.testing.assert_allclose(outputs["embedding"].ravel(), want, atol=1e-4)
