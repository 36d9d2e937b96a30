# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Adapters as PEFT writes them, made of random numbers."""

import json
import shutil

import numpy as np

from import_graph import read_safetensors

CONFIG = {"peft_type": "LORA", "r": 4, "lora_alpha": 6, "use_rslora": False, "use_dora": False,
          "bias": "none", "fan_in_fan_out": False, "modules_to_save": None, "rank_pattern": {},
          "alpha_pattern": {}, "init_lora_weights": True, "target_modules": ["q_proj"],
          "base_model_name_or_path": "some/model", "task_type": "CAUSAL_LM"}
KINDS = {np.dtype(np.float32): "F32", np.dtype(np.float16): "F16", np.dtype(np.uint16): "BF16",
         np.dtype(np.int32): "I32", np.dtype(np.uint8): "U8"}


def write_safetensors(path, tensors):
    header, offset = {}, 0
    for name, values in tensors.items():
        header[name] = {"dtype": KINDS[values.dtype], "shape": list(values.shape),
                        "data_offsets": [offset, offset + values.nbytes]}
        offset += values.nbytes
    text = json.dumps(header).encode()
    content = b"".join(values.tobytes() for values in tensors.values())
    path.write_bytes(len(text).to_bytes(8, "little") + text + content)


def matrices(shapes, rank=4, seed=1, dtype=np.float32):
    """A and B of layers of these shapes, outputs x inputs, by the names of an adapter's file."""
    rng, tensors = np.random.default_rng(seed), {}
    for layer, (outputs, inputs) in shapes.items():
        for name, shape in (("A", (rank, inputs)), ("B", (outputs, rank))):
            values = 0.2 * rng.standard_normal(shape)
            tensors[f"base_model.model.{layer}.lora_{name}.weight"] = values.astype(dtype)
    return tensors


def write_adapter(folder, tensors, **config):
    folder.mkdir(exist_ok=True)
    (folder / "adapter_config.json").write_text(json.dumps({**CONFIG, **config}))
    write_safetensors(folder / "adapter_model.safetensors", tensors)
    return folder


def merge(model, folder, tensors, scale):
    """A copy of a folder, whose weights are f32, with the adapter in it."""
    shutil.copytree(model, folder)
    weights = read_safetensors(folder / "model.safetensors")
    for name, values in weights.items():
        layer = name.removesuffix(".weight")
        if f"base_model.model.{layer}.lora_A.weight" in tensors:
            weights[name] = (values + change(tensors, layer, scale)).astype(np.float32)
    write_safetensors(folder / "model.safetensors", weights)
    return folder


def change(tensors, layer, scale):
    """What an adapter adds to the weight of a layer."""
    a, b = (np.float64(tensors[f"base_model.model.{layer}.lora_{name}.weight"]) for name in "AB")
    return scale * b @ a
