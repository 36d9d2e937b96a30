# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Faults planted into the gfx942 kernels that the compiler makes, as a broken
code generator would make them. The numeric tests must fail or the simulator
must report something. Which faults is drawn from a fixed seed; `pytest -s`
prints them all with what found them.

What is left out: changes without an effect (gpu_faults.changes_nothing) and those
that the inputs cannot show, as they never reach the place or have no lane there
that is concerned (gpu_faults.probe). What survives then is of these kinds:

* lanes that a mask keeps from storing hold the same number as those that store,
  after a reduction over all lanes, and would store it to the same place;
* a lane or a shift is wrong in a part that is zero for these inputs: the upper
  half of an index, rows or columns past the end;
* the kernel goes through its rounds until nothing changes, and a fault costs it
  one more (selections);
* a barrier orders global memory, whose races the simulator does not see
  (selections).
"""

import collections
import pathlib
import random
import re
import subprocess
import tempfile

import numpy as np
import pytest

import gpu_faults
import gpu_kernels
import test_gpu_attention
import test_gpu_matmul
import test_gpu_rows
import test_gpu_selection
from gpu_kernels import simulator
from reference import certificate, generators

SEED = 942


def select(rule, totals):
    """Heads of which one is easy and one is all there can be: a chain of
    decisions, pairs, and rows without a direction."""
    rng = np.random.default_rng(5)
    for total in totals:
        hard = np.concatenate([generators.turning_chain(rng, total // 3, 32),
                               generators.opposite_pairs(rng, total - total // 3, 32)])
        hard[[2, 40]], hard[5, 7] = 0, np.nan
        x = np.stack([generators.clustered(rng, total, 32, clusters=20, spread=0.3), hard], 1)
        x = test_gpu_selection.rounded(x, "f16")
        for head, (got,) in enumerate(test_gpu_selection.run(x, "f16", rule)):
            certificate.check_selection(x[:, head], 0.3, got, rule, causal=True)


#: Numeric tests of one kernel each. Together they have all that a kernel of ours
#: can do wrong: matrix instructions, LDS in several stages, reductions across
#: lanes and waves, masks at every edge.
CASES = {
    "product": lambda: test_gpu_matmul.test_shapes(36, 124, None),
    "product of blocks": lambda: test_gpu_matmul.test_blocks("q4_k", 35, None),
    "product of a few rows": lambda: test_gpu_matmul.test_few_rows(2, 30, 576),
    # Few steps, of which most hide something, and several that hide nothing.
    "attention": lambda: [test_gpu_attention.run_dense(*sizes) for sizes in ((70, 90), (67, 330))],
    "attention of one query": lambda: test_gpu_attention.run_dense(
        1, 300, 12, 2, 64, one=True),
    "norm": lambda: test_gpu_rows.test_rms_norm(7, 577),
    "norm of heads": lambda: test_gpu_rows.test_norm_of_heads(2, 512),
}

#: Kernels that repair what they got wrong in a round.
ROUNDS = {
    "selection against all": lambda: select("all", [65, 300]),
    "selection against kept": lambda: select("kept", [65, 600]),
}


class Bench:
    """Numeric tests, with the code of their kernels exchanged."""

    def __init__(self, monkeypatch):
        self.planted, self.assembly, self.compiled = None, None, {}
        monkeypatch.setattr(gpu_kernels, "compile_kernels", self.compile)
        # A fault may make a loop endless. No wave of these kernels is this long.
        gpu_kernels.Kernels.open().configure("max-instructions", 2_000_000)

    def compile(self, text, stages, target="gfx942"):
        """In the place of gpu_kernels.compile_kernels."""
        if text not in self.compiled:
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, "code.s")
                lowered = subprocess.run(
                    [gpu_kernels.GIST_OPT, "-", *[f"-{stage}=target={target}" for stage in stages],
                     f"-gist-write-gpu-code=assembly output={path}"],
                    input=text, capture_output=True, text=True, check=True).stdout
                self.compiled[text] = path.read_text(), lowered
        self.assembly, lowered = self.compiled[text]
        source = gpu_faults.plant(self.assembly, self.planted) if self.planted else self.assembly
        return simulator.compile_gpu(source, language="assembler"), lowered

    def run(self, name, fault=None):
        """What finds the fault; None: nothing does."""
        self.planted = fault
        test_gpu_selection.build.cache_clear()
        try:
            (CASES | ROUNDS)[name]()
        except simulator.LaunchFailed as error:
            return re.sub(r"0x\w+", "...", str(error).split("': ")[-1])
        except (AssertionError, IndexError):
            return "numbers"
        finally:
            self.planted = None
            test_gpu_selection.build.cache_clear()


@pytest.fixture
def bench(monkeypatch):
    yield Bench(monkeypatch)
    simulated = gpu_kernels.Kernels.open()
    simulated.configure("max-instructions", 4_000_000_000)


def draw(bench, names):
    """Faults without end: kinds in turn, of each a kernel and a place in it."""
    rng = random.Random(SEED)
    places = collections.defaultdict(list)
    for name in names:
        assert bench.run(name) is None, f"{name} fails without a fault"
        for fault in gpu_faults.find(bench.assembly, rng):
            places[fault.kind, name].append(fault)
    kinds = sorted({kind for kind, _ in places})
    drawn = set()
    while True:
        for kind in kinds:
            name = rng.choice([name for k, name in places if k == kind])
            fault = rng.choice(places[kind, name])
            if (name, fault) not in drawn:
                drawn.add((name, fault))
                yield name, fault


@pytest.mark.parametrize("names, faults, least", [(CASES, 50, 48), (ROUNDS, 60, 42)],
                         ids=["kernels", "rounds"])
def test_faults_are_found(bench, names, faults, least):
    missed, planted, unseen = [], 0, 0
    for name, fault in draw(bench, names):
        if bench.run(name, gpu_faults.probe(fault)) is None:
            unseen += 1
            continue
        try:
            finding = bench.run(name, fault)
        except subprocess.CalledProcessError:
            continue  # No instruction any more.
        planted += 1
        line = f"{fault.kind} in {name}: '{fault.old}' -> '{fault.new}'"
        print(f"{planted:2}  {line}\n      {finding or 'NOT FOUND'}")
        if finding is None:
            missed.append(line)
        if planted == faults:
            break
    print(f"{planted - len(missed)} of {planted} found; {unseen} more that no input can show")
    assert planted - len(missed) >= least, missed
