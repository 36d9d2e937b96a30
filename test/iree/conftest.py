# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds the programs. These tests run in an environment with IREE's packages
(test/requirements-iree.txt), which has iree-compile beside its Python."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "samples/iree"))


def run(*words):
    """Runs a program; what it prints on standard error is in the failure."""
    done = subprocess.run([str(word) for word in words], text=True,
                          capture_output=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def gist():
    """The folder of gist-compile and gist-run."""
    return Path(os.environ.get("GIST_BIN", ROOT / "build/dev/bin"))


@pytest.fixture(scope="session")
def iree():
    """The folder of IREE's programs."""
    return Path(sys.executable).parent


@pytest.fixture(scope="session")
def compile_for_iree(gist, iree, tmp_path_factory):
    """compile_for_iree(MODEL, OPTION...) gives a .vmfb, compiled once."""
    known = {}

    def compile(model, *options):
        key = (model, *options)
        if key not in known:
            output = tmp_path_factory.mktemp("iree") / "model.vmfb"
            run(gist / "gist-compile", model, "--via=iree",
                f"--iree-compile={iree / 'iree-compile'}", "--progress=off",
                *options, "-o", output)
            known[key] = output
        return known[key]

    return compile
