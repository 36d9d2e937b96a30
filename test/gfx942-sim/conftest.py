"""Options and fixtures of the simulator's tests.

The built tools are found by option, by environment (GFX942_SIM, GIST_HIP_SIM),
or on PATH. LLVM's command-line tools are those of the project's LLVM.
"""

import os
import pathlib
import shutil
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import simulator


def pytest_addoption(parser):
    parser.addoption("--gfx942-sim", default=os.environ.get("GFX942_SIM"),
                     help="the gfx942-sim program")
    parser.addoption("--hip-sim", default=os.environ.get("GIST_HIP_SIM"),
                     help="libgist-hip-sim.so")
    parser.addoption("--full", action="store_true",
                     help="1000 random kernels instead of a few dozen")


@pytest.fixture(scope="session")
def hip(request):
    path = request.config.getoption("--hip-sim")
    if not path:
        pytest.exit("name libgist-hip-sim.so with --hip-sim or GIST_HIP_SIM", 2)
    return simulator.Hip(path)


@pytest.fixture(scope="session")
def program(request):
    path = request.config.getoption("--gfx942-sim") or shutil.which("gfx942-sim")
    if not path:
        pytest.exit("name gfx942-sim with --gfx942-sim or GFX942_SIM", 2)
    return path
