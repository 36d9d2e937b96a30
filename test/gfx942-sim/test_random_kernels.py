"""Random C kernels, compiled by LLVM for gfx942 and for the host, must give the
same bits. All checks are on: a finding here is a false alarm or a bug."""

import ctypes

import numpy as np
import pytest

import generator
import simulator

PER_MODULE = 12
COUNT = 150  # Work-items: two full waves and a part of a third.


def batches(config):
    return range(-(-1000 // PER_MODULE) if config.getoption("--full") else 3)


def pytest_generate_tests(metafunc):
    if "seed" in metafunc.fixturenames:
        metafunc.parametrize("seed", batches(metafunc.config))


@pytest.mark.parametrize("level", ["-O1", "-O3"])
def test_equals_host(hip, seed, level):
    gpu, host = generator.sources(seed, PER_MODULE)
    flags = ["-ffp-contract=off", "-w"]
    module = hip.load(simulator.compile_gpu(gpu, level, *flags))
    library = simulator.compile_host(host, "-O1", *flags)
    rng = np.random.default_rng(seed)
    inputs = rng.integers(0, 2**32, (COUNT, 4), dtype=np.uint32)
    inputs[:40] &= 0xFF
    inputs[40:50] = rng.choice([0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF], (10, 4))
    for index in range(PER_MODULE):
        expected = np.zeros(COUNT, np.uint32)
        library[f"kernel{index}"](inputs.ctypes.data_as(ctypes.c_void_p),
                                  expected.ctypes.data_as(ctypes.c_void_p), COUNT)
        result = np.zeros(COUNT, np.uint32)
        hip.run(module, f"kernel{index}", [inputs, result, ctypes.c_uint32(COUNT)], grid=(3,))
        np.testing.assert_array_equal(result, expected, f"kernel{index} of seed {seed}")
    hip.check(hip.lib.hipModuleUnload(module))
