# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is wrong in IREE is still wrong. A problem that is gone can go from
docs/upstream, and what works around it from -gist-export-to-iree."""

import iree.runtime as rt
import numpy as np
import pytest
from conftest import ROOT, run

UPSTREAM = ROOT / "docs/upstream"
FLAGS = ["--iree-hal-target-device=local",
         "--iree-hal-local-target-device-backends=llvm-cpu",
         "--iree-llvmcpu-target-cpu=generic"]


@pytest.fixture
def load(iree, tmp_path):
    """load(NAME) compiles docs/upstream/NAME, with `edit` done to its text."""
    def load(name, edit=lambda text: text):
        source, vmfb = tmp_path / "a.mlir", tmp_path / "a.vmfb"
        source.write_text(edit((UPSTREAM / name).read_text()))
        run(iree / "iree-compile", source, *FLAGS, "-o", vmfb)
        config = rt.Config("local-task")
        return rt.load_vm_module(rt.VmModule.mmap(config.vm_instance, str(vmfb)), config)
    return load


def write_and_read(module):
    module.write(np.array([1, 2], np.float32), np.array([3, 4], np.float32))
    return [list(part.to_host()) for part in module.read()]


def test_equal_globals(load):
    assert write_and_read(load("iree-equal-globals.mlir")) == [[3, 4, 0, 0], [3, 4, 0, 0]]


def test_different_globals(load):
    """The workaround."""
    module = load("iree-equal-globals.mlir",
                  lambda text: text.replace("mutable @b = dense<0.0>", "mutable @b = dense<9.0>"))
    assert write_and_read(module) == [[1, 2, 0, 0], [3, 4, 9, 9]]


def test_slices_in_place(load):
    x = np.array([[1, 2, 3, 4, 10, 20, 30, 40]], np.float32)
    found = load("iree-slices-in-place.mlir").f(x).to_host()[0]
    assert list(found) == [-18, -36, -54, -72, 2, 4, 6, 8]


def test_slices_of_an_empty_tensor(load):
    """The workaround."""
    x = np.array([[1, 2, 3, 4, 10, 20, 30, 40]], np.float32)
    module = load("iree-slices-in-place.mlir",
                  lambda text: text.replace("%d into %h[", "%d into %e["))
    assert list(module.f(x).to_host()[0]) == [-18, -36, -54, -72, 22, 44, 66, 88]
