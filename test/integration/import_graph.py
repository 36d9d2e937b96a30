# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Executes what import makes of a model.

The graph takes its weights as arguments and runs through the executable
definition of its ops (test/numeric/harness.py).
"""

import json
import re
import sys
from pathlib import Path

import numpy as np

TEST = Path(__file__).parent.parent
MODELS = TEST / "models"
sys.path[:0] = [str(TEST), str(TEST / "numeric")]

import harness

DTYPES = {"F32": np.float32, "F16": np.float16, "BF16": np.uint16, "I8": np.int8}


class Graph:
    """A model as a function on token ids."""

    def __init__(self, path, workspace, *options, rewrite=lambda text: text):
        stored = workspace / "weights.safetensors"
        tool = harness.tool("gist-import-test", "GIST_IMPORT_TEST")
        text = rewrite(harness.run([tool, path, f"--weights={stored}", *options]))
        parts = re.findall(r'gist\.weight "([^"]+)".*gist\.parts = \[([^\]]*)\]', text)
        opt = harness.tool("gist-opt", "GIST_OPT")
        text = harness.run([opt, "-gist-weights-to-arguments", "-"], input=text)
        signature = re.search(r"func\.func @forward\(.*$", text, re.MULTILINE)[0]
        with_interface = signature[:-1] + "attributes {llvm.emit_c_interface} {"
        self.library = harness.build(text.replace(signature, with_interface))

        arguments, _ = harness.signatures(with_interface)["forward"]
        self.is_decoder = (None, "index") in arguments
        # Behind tokens and past: keys, values, and their scales where they are in 8 bits.
        count = len(re.findall(r'gist\.name = "[kv]_(?:cache|scales)"', signature.split(") -> ")[0]))
        self.caches = arguments[2:2 + count]
        self.cache_shape = self.caches[0][0] if self.is_decoder else None
        # Inputs and state are named too; weights are the last arguments.
        names = re.findall(r'gist\.name = "([^"]+)"', signature.split(") -> ")[0])
        weights = read_safetensors(stored)
        # Experts that a folder has one by one.
        for name, joined in parts:
            weights[name] = np.concatenate([weights[part.strip(' "')] for part in joined.split(",")])
        self.names = [name for name in names if name in weights]
        assert self.names == names[len(names) - len(self.names) :], names
        self.weights = [weights[name] for name in self.names]

    def __call__(self, ids):
        """All at once; of a decoder, with an empty cache."""
        if self.is_decoder:
            return self.step(ids, 0, *self.empty_caches())[0]
        return self.library.forward(np.int32(ids), *self.weights)[0]

    def step(self, ids, past, *caches):
        """The logits and the caches after these tokens."""
        return self.library.forward(np.int32(ids), past, *caches, *self.weights)

    def empty_caches(self):
        # Large, not zero: what is past the end must never be read.
        return [np.full(shape, 100 if element == "i8" else 1e4)
                for shape, element in self.caches]


def read_safetensors(path):
    content = Path(path).read_bytes()
    size = int.from_bytes(content[:8], "little")
    tensors = {}
    header = json.loads(content[8:8 + size])
    header.pop("__metadata__", None)
    for name, entry in header.items():
        begin, end = (8 + size + n for n in entry["data_offsets"])
        values = np.frombuffer(content[begin:end], DTYPES[entry["dtype"]])
        tensors[name] = values.reshape(entry["shape"])
    return tensors


def check(found, expected, tolerance=1e-4):
    assert found.shape == expected.shape
    assert np.abs(expected).max() > 0.1, "the reference is not worth comparing"
    difference = np.abs(found - expected).max()
    print(f"largest difference {difference:.2e} of {np.abs(expected).max():.2f}")
    assert difference <= tolerance


def sentence_embedding(hidden):
    """The mean of the tokens, at unit length."""
    mean = hidden.mean(axis=0, keepdims=True)
    return mean / np.linalg.norm(mean)
