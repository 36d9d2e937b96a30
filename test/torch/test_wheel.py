# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The package as pip installs it: PyTorch finds our backend by its name.

test/torch/run.sh runs this with a wheel in PYTHONPATH, and not a build folder.
"""

import importlib.metadata

import models
import torch


def test_backend_by_its_name():
    assert "gist" in torch.compiler.list_backends()
    model = models.make("gpt2")
    tokens = torch.randint(0, 97, (1, 12), generator=torch.Generator().manual_seed(3))
    with torch.no_grad():
        expected = model(tokens)
        found = torch.compile(model, backend="gist", dynamic=False)(tokens)
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=0)


def test_the_package_says_so():
    (entry,) = importlib.metadata.entry_points(group="torch_dynamo_backends", name="gist")
    assert entry.value == "gist:torch_backend"
