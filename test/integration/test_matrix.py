# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every option on models of many shapes: formats x --compute x --kv-type x shapes.

    PATH=build/dev/bin:$PATH python3 -m pytest test/integration/test_matrix.py

A model has one layer and random weights. What it computes is compared with NumPy
(test/reference/models.py), which rounds activations to 8 bits where the module does.
The fast tier has each format, and each shape with each option; `--full` has all of them.
"""

import itertools
import struct
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))
from reference import models
from reference.attention import attention
from reference.quantization import (FORMATS, HALVES, dequantize, dequantize_activation,
                                    expand_head_rows, key_magnitudes, quantize_activation,
                                    quantize_head_rows)
from test_compile import run

#: What GGUF files have: Q3_1 and Q2_1 are written by plans alone.
BLOCKS = [name for name in FORMATS if name not in ("q3_1", "q2_1")]
FLOATS = ["f32", "f16", "bf16"]
#: Their numbers in GGUF files.
TYPES = {"f32": 0, "f16": 1, "q4_0": 2, "q4_1": 3, "q5_0": 6, "q5_1": 7, "q8_0": 8, "q2_k": 10,
         "q3_k": 11, "q4_k": 12, "q5_k": 13, "q6_k": 14, "iq4_nl": 20, "bf16": 30}


@dataclass(frozen=True)
class Shape:
    architecture: str
    hidden: int
    heads: int
    kv_heads: int
    size: int  # of a head
    ffn: int
    vocabulary: int
    is_tied: bool


#: Head counts that are odd, prime, or share one KV head; heads that fill no block of 32 or
#: 64; K from 160 to 32,768; vocabularies that divide nothing.
SHAPES = {
    "odd-heads": Shape("llama", 256, 5, 5, 32, 512, 307, True),
    "one-kv-head": Shape("qwen2", 448, 7, 1, 64, 1792, 129, False),
    "long-down": Shape("llama", 256, 3, 3, 80, 32768, 67, True),
    "three-by-three": Shape("qwen2", 768, 9, 3, 80, 1280, 1031, True),
    "wide": Shape("llama", 2304, 11, 11, 128, 256, 33, False),
}
PIECES = [1, 19, 1, 1, 5, 3, 70]


def store(rng, kind, rows, columns):
    """A random weight as it is stored, and its values, about 1 / sqrt(columns) large."""
    if kind in FLOATS:
        values = (rng.standard_normal((rows, columns)) / np.sqrt(columns)).astype(np.float32)
        if kind == "bf16":
            halves = (values.view(np.uint32) >> 16).astype(np.uint16)
            return halves.view(np.uint8), (halves.astype(np.uint32) << 16).view(np.float32)
        values = values.astype({"f32": np.float32, "f16": np.float16}[kind])
        return values, values
    length, size = FORMATS[kind]
    blocks = rng.integers(0, 256, (rows, columns // length, size), dtype=np.uint8)
    halves = HALVES.get(kind, [0])

    def scale(count, by):
        for at in halves:
            # Of both signs, or the values of a weight would have a mean.
            d = rng.uniform(0.5, 2, blocks[:count].shape[:2]) * by
            d *= rng.choice([-1, 1], d.shape)
            blocks[:count, :, at:at + 2] = d.astype("<f2")[..., None].view(np.uint8)

    # What blocks of this format are worth with scales of about one.
    few = min(rows, 8)
    scale(few, 1 / 64)
    unit = dequantize(blocks[:few], kind).std() * 64
    scale(rows, 1 / unit / np.sqrt(columns))
    return blocks.reshape(rows, -1), dequantize(blocks, kind)


def stored_kind(kind, columns):
    """As llama.cpp does: rows that are no whole blocks of 256 have blocks of 32, and those
    that are no whole blocks at all are f16."""
    if kind in FLOATS or columns % FORMATS[kind][0] == 0:
        return kind
    return "q8_0" if columns % 32 == 0 else "f16"


def write_gguf(path, architecture, settings, tensors):
    """`settings` are numbers by their keys, `tensors` (name, kind, shape, array)."""
    text = lambda value: struct.pack("<Q", len(value)) + value.encode()
    out = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(settings) + 1)
    out += text("general.architecture") + struct.pack("<I", 8) + text(architecture)
    for key, value in settings.items():
        kind, form = (6, "<If") if isinstance(value, float) else (4, "<II")
        out += text(f"{architecture}.{key}") + struct.pack(form, kind, value)
    padded = lambda size: -(-size // 32) * 32
    offset = 0
    for name, kind, shape, array in tensors:
        sizes = struct.pack(f"<{len(shape)}Q", *reversed(shape))
        out += text(name) + struct.pack("<I", len(shape)) + sizes
        out += struct.pack("<IQ", TYPES[kind], offset)
        offset += padded(array.nbytes)
    with open(path, "wb") as file:
        file.write(out.ljust(padded(len(out)), b"\0"))
        for *_, array in tensors:
            file.write(array.tobytes().ljust(padded(array.nbytes), b"\0"))


def make_model(path, shape, kind, rng):
    """Writes a GGUF file; returns its values by the names of reference.models, and its
    biases."""
    settings = {
        "vocab_size": shape.vocabulary, "context_length": 256,
        "embedding_length": shape.hidden, "block_count": 1,
        "feed_forward_length": shape.ffn, "attention.head_count": shape.heads,
        "attention.head_count_kv": shape.kv_heads, "attention.key_length": shape.size,
        "attention.value_length": shape.size, "attention.layer_norm_rms_epsilon": 1e-5,
        "rope.freq_base": 5000.0}
    weights, biases, tensors = {}, {}, []

    def add(name, short, rows, columns):
        used = stored_kind(kind, columns)
        data, weights[short] = store(rng, used, rows, columns)
        tensors.append((f"{name}.weight", used, (rows, columns), data))

    def add_vector(name, found, short, values):
        found[short] = values.astype(np.float32)
        tensors.append((name, "f32", values.shape, found[short]))

    query, keys = shape.heads * shape.size, shape.kv_heads * shape.size
    add("token_embd", "embed", shape.vocabulary, shape.hidden)
    for name, short, rows, columns in [
            ("attn_q", "q", query, shape.hidden), ("attn_k", "k", keys, shape.hidden),
            ("attn_v", "v", keys, shape.hidden), ("attn_output", "o", shape.hidden, query),
            ("ffn_gate", "gate", shape.ffn, shape.hidden),
            ("ffn_up", "up", shape.ffn, shape.hidden),
            ("ffn_down", "down", shape.hidden, shape.ffn)]:
        add(f"blk.0.{name}", f"0.{short}", rows, columns)
        if shape.architecture == "qwen2" and short in "qkv":
            add_vector(f"blk.0.{name}.bias", biases, f"0.{short}", rng.standard_normal(rows))
    for name, short in [("blk.0.attn_norm", "0.attn_norm"), ("blk.0.ffn_norm", "0.ffn_norm"),
                        ("output_norm", "norm")]:
        add_vector(f"{name}.weight", weights, short, rng.uniform(0.5, 1.5, shape.hidden))
    if not shape.is_tied:
        add("output", "head", shape.vocabulary, shape.hidden)
    write_gguf(path, shape.architecture, settings, tensors)
    return weights, biases


def compute(shape, weights, biases, kind, options, ids):
    """Logits by NumPy."""
    def multiply(name, x):
        w = np.asarray(weights.get(name, weights["embed"]), np.float64)
        if options["compute"] == "int8" and stored_kind(kind, w.shape[1]) not in FLOATS:
            x = dequantize_activation(*quantize_activation(x))
        return x @ w.T + biases.get(name, 0)

    def attend(_, q, k, v, *__):
        if options["kv"] == "int8" and "0.k" in biases:
            magnitudes = key_magnitudes(biases["0.k"], shape.size)
            k = k / magnitudes
            q = q * np.repeat(magnitudes, shape.heads // shape.kv_heads, axis=0)
        if options["kv"] == "f16":
            k, v = k.astype(np.float16).astype(np.float64), v.astype(np.float16).astype(np.float64)
        if options["kv"] == "int8":
            k, v = (expand_head_rows(*quantize_head_rows(x)) for x in (k, v))
        return attention(q, k, v, causal=True)

    return models.llama(weights, ids, attend, 1, shape.heads, shape.kv_heads, 1e-5, 5000.0,
                        neighbours=shape.architecture == "llama", multiply=multiply)


def cases():
    """Formats, shapes and options. Where a weight has no blocks, there are no products in
    8 bits."""
    for kind, shape, computed, kv in itertools.product(BLOCKS + FLOATS, SHAPES, ["int8", "f32"],
                                                       ["f16", "f32", "int8"]):
        if kind in BLOCKS or computed == "f32":
            yield kind, shape, computed, kv


def fast_cases():
    """Few cases that have each format, and each pair of a shape and options: the greedy
    choice."""
    rest = list(cases())
    values = lambda case: {case[0], *itertools.combinations(case[1:], 2)}
    missing = set().union(*map(values, rest))
    chosen = []
    while missing:
        chosen.append(max(rest, key=lambda case: len(missing & values(case))))
        missing -= values(chosen[-1])
    return chosen


FAST = fast_cases()


@pytest.mark.parametrize("kind, shape, computed, kv", [
    pytest.param(*case, marks=[] if case in FAST else pytest.mark.full) for case in cases()])
def test_option(kind, shape, computed, kv, tmp_path):
    rng = np.random.default_rng(len(kind) * 7919 + list(SHAPES).index(shape))
    sizes = SHAPES[shape]
    weights, biases = make_model(tmp_path / "model.gguf", sizes, kind, rng)
    module = tmp_path / "model.gist"
    subprocess.run(["gist-compile", tmp_path / "model.gguf", "-o", module, "--logits=all",
                    f"--compute={computed}", f"--kv-type={kv}"], check=True)
    ids = rng.integers(0, sizes.vocabulary, sum(PIECES)).astype(np.int32)
    found = run(module, "score", ids, PIECES, sizes.vocabulary)
    expected = compute(sizes, weights, biases, kind, {"compute": computed, "kv": kv}, ids)
    error = np.abs(found - expected).max(axis=1) / np.abs(expected).max()
    # A number between two integers of 8 bits, or two f16, may be rounded to either; 8 bits also
    # allow attention in bf16 where the CPU has instructions for it.
    limit = 3e-2 if computed == "int8" else {"f16": 5e-3, "int8": 2e-2, "f32": 2e-5}[kv]
    assert error.max() < limit, error
