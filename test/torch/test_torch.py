# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models in PyTorch, compiled, against PyTorch. test/torch/run.sh runs this."""

import pathlib
import subprocess
import sys

import gist
import models
import pytest
import torch
from gist import _torch
from torch import nn

UPSTREAM = pathlib.Path(__file__).parent.parent.parent / "docs/upstream"
EXAMPLE = torch.zeros(1, 12, dtype=torch.int64)


def difference(compiled, model, tokens):
    with torch.no_grad():
        expected = model(tokens)
    found = compiled(tokens)
    assert found.shape == expected.shape
    return float((found - expected).abs().max())


def tokens_of(count):
    return torch.randint(0, 97, (1, count), generator=torch.Generator().manual_seed(count))


@pytest.mark.parametrize("name", models.MODELS)
def test_fixed_length(name):
    model = models.make(name)
    compiled = gist.from_torch(model, EXAMPLE)
    assert difference(compiled, model, tokens_of(12)) < 1e-4
    with pytest.raises(gist.BadArgumentError, match="expected"):
        compiled(tokens_of(13))


@pytest.mark.parametrize("name", models.MODELS)
def test_dynamic_length(name):
    model = models.make(name)
    compiled = gist.from_torch(model, EXAMPLE, dynamic=True)
    # Less than a tile of rows, tiles, and a rest.
    for count in (1, 2, 12, 37, 64):
        assert difference(compiled, model, tokens_of(count)) < 1e-4


def test_heads_of_two_numbers():
    # Less than a vector of any CPU.
    model = models.make("llama", width=16, heads=8, kv_heads=4, hidden=24)
    compiled = gist.from_torch(model, EXAMPLE, dynamic=True)
    for count in (1, 12, 37):
        assert difference(compiled, model, tokens_of(count)) < 1e-4


def test_plan_that_keeps_all_tokens_changes_nothing():
    # So small a tau keeps every token: attention on representatives is attention.
    model = models.make("llama")
    layer = {
        "selection": {"on": "keys", "tau": 0.001, "similarity": "signed"},
        "attend": {"mode": "keys", "window": 8, "block": 8},
    }
    compiled = gist.from_torch(model, EXAMPLE, dynamic=True, plan={"gist_plan": 1, "layers": [layer, layer]})
    assert difference(compiled, model, tokens_of(37)) < 1e-4


def test_plan_that_merges_tokens_changes_something():
    model = models.make("llama")
    layer = {"selection": {"on": "residual", "tau": 0.9}, "attend": {"mode": "copy"}}
    compiled = gist.from_torch(model, EXAMPLE, dynamic=True, plan={"gist_plan": 1, "layers": [layer, layer]})
    assert difference(compiled, model, tokens_of(37)) > 1e-3


def test_linear_layers_in_fewer_bits():
    # Eight bits are close; weights must be 32 wide for blocks.
    model = models.make("llama", width=64, hidden=96)
    linears = {name: {"bits": 8} for name in ("qkv", "o", "gate_up", "down")}
    plan = {"gist_plan": 1, "block": 64, "layers": [{"linears": linears}] * 2}
    compiled = gist.from_torch(model, EXAMPLE, dynamic=True, plan=plan)
    assert 1e-6 < difference(compiled, model, tokens_of(37)) < 0.1


def test_what_is_not_attention_stays_right(tmp_path):
    # The largest of a row starts at 0 and not at -infinity. The softmax is the
    # same, and it is not the one that is looked for.
    model = models.make("bert")
    program = _torch._export(torch, model, (EXAMPLE,), True)
    text, _ = _torch._lower(torch, program)
    assert "0xFF800000" in text
    path = tmp_path / "bert.mlir"
    path.write_text(text.replace("0xFF800000", "0.000000e+00"))
    module = gist.compile(path)
    found = torch.from_numpy(module.call("main", tokens_of(37).numpy())[0].copy())
    with torch.no_grad():
        assert float((found - model(tokens_of(37))).abs().max()) < 1e-4


def test_names_of_weights_stay():
    program = _torch._export(torch, models.make("gpt2"), (EXAMPLE,), False)
    text, _ = _torch._lower(torch, program)
    assert "dense_resource<h.1.c_fc.weight>" in text


class Several(nn.Module):
    def forward(self, x, mask):
        return {"sum": (x * mask).sum(-1), "pair": (x + 1, 2 * mask)}


def test_results_keep_their_structure():
    x, mask = torch.randn(3, 5), torch.randint(0, 2, (3, 5)).float()
    found = gist.from_torch(Several(), (x, mask))(x, mask)
    torch.testing.assert_close(found["sum"], (x * mask).sum(-1))
    torch.testing.assert_close(found["pair"][0], x + 1)
    torch.testing.assert_close(found["pair"][1], 2 * mask)


def test_exported_program():
    model = models.make("bert")
    compiled = gist.from_torch(torch.export.export(model, (EXAMPLE,)), EXAMPLE)
    assert difference(compiled, model, tokens_of(12)) < 1e-4


def test_backend_of_torch_compile():
    model = models.make("gpt2")
    with torch.no_grad():
        found = torch.compile(model, backend=gist.torch_backend, dynamic=False)(tokens_of(12))
        torch.testing.assert_close(found, model(tokens_of(12)), atol=1e-4, rtol=0)


class Counts(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(4))

    def forward(self, x):
        self.calls.add_(1)
        return x + self.calls


class Fixed(nn.Module):
    def forward(self, x):
        return x + torch.arange(12)


def test_refusals_are_sentences():
    with pytest.raises(gist.UnsupportedError, match="changes its buffers"):
        gist.from_torch(Counts(), torch.zeros(4))
    with pytest.raises(gist.CompileError, match="torch.export"):
        gist.from_torch(Fixed(), EXAMPLE, dynamic=True)


STABLEHLO = """
func.func public @main(%q: tensor<4x12x8xf32>, %k: tensor<4x12x8xf32>, %v: tensor<4x12x8xf32>) -> tensor<4x12x8xf32> {
  %scale = stablehlo.constant dense<0.353553385> : tensor<4x12x12xf32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %qk = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x12x8xf32>, tensor<4x12x8xf32>) -> tensor<4x12x12xf32>
  %scores = stablehlo.multiply %qk, %scale : tensor<4x12x12xf32>
  %max = stablehlo.reduce(%scores init: %least) applies stablehlo.maximum across dimensions = [2] : (tensor<4x12x12xf32>, tensor<f32>) -> tensor<4x12xf32>
  %maxes = stablehlo.broadcast_in_dim %max, dims = [0, 1] : (tensor<4x12xf32>) -> tensor<4x12x12xf32>
  %shifted = stablehlo.subtract %scores, %maxes : tensor<4x12x12xf32>
  %powers = stablehlo.exponential %shifted : tensor<4x12x12xf32>
  %sum = stablehlo.reduce(%powers init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<4x12x12xf32>, tensor<f32>) -> tensor<4x12xf32>
  %sums = stablehlo.broadcast_in_dim %sum, dims = [0, 1] : (tensor<4x12xf32>) -> tensor<4x12x12xf32>
  %weights = stablehlo.divide %powers, %sums : tensor<4x12x12xf32>
  %out = stablehlo.dot_general %weights, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x12x12xf32>, tensor<4x12x8xf32>) -> tensor<4x12x8xf32>
  return %out : tensor<4x12x8xf32>
}
"""


def test_stablehlo_lowered_by_the_wheel(tmp_path):
    # As passes/Import/README.md says.
    source, lowered = tmp_path / "a.stablehlo.mlir", tmp_path / "a.mlir"
    source.write_text(STABLEHLO)
    opt = pathlib.Path(sys.executable).parent / "torch-mlir-opt"
    options = ["-inline", "-stablehlo-legalize-to-linalg", "-canonicalize", "-o", str(lowered)]
    subprocess.run([str(opt), str(source), *options], check=True)
    q, k, v = torch.randn(3, 4, 12, 8, generator=torch.Generator().manual_seed(1))
    (found,) = gist.compile(lowered).call("main", q.numpy(), k.numpy(), v.numpy())
    expected = nn.functional.scaled_dot_product_attention(q, k, v)
    torch.testing.assert_close(torch.from_numpy(found.copy()), expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("path", sorted(UPSTREAM.glob("torch-mlir-*.py")), ids=lambda path: path.stem)
def test_problems_of_torch_mlir_are_still_there(path):
    # One that is gone can go from here, and what works around it too.
    ended = subprocess.run([sys.executable, "-W", "ignore", str(path)], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
