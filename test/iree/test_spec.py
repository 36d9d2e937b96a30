# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The transform spec of samples/iree: attention as iree-turbine keeps it calls
our kernel, and computes the same."""

import sys

import iree.runtime as rt
import numpy as np
import pytest
from conftest import ROOT, run

HEADS, TOKENS, SIZE = 6, 21, 32
TYPE = f"tensor<{HEADS}x{TOKENS}x{SIZE}xf32>"
FLAGS = ["--iree-hal-target-device=local",
         "--iree-hal-local-target-device-backends=llvm-cpu",
         "--iree-llvmcpu-target-cpu=generic"]


def program(scale):
    maps = ", ".join(f"affine_map<(b, m, n, k1, k2) -> ({dims})>" for dims in
                     ("b, m, k1", "b, k2, k1", "b, k2, n", "", "b, m, n"))
    return f"""
func.func @f(%q: {TYPE}, %k: {TYPE}, %v: {TYPE}) -> {TYPE} {{
  %scale = arith.constant {scale:.9e} : f32
  %e = tensor.empty() : {TYPE}
  %r = "iree_linalg_ext.attention"(%q, %k, %v, %scale, %e) <{{indexing_maps = [{maps}]}}> ({{
    ^bb0(%s: f32):
      "iree_linalg_ext.yield"(%s) : (f32) -> ()
  }}) : ({TYPE}, {TYPE}, {TYPE}, f32, {TYPE}) -> {TYPE}
  return %r : {TYPE}
}}
"""


@pytest.fixture(scope="module")
def spec(gist, tmp_path_factory):
    folder = tmp_path_factory.mktemp("spec")
    run(sys.executable, ROOT / "samples/iree/attention_spec.py", "--heads",
        HEADS, "--size", SIZE, "--gist-compile", gist / "gist-compile", "-o",
        folder)
    return ["--iree-preprocessing-transform-spec-filename=" +
            str(folder / "spec.mlir"),
            f"--iree-hal-executable-object-search-path={folder}"]


def test_attention_calls_our_kernel(iree, spec, tmp_path):
    source, vmfb = tmp_path / "f.mlir", tmp_path / "f.vmfb"
    source.write_text(program(SIZE ** -0.5))
    run(iree / "iree-compile", source, *FLAGS, *spec, "-o", vmfb)
    text = run(iree / "iree-compile", source, *FLAGS, *spec,
               "--compile-to=preprocessing")
    assert "@gist_kernels::@attention" in text
    assert "iree_linalg_ext.attention" not in text
    rng = np.random.default_rng(3)
    q, k, v = [rng.standard_normal((HEADS, TOKENS, SIZE), np.float32)
               for _ in range(3)]
    scores = np.einsum("hmd,hnd->hmn", q, k) / np.sqrt(np.float32(SIZE))
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    expected = (powers / powers.sum(-1, keepdims=True)) @ v
    config = rt.Config("local-task")
    module = rt.load_vm_module(
        rt.VmModule.mmap(config.vm_instance, str(vmfb)), config)
    np.testing.assert_allclose(module.f(q, k, v).to_host(), expected,
                               atol=1e-5)


def test_another_scale_stays(iree, spec, tmp_path):
    """Our kernel has one scale; attention with another is IREE's."""
    source = tmp_path / "f.mlir"
    source.write_text(program(0.5))
    text = run(iree / "iree-compile", source, *FLAGS, *spec,
               "--compile-to=preprocessing")
    assert "gist" not in text and "iree_linalg_ext.attention" in text
