# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plans of linear layers under IREE: rounded weights, subspaces and gates, in
IREE's own code and in our kernels, against NumPy."""

import json
import sys

import numpy as np
import pytest
from conftest import ROOT
from generate import Program
from safetensors.numpy import load_file, save_file

sys.path.insert(0, str(ROOT / "test"))
from reference import models  # noqa: E402
from reference.attention import attention  # noqa: E402
from reference.gated_projection import gate_levels  # noqa: E402

LLAMA = ROOT / "test/models/llama"
SHAPE = dict(layers=2, heads=4, kv_heads=2, epsilon=1e-6, theta=5000.0)
GROUPS = {"q": "qkv", "k": "qkv", "v": "qkv", "o": "o", "gate": "gate_up",
          "up": "gate_up", "down": "down", "head": "head"}
TOKENS = 37

#: Bases are made for every group that has a `k`.
PLANS = {
    "bits": {"head": {"bits": 4, "exact_rows": 13}, "layers": [
        {"linears": {"qkv": {"bits": 8}, "down": {"bits": 3}}},
        {"linears": {"o": {"bits": 2}, "gate_up": {"bits": 4}}}]},
    "subspaces": {"head": {"bits": 8}, "layers": [
        {"linears": {"qkv": {"bits": 3, "k": 32}, "down": {"bits": 2, "k": 48}}},
        {"linears": {"gate_up": {"bits": 2, "k": 16}}}]},
    "gates": json.loads((ROOT / "test/models/plans.json").read_text())["gates"]["plan"],
}


def round_to(bits, x):
    """Blocks of 32: levels between the smallest and the largest number, or in 8
    bits between -127 and 127. Scales are in f16."""
    blocks = x.reshape(len(x), -1, 32).astype(np.float32)
    top = 127 if bits == 8 else 2**bits - 1
    low = np.float32(0) if bits == 8 else blocks.min(-1, keepdims=True)
    largest = np.abs(blocks) if bits == 8 else blocks - low
    scale = (largest.max(-1, keepdims=True) / np.float32(top)).astype(np.float16)
    low, scale = (np.asarray(y, np.float16).astype(np.float32) for y in (low, scale))
    levels = np.clip(np.rint((blocks - low) / scale), -top if bits == 8 else 0, top)
    return (low.astype(np.float64) + scale.astype(np.float64) * levels).reshape(x.shape)


def store(x):
    """As bases and what is made of them are stored."""
    return round_to(8, x) if x.shape[1] % 32 == 0 else x.astype(np.float16).astype(np.float64)


class Linears:
    """The linear layers of a plan, by their definitions."""

    def __init__(self, plan, bases, weights):
        self.plan, self.bases, self.weights = plan, bases, weights
        self.levels = {}

    def __call__(self, name, x):
        w = np.asarray(self.weights["embed" if name == "head" else name], np.float64)
        layer, _, short = name.rpartition(".")
        group = GROUPS[short]
        choice = (self.plan["layers"][int(layer)]["linears"] if layer else self.plan).get(group, {})
        if "k" not in choice:
            return x @ self.round(choice, w).T if choice else x @ w.T
        v = self.bases[f"{layer}.{group}.basis"][:choice["k"]].T.astype(np.float64)
        inside = x @ store(v.T).T
        if "epsilon" not in choice:
            rounded = self.round(choice, w)
            return x @ rounded.T + inside @ store((w - rounded) @ v).T
        return self.gate(f"{layer}.{group}", choice, w, store(v), x, inside)

    def round(self, choice, w):
        exact = choice.get("exact_rows", 0)
        return np.concatenate([w[:exact], round_to(choice["bits"], w[exact:])])

    def gate(self, group, choice, w, v, x, inside):
        rest = x - inside @ v.T
        rho = np.linalg.norm(rest, axis=1) / np.linalg.norm(x, axis=1)
        ends = [choice[end] for end in ("epsilon_low", "epsilon") if end in choice]
        # Otherwise rounding would decide.
        assert min(np.abs(rho - end).min() for end in ends) > 1e-5
        levels = gate_levels(rho, choice["epsilon"], choice.get("epsilon_low"))
        self.levels[group] = set(levels)
        y = inside @ store(w @ v).T
        if "bits" in choice:
            y[levels == 1] += rest[levels == 1] @ round_to(choice["bits"], w).T
        y[levels == len(ends)] = x[levels == len(ends)] @ w.T
        return y


def make_bases(plan):
    rng = np.random.default_rng(1)
    return {f"{n}.{group}.basis":
            np.linalg.qr(rng.standard_normal((96 if group == "down" else 32, choice["k"])))[0]
            .T.astype(np.float32).copy()
            for n, layer in enumerate(plan["layers"])
            for group, choice in layer["linears"].items() if "k" in choice}


@pytest.mark.parametrize("kernels", ["plain", "embedded"])
@pytest.mark.parametrize("form", PLANS)
def test_linears(compile_for_iree, form, kernels, tmp_path):
    plan = {"gist_plan": 1, "block": 64, **PLANS[form], "bases": "bases.safetensors"}
    bases = make_bases(plan)
    if bases:
        save_file(bases, tmp_path / "bases.safetensors")
    else:
        del plan["bases"]
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    vmfb = compile_for_iree(LLAMA, f"--kernels={kernels}", "--compute=f32", "--kv-type=f32",
                            "--logits=all", f"--plan={tmp_path / 'plan.json'}")
    program = Program(vmfb, vmfb.with_suffix(".irpa"))
    ids = np.random.default_rng(3).integers(0, 101, TOKENS)

    weights = models.llama_weights(load_file(LLAMA / "model.safetensors"))
    linears = Linears(plan, bases, weights)
    dense = lambda _, q, k, v, *rows: attention(q, k, v)
    expected = models.llama(weights, ids, dense, **SHAPE, multiply=linears)
    exact = models.llama(weights, ids, dense, **SHAPE)
    assert np.abs(expected - exact).max() > 1e-2 * np.abs(exact).max()
    if form == "gates":
        assert all(len(levels) > 1 for levels in linears.levels.values())
        assert linears.levels["0.down"] == {0, 1, 2}

    found = program.module.score(ids.astype(np.int32), 0).to_host()
    np.testing.assert_allclose(found, expected, atol=1e-4 * np.abs(expected).max())
    # One by one; a token's gates do not depend on others.
    program.reset()
    rows = [program.module.score(ids[t:t + 1].astype(np.int32), t).to_host()[0].copy()
            for t in range(TOKENS)]
    np.testing.assert_allclose(rows, expected, atol=1e-4 * np.abs(expected).max())
