# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Published models, compiled and run, against `transformers` on the same weights.

    GIST_SMOLLM2_GGUF=… GIST_GEMMA3_GGUF=… GIST_MINILM_FOLDER=… PATH=build/dev/bin:$PATH \\
        python3 -m pytest test/integration/test_real_models.py
"""

import subprocess

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from test_import_formats import gemma3_from_gguf, llama_from_gguf, published, reference, sentence_embedding
from tokenizers_common import encode, file_keys
from tokenizers_test import import_gguf

TOLERANCE = 2e-3
PROMPTS = [
    "The capital of France is",
    "def fibonacci(n):\n    ",
    "Once upon a time, in a village by the sea,",
    "Licensed under the Apache License, Version 2.0 (the",
    "1, 1, 2, 3, 5, 8,",
]


def compile_model(path, module, *options):
    subprocess.run(["gist-compile", path, "-o", module, *options], check=True)
    return module


def scores(module, ids, width):
    """Logits after every token."""
    result = subprocess.run(
        ["gist-session-test", module, "score", str(len(ids))],
        input=np.asarray(ids, np.int32).tobytes(), stdout=subprocess.PIPE, check=True)
    return np.frombuffer(result.stdout, np.float32).reshape(-1, width)


def generate(module, prompt, count):
    """The ids that follow a prompt, greedily."""
    result = subprocess.run(
        ["gist-run", "generate", module, "-p", prompt, "-n", str(count),
         "--ignore-end", "--print-tokens"],
        stdout=subprocess.PIPE, check=True, text=True)
    return [int(word) for word in result.stdout.split()]


@pytest.fixture(scope="module")
def smollm2():
    path = published("GIST_SMOLLM2_GGUF")
    model = llama_from_gguf(path).eval().float()
    tokenizer = transformers.AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
    return path, model, tokenizer


@pytest.fixture(scope="module")
def exact(smollm2, tmp_path_factory):
    """The module with f32 products of expanded weights."""
    module = tmp_path_factory.mktemp("smollm2") / "exact.gist"
    return compile_model(smollm2[0], module, "--expand-weights", "--compute=f32",
                         "--kv-type=f32", "--logits=all")


def test_logits(smollm2, exact):
    """Every logit within the tolerance, and the same most likely token wherever
    the reference's margin exceeds it."""
    _, model, tokenizer = smollm2
    for prompt in PROMPTS:
        ids = tokenizer(prompt)["input_ids"]
        expected = reference(None, np.array(ids), model)
        found = scores(exact, ids, expected.shape[1])
        assert np.abs(found - expected).max() <= TOLERANCE
        best = np.sort(expected, axis=1)
        clear = best[:, -1] - best[:, -2] > 2 * TOLERANCE
        assert clear.any()
        assert (found.argmax(1) == expected.argmax(1))[clear].all()


@pytest.mark.parametrize("prompt", PROMPTS)
def test_greedy_tokens(smollm2, exact, prompt):
    _, model, tokenizer = smollm2
    ids = torch.tensor([tokenizer(prompt)["input_ids"]])
    # No end token: what follows it is compared too.
    model.generation_config = transformers.GenerationConfig(
        max_new_tokens=64, do_sample=False, eos_token_id=None, pad_token_id=0)
    with torch.no_grad():
        expected = model.generate(ids, attention_mask=torch.ones_like(ids))
    assert generate(exact, prompt, 64) == expected[0, ids.shape[1]:].tolist()


@pytest.fixture(scope="module")
def gemma3(tmp_path_factory):
    """The model in PyTorch, and a module with f32 products of expanded weights."""
    path = published("GIST_GEMMA3_GGUF")
    module = tmp_path_factory.mktemp("gemma3") / "exact.gist"
    compile_model(path, module, "--expand-weights", "--compute=f32", "--kv-type=f32",
                  "--logits=all", "--context=2048")
    spec = import_gguf({"merges": [], "chat_template": ""} | file_keys(path), module.parent)
    ids = lambda text: encode(spec, [text.encode()])[0]
    return gemma3_from_gguf(path).eval().float(), module, ids


def test_gemma3(gemma3):
    """Logits relative to the largest, also of a text longer than the window of 512."""
    model, module, ids_of = gemma3
    rng = np.random.default_rng(1)
    texts = [ids_of(prompt) for prompt in PROMPTS]
    for ids in [*texts, [2, *rng.integers(300, 200000, 700)]]:
        expected = reference(None, np.array(ids), model)
        found = scores(module, ids, expected.shape[1])
        assert np.abs(found - expected).max() <= TOLERANCE * np.abs(expected).max()
        best = np.sort(expected, axis=1)
        clear = best[:, -1] - best[:, -2] > 2 * TOLERANCE * np.abs(expected).max()
        assert clear.any()
        assert (found.argmax(1) == expected.argmax(1))[clear].all()


def test_gemma3_greedy_tokens(gemma3):
    """Decoding, with a cache."""
    model, module, ids_of = gemma3
    ids = torch.tensor([ids_of(PROMPTS[0])])
    model.generation_config = transformers.GenerationConfig(
        max_new_tokens=48, do_sample=False, eos_token_id=None, pad_token_id=0)
    with torch.no_grad():
        expected = model.generate(ids, attention_mask=torch.ones_like(ids))
    assert generate(module, PROMPTS[0], 48) == expected[0, ids.shape[1]:].tolist()


def test_minilm(tmp_path):
    path = published("GIST_MINILM_FOLDER")
    module = compile_model(path, tmp_path / "minilm.gist")
    tokenizer = transformers.AutoTokenizer.from_pretrained(path)
    for text in PROMPTS:
        result = subprocess.run(["gist-run", "embed", module, text],
                                stdout=subprocess.PIPE, check=True, text=True)
        found = np.array([float(word) for word in result.stdout.split()])
        expected = sentence_embedding(reference(path, np.array(tokenizer(text)["input_ids"])))
        expected = np.ravel(expected)
        cosine = found @ expected / (np.linalg.norm(found) * np.linalg.norm(expected))
        assert cosine >= 0.9999
