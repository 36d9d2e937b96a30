# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles kernel functions for gfx942 and runs them on the simulator, launched
as the runtime launches them: every slot is a pointer."""

import ctypes
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

import cpu_kernels
from cpu_kernels import rows, whole  # noqa: F401, for tests

sys.path.append(str(pathlib.Path(__file__).parent.parent / "gfx942-sim"))
import simulator

GIST_OPT = cpu_kernels.GIST_OPT


def find_simulator():
    """libgist-hip-sim.so, named by GIST_HIP_SIM or beside gist-opt."""
    named = os.environ.get("GIST_HIP_SIM")
    if named:
        return named
    return str(pathlib.Path(GIST_OPT).parent.parent / "lib" / "libgist-hip-sim.so")


def compile_kernels(text, stages, target="gfx942"):
    """Code of the kernels of `text`, and what they were lowered to."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "code")
        result = subprocess.run(
            [GIST_OPT, "-"]
            + [f"-{stage}=target={target}" for stage in stages]
            + [f"-gist-write-gpu-code=output={path}"],
            input=text,
            capture_output=True,
            text=True,
        )
        assert result.returncode == 0, result.stderr
        return pathlib.Path(path).read_bytes(), result.stdout


class Kernels(cpu_kernels.Kernels):
    """Kernels on tensors, or with `stages=["gist-gpu"]` on buffers."""

    hip = None

    @classmethod
    def open(cls):
        """The simulator, which all kernels share."""
        if Kernels.hip is None:
            Kernels.hip = simulator.Hip(find_simulator())
        return Kernels.hip

    def __init__(self, text, stages=("gist-gpu-tile", "gist-gpu")):
        self.open()
        self.code, lowered = compile_kernels(text, stages)
        self._read_grids(lowered)
        self.threads = {
            name: int(count)
            for name, count in re.findall(
                r"llvm\.func @(\w+)\(.*?gist\.workgroup = array<i64: (\d+)>", lowered
            )
        }

    def call(self, name, *arguments):
        """Runs a kernel; arrays that `rows` or `whole` wrapped are updated. A
        finding of the simulator is an exception."""
        buffers, numbers, sizes = [], [], []
        for argument in arguments:
            if isinstance(argument, int):
                buffers.append(np.array([argument], np.int64))
                numbers.append(argument)
                continue
            array, dynamic = argument
            assert array.flags.c_contiguous
            buffers.append(array)
            sizes += [array.shape[dim] for dim in dynamic]
        buffers += [np.array([size], np.int64) for size in sizes]
        grid = self._grid(name, numbers + sizes)
        if 0 in grid:  # The runtime launches nothing then.
            return
        self.hip.run(self.code, name, buffers, grid, (self.threads[name],))

    def counters(self):
        return self.hip.counters()
