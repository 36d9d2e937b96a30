# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that gist-compile makes for IREE, compiled and run by IREE on the
CPU: logits beside our runtime's and transformers', and what a .vmfb holds."""

import subprocess

import numpy as np
import pytest
from conftest import ROOT, run
from generate import Program

MODELS = ROOT / "test/models"
F32 = ["--compute=f32", "--kv-type=f32"]


def logits_of_gist(gist, model, tokens, folder, options=()):
    """The logits after the last token, by our runtime."""
    module = folder / "model.gist"
    run(gist / "gist-compile", model, "--progress=off", *F32, *options,
        "-o", module)
    np.save(folder / "tokens.npy", np.array(tokens, np.int32))
    run(gist / "gist-run", "call", module, "prefill", "-i",
        f"tokens={folder / 'tokens.npy'}", "-o", folder)
    return np.load(folder / "prefill.logits.npy")[-1]


@pytest.mark.parametrize("kernels", ["plain", "embedded"])
@pytest.mark.parametrize("name", ["llama", "llama3", "gpt2", "gptj", "mistral",
                                  "opt", "qwen2", "qwen2-window", "qwen3",
                                  "gemma3", "mixtral"])
def test_logits(compile_for_iree, name, kernels):
    """All tokens at once, some and then the rest, and one by one: each gives
    what transformers gave for the last token."""
    reference = np.load(MODELS / name / "reference.npz")
    tokens = [int(token) for token in reference["ids"]]
    vmfb = compile_for_iree(MODELS / name, f"--kernels={kernels}", *F32,
                            "--logits=last")
    program = Program(vmfb, vmfb.with_suffix(".irpa"))
    expected = reference["result"][-1]
    at_once = program.prefill(tokens)
    np.testing.assert_allclose(at_once, expected, atol=1e-4, rtol=1e-4)
    program.reset()
    program.prefill(tokens[:7])
    in_parts = program.prefill(tokens[7:])
    np.testing.assert_allclose(in_parts, expected, atol=1e-4, rtol=1e-4)
    program.reset()
    for token in tokens:
        by_one = program.decode(token)
    np.testing.assert_allclose(by_one, expected, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("kernels", ["plain", "embedded"])
@pytest.mark.parametrize("name", ["bert", "esm"])
def test_encoders(compile_for_iree, name, kernels):
    """Models without a cache: all rows are those of transformers."""
    reference = np.load(MODELS / name / "reference.npz")
    vmfb = compile_for_iree(MODELS / name, f"--kernels={kernels}")
    program = Program(vmfb, vmfb.with_suffix(".irpa"))
    found = program.module.forward(np.array(reference["ids"], np.int32))
    np.testing.assert_allclose(found.to_host(), reference["result"], atol=1e-4)


def test_embedded_is_our_code(compile_for_iree, gist, tmp_path):
    """With our kernels the numbers are those of our runtime, to the bit."""
    tokens = [5, 7, 9, 11, 2, 64, 3]
    vmfb = compile_for_iree(MODELS / "llama", "--kernels=embedded", *F32,
                            "--logits=last")
    program = Program(vmfb, vmfb.with_suffix(".irpa"))
    ours = logits_of_gist(gist, MODELS / "llama", tokens, tmp_path)
    np.testing.assert_array_equal(program.prefill(tokens), ours)


@pytest.mark.parametrize("name", ["llama-q4_1.gguf", "qwen2-q4_0.gguf"])
def test_quantised(compile_for_iree, gist, tmp_path, name):
    """Weights in blocks: packed for our kernels, expanded by IREE's."""
    tokens = [5, 7, 9, 11]
    ours = logits_of_gist(gist, MODELS / name, tokens, tmp_path)
    for kernels in ("plain", "embedded"):
        vmfb = compile_for_iree(MODELS / name, f"--kernels={kernels}", *F32,
                                "--logits=last")
        program = Program(vmfb, vmfb.with_suffix(".irpa"))
        np.testing.assert_allclose(program.prefill(tokens), ours, atol=1e-4,
                                   rtol=1e-4)


PLAN = """{"gist_plan": 1, "block": 8, "layers": [
  {"heads": ["dense", {"window": 8, "theta": 0.3, "room": 0.5}]},
  {"heads": [{"window": 8, "sinks": 2}, {"window": 0, "theta": 0.1, "room": 0.1}]}]}
"""


def say(vmfb, tokens):
    """The logits of calls of many kinds: whole blocks, parts of one, and single
    tokens, with tokens leaving windows at the beginning of prefill and of
    decode."""
    program = Program(vmfb, vmfb.with_suffix(".irpa"))
    logits = []
    for size in [8, 4, 4] + [1] * 17 + [7, 8, 8, 1]:
        at = program.past
        call = program.prefill if size > 1 else lambda part: program.decode(*part)
        # The memory of a result is used again.
        logits.append(call(tokens[at:at + size]).copy())
    return np.array(logits)


def test_plan(compile_for_iree, tmp_path):
    """A window, sinks and clusters, with room and without: IREE's own code and
    our kernels give the same, and not what the model gives without a plan."""
    plan = tmp_path / "plan.json"
    plan.write_text(PLAN)
    tokens = [int(t) for t in np.random.default_rng(1).integers(0, 101, 60)]
    options = [*F32, "--logits=last", "--context=64"]
    said = {kernels: say(compile_for_iree(MODELS / "llama", f"--kernels={kernels}",
                                          f"--plan={plan}", *options), tokens)
            for kernels in ("plain", "embedded")}
    np.testing.assert_allclose(said["plain"], said["embedded"], atol=1e-4)
    dense = say(compile_for_iree(MODELS / "llama", "--kernels=embedded", *options),
                tokens)
    # Nothing leaves a window before the second block.
    np.testing.assert_allclose(said["plain"][0], dense[0], atol=1e-4)
    assert np.abs(said["plain"][-1] - dense[-1]).max() > 1e-3


@pytest.mark.parametrize("target, ending",
                         [("gfx942", ".hsaco"), ("sm_90", ".ptx")])
def test_gpu_code_is_embedded(gist, iree, tmp_path, target, ending):
    """A .vmfb for a GPU holds our code object, or PTX, byte for byte."""
    options = [gist / "gist-compile", MODELS / "llama", "--kernels=embedded",
               f"--target={target}", "--progress=off", "--logits=last"]
    run(*options, "--emit=iree", "-o", tmp_path / "model.mlir")
    code = (tmp_path / "model").with_suffix(ending).read_bytes()
    assert len(code) > 1000
    run(*options, "--via=iree", f"--iree-compile={iree / 'iree-compile'}",
        "-o", tmp_path / "model.vmfb")
    assert code in (tmp_path / "model.vmfb").read_bytes()


def test_tools_of_iree(compile_for_iree, iree):
    """iree-run-module takes the program and its parameters as they are."""
    vmfb = compile_for_iree(MODELS / "llama", "--kernels=embedded", *F32,
                            "--logits=last")
    text = run(iree / "iree-run-module", f"--module={vmfb}",
               f"--parameters=model={vmfb.with_suffix('.irpa')}",
               "--device=local-sync", "--function=decode", "--input=1xi32=5",
               "--input=0")
    assert "1x101xf32" in text


def test_text_is_refused_by_a_sentence(gist, iree, tmp_path):
    """What iree-compile cannot take is one sentence of ours, exit code 1."""
    bad = tmp_path / "bad.mlir"
    bad.write_text("func.func @f(%x: tensor<4xi32>) -> tensor<4xi32> {\n"
                   "  %y = \"abacus.count\"(%x) : (tensor<4xi32>) -> tensor<4xi32>\n"
                   "  return %y : tensor<4xi32>\n}\n")
    done = subprocess.run(
        [gist / "gist-compile", bad, "--via=iree", "--progress=off",
         f"--iree-compile={iree / 'iree-compile'}", "-o", tmp_path / "a.vmfb"],
        text=True, capture_output=True)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1 and "unregistered dialect" in done.stderr
