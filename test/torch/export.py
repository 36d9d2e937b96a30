# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes test/passes/Import/Inputs/torch-model-*.mlir, as torch-mlir gives them, and
what PyTorch computes for TOKENS beside them.

    build/python-torch/bin/python3 test/torch/export.py FOLDER [MODEL...]
"""

import json
import pathlib
import sys

import torch
from torch_mlir import fx
from torch_mlir.extras.fx_decomp_util import get_decomposition_table

import models

TOKENS = [3, 1, 4, 1, 5, 0, 2, 6, 5, 3, 5, 1]

SIZES = {
    "gpt2": dict(vocab=7, width=6, heads=3, context=16),
    "llama": dict(vocab=7, width=16, heads=4, kv_heads=2, hidden=5),
    "bert": dict(vocab=7, width=12, heads=3, hidden=5, context=16),
}


def main():
    folder = pathlib.Path(sys.argv[1])
    for name, sizes in SIZES.items():
        if sys.argv[2:] and name not in sys.argv[2:]:
            continue
        # Two layers where layers are looked for; one is enough to see an op.
        for kind, layers, dim in (("static", 1, None), ("dynamic", 2, torch.export.Dim.AUTO)):
            model = models.make(name, layers=layers, **sizes)
            tokens = torch.zeros(1, 12, dtype=torch.int64)
            program = torch.export.export(model, (tokens,), dynamic_shapes=({1: dim},) if dim else None)
            # docs/upstream/torch-mlir-buffers.py says why.
            program = program.run_decompositions(get_decomposition_table())
            for buffer in program.graph_signature.inputs_to_buffers.values():
                program.state_dict.setdefault(buffer, program.constants.get(buffer))
            text = fx.export_and_import(program, output_type="linalg-on-tensors", func_name="main",
                                         decomposition_table={})
            (folder / f"torch-model-{name}-{kind}.mlir").write_text(str(text))
            if name == "gpt2":  # docs/upstream/torch-mlir-gelu-tanh.py says why.
                continue
            with torch.no_grad():
                found = model(torch.tensor([TOKENS]))[0]
            rows = [[round(number, 6) for number in row] for row in found.tolist()]
            (folder / f"torch-model-{name}-{kind}.json").write_text(json.dumps(rows, indent=0))


if __name__ == "__main__":
    main()
