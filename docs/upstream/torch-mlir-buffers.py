# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch-mlir 20261001: a buffer with persistent=False cannot be imported.

import_frozen_program looks for every buffer in state_dict. torch.export keeps those
that are not persistent in `constants`. The import ends with an AssertionError.
Ends with 0 while the problem is there.
"""

import sys

import torch
from torch_mlir import fx


class Scaled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.tensor([1.0, 2.0]), persistent=False)

    def forward(self, x):
        return x * self.scale


try:
    fx.export_and_import(Scaled(), torch.randn(2), output_type="linalg-on-tensors")
except AssertionError as error:
    print("AssertionError:", error)
    sys.exit(0)
sys.exit(1)
