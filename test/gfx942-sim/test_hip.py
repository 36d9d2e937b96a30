"""The HIP library as a runtime sees it, the program as a person does."""

import ctypes
import os
import subprocess

import numpy as np
import pytest

import simulator

SOURCE = """
#define G __attribute__((address_space(1)))
__attribute__((amdgpu_kernel)) void scale(G float *x, float factor, int n) {
  int i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
  if (i < n) x[i] *= factor;
}
__attribute__((amdgpu_kernel)) void count(G unsigned *bins, G unsigned *order, G float *sum) {
  unsigned group = __builtin_amdgcn_workgroup_id_x();
  unsigned id = __builtin_amdgcn_workitem_id_x();
  __atomic_fetch_add(&bins[id & 7], id + group, __ATOMIC_RELAXED);
  if (id == 0) {
    order[group] = __atomic_fetch_add(&bins[8], 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(sum, 1.0f / (group + 1), __ATOMIC_RELAXED);
  }
}
__attribute__((amdgpu_kernel)) void where(G unsigned *out) {
  unsigned x = __builtin_amdgcn_workitem_id_x(), y = __builtin_amdgcn_workitem_id_y(),
           z = __builtin_amdgcn_workitem_id_z();
  unsigned gx = __builtin_amdgcn_workgroup_id_x(), gy = __builtin_amdgcn_workgroup_id_y(),
           gz = __builtin_amdgcn_workgroup_id_z();
  unsigned group = gx + 2 * (gy + 3 * gz);
  out[group * 105 + x + 5 * (y + 7 * z)] = x | y << 4 | z << 8 | gx << 12 | gy << 16 | gz << 20;
}
"""


@pytest.fixture(scope="module")
def code():
    return simulator.compile_gpu(SOURCE, "-O2")


@pytest.fixture(scope="module")
def module(hip, code):
    return hip.load(code)


def test_device(hip):
    lib, number = hip.lib, ctypes.c_int()
    hip.check(lib.hipInit(0))
    hip.check(lib.hipGetDeviceCount(ctypes.byref(number)))
    assert number.value == 1
    # hipDeviceAttributeWarpSize, ...MultiprocessorCount, ...MaxSharedMemoryPerBlock
    for attribute, value in ((87, 64), (63, 304), (74, 65536), (56, 1024)):
        hip.check(lib.hipDeviceGetAttribute(ctypes.byref(number), attribute, 0))
        assert number.value == value
    properties = ctypes.create_string_buffer(1472)
    hip.check(lib.hipGetDevicePropertiesR0600(properties, 0))
    assert properties.raw[1160:].split(b"\0")[0] == b"gfx942:sramecc+:xnack-"
    assert lib.hipSetDevice(1) == 101
    assert lib.hipGetErrorName(101) == b"hipErrorInvalidDevice"
    assert lib.hipGetLastError() == 101
    assert lib.hipGetLastError() == 0


def test_memory(hip):
    lib = hip.lib
    pointer = hip.malloc(16)
    hip.check(lib.hipMemsetD32(pointer, 7, ctypes.c_size_t(4)))
    host = np.zeros(4, np.uint32)
    target = host.ctypes.data_as(ctypes.c_void_p)
    hip.check(lib.hipMemcpy(target, pointer, ctypes.c_size_t(16), 2))
    assert (host == 7).all()
    assert lib.hipMemcpy(target, pointer, ctypes.c_size_t(17), 2) == 1
    hip.check(lib.hipFree(pointer))
    assert lib.hipFree(pointer) == 1
    assert lib.hipMalloc(ctypes.byref(ctypes.c_void_p()), ctypes.c_size_t(1 << 40)) == 2
    lib.hipGetLastError()


def test_module_errors(hip, module):
    handle = ctypes.c_void_p()
    assert hip.lib.hipModuleLoadData(ctypes.byref(handle), b"not an ELF file" + bytes(64)) == 200
    assert hip.lib.hipModuleGetFunction(ctypes.byref(handle), module, b"missing") == 500
    hip.lib.hipGetLastError()


def test_identifiers(hip, module):
    out = np.zeros(12 * 105, np.uint32)
    hip.run(module, "where", [out], grid=(2, 3, 2), block=(5, 7, 3))
    z, y, x = np.mgrid[0:3, 0:7, 0:5].astype(np.uint32)
    local = (x | y << 4 | z << 8).reshape(1, -1)
    gz, gy, gx = np.mgrid[0:2, 0:3, 0:2].astype(np.uint32)
    groups = (gx << 12 | gy << 16 | gz << 20).reshape(-1, 1)
    np.testing.assert_array_equal(out.reshape(12, 105), local | groups)


def launch_extra(hip, function, stream, pointer, factor, count):
    """Launches with HIP_LAUNCH_PARAM_BUFFER: the whole kernarg segment at once."""
    packed = np.array([(pointer.value, factor, count)],
                      dtype=[("x", "u8"), ("factor", "f4"), ("n", "i4")])
    size = ctypes.c_size_t(packed.nbytes)
    extra = (ctypes.c_void_p * 5)(1, packed.ctypes.data, 2, ctypes.addressof(size), 3)
    return hip.lib.hipModuleLaunchKernel(function, 3, 1, 1, 64, 1, 1, 0, stream, None, extra)


def test_graph(hip, module):
    """Captured work runs at launches only, on all streams drawn into it."""
    lib = hip.lib
    hip.configure("reset", 0)
    function = hip.function(module, "scale")
    main, side, fork, join = (ctypes.c_void_p() for _ in range(4))
    hip.check(lib.hipStreamCreateWithFlags(ctypes.byref(main), 1))
    hip.check(lib.hipStreamCreate(ctypes.byref(side)))
    hip.check(lib.hipEventCreateWithFlags(ctypes.byref(fork), 2))
    hip.check(lib.hipEventCreateWithFlags(ctypes.byref(join), 2))
    data = [np.arange(150, dtype=np.float32), np.ones(150, np.float32)]
    pointers = [hip.malloc(600) for _ in data]
    for array, pointer in zip(data, pointers):
        hip.check(lib.hipMemcpyHtoD(pointer, array.ctypes.data_as(ctypes.c_void_p),
                                    ctypes.c_size_t(600)))
    hip.check(lib.hipStreamBeginCapture(main, 0))
    hip.check(launch_extra(hip, function, main, pointers[0], 2.0, 150))
    hip.check(lib.hipEventRecord(fork, main))
    hip.check(lib.hipStreamWaitEvent(side, fork, 0))
    hip.check(launch_extra(hip, function, side, pointers[1], 3.0, 150))
    hip.check(lib.hipEventRecord(join, side))
    hip.check(lib.hipStreamWaitEvent(main, join, 0))
    assert lib.hipStreamSynchronize(main) == 900
    graph, executable = ctypes.c_void_p(), ctypes.c_void_p()
    hip.check(lib.hipStreamEndCapture(main, ctypes.byref(graph)))
    hip.check(lib.hipGraphInstantiate(ctypes.byref(executable), graph, None, None,
                                      ctypes.c_size_t(0)))
    assert hip.counters()["workgroups"] == 0
    for _ in range(2):
        hip.check(lib.hipGraphLaunch(executable, main))
    hip.check(lib.hipStreamSynchronize(main))
    assert hip.counters()["workgroups"] == 12
    result = np.zeros(150, np.float32)
    for array, pointer, factor in zip(data, pointers, (4, 9)):
        hip.check(lib.hipMemcpyDtoH(result.ctypes.data_as(ctypes.c_void_p), pointer,
                                    ctypes.c_size_t(600)))
        np.testing.assert_array_equal(result, array * factor)
        hip.check(lib.hipFree(pointer))
    hip.check(lib.hipGraphExecDestroy(executable))
    hip.check(lib.hipGraphDestroy(graph))
    for event in (fork, join):
        hip.check(lib.hipEventDestroy(event))
    for stream in (main, side):
        hip.check(lib.hipStreamDestroy(stream))


class KernelNode(ctypes.Structure):
    """hipKernelNodeParams."""
    _fields_ = [("block", ctypes.c_uint * 3), ("extra", ctypes.c_void_p),
                ("function", ctypes.c_void_p), ("grid", ctypes.c_uint * 3),
                ("parameters", ctypes.c_void_p), ("shared", ctypes.c_uint)]


def test_graph_of_nodes(hip, module):
    """A graph made node by node: arguments are taken when a node is added."""
    lib = hip.lib
    data = np.arange(150, dtype=np.float32)
    pointer = hip.malloc(600)
    hip.check(lib.hipMemcpyHtoD(pointer, data.ctypes.data_as(ctypes.c_void_p),
                                ctypes.c_size_t(600)))
    graph, executable = ctypes.c_void_p(), ctypes.c_void_p()
    hip.check(lib.hipGraphCreate(ctypes.byref(graph), 0))
    factor, count = ctypes.c_float(2), ctypes.c_int(150)
    arguments = (ctypes.c_void_p * 3)(ctypes.addressof(pointer), ctypes.addressof(factor),
                                      ctypes.addressof(count))
    node = KernelNode((64, 1, 1), None, hip.function(module, "scale").value, (3, 1, 1),
                      ctypes.addressof(arguments), 0)
    added = [ctypes.c_void_p() for _ in range(2)]
    size = ctypes.c_size_t
    hip.check(lib.hipGraphAddKernelNode(ctypes.byref(added[0]), graph, None, size(0),
                                        ctypes.byref(node)))
    factor.value = 10
    hip.check(lib.hipGraphAddKernelNode(ctypes.byref(added[1]), graph, ctypes.byref(added[0]),
                                        size(1), ctypes.byref(node)))
    factor.value = 1000
    unknown = ctypes.c_void_p(3)
    assert lib.hipGraphAddKernelNode(ctypes.byref(added[0]), graph, ctypes.byref(unknown),
                                     size(1), ctypes.byref(node)) == 1
    node.grid[1] = 0
    assert lib.hipGraphAddKernelNode(ctypes.byref(added[0]), graph, None, size(0),
                                     ctypes.byref(node)) == 9
    hip.check(lib.hipGraphInstantiateWithFlags(ctypes.byref(executable), graph,
                                               ctypes.c_ulonglong(0)))
    hip.check(lib.hipGraphDestroy(graph))
    hip.check(lib.hipGraphLaunch(executable, None))
    result = np.zeros(150, np.float32)
    hip.check(lib.hipMemcpyDtoH(result.ctypes.data_as(ctypes.c_void_p), pointer, size(600)))
    np.testing.assert_array_equal(result, data * 20)
    hip.check(lib.hipGraphExecDestroy(executable))
    hip.check(lib.hipFree(pointer))
    lib.hipGetLastError()


def test_threads_do_not_matter(hip, module):
    """Atomics whose order shows are done in launch order on any thread count."""
    results = []
    for threads in (1, 4):
        hip.configure("threads", threads)
        bins, order = np.zeros(9, np.uint32), np.zeros(40, np.uint32)
        total = np.zeros(1, np.float32)
        hip.run(module, "count", [bins, order, total], grid=(40,))
        results.append((bins, order, total))
        np.testing.assert_array_equal(order, np.arange(40))
    hip.configure("threads", 1)
    for first, second in zip(*results):
        np.testing.assert_array_equal(first, second)
    ids, groups = np.meshgrid(np.arange(64), np.arange(40))
    expected = [int((ids + groups)[ids & 7 == k].sum()) for k in range(8)]
    np.testing.assert_array_equal(results[0][0][:8], expected)


def test_program(program, code, tmp_path):
    # A sanitized library needs its runtime loaded first; a sanitized program
    # has one of its own.
    alone = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    (tmp_path / "k.hsaco").write_bytes(code)
    np.arange(100, dtype=np.float32).tofile(tmp_path / "x")
    run = subprocess.run([program, "k.hsaco", "--kernel", "scale", "--grid", "2", "--counters",
                          "inout:x:y", "f32:0.5", "i32:100"], cwd=tmp_path,
                         capture_output=True, env=alone, text=True, check=True)
    assert "bytes.global.read 400\n" in run.stdout
    np.testing.assert_array_equal(np.fromfile(tmp_path / "y", np.float32),
                                  np.arange(100, dtype=np.float32) / 2)
    run = subprocess.run([program, "k.hsaco", "--kernel", "scale", "--grid", "2", "inout:x:y",
                          "f32:0.5", "i32:101"], cwd=tmp_path, capture_output=True, env=alone, text=True)
    assert run.returncode == 1
    assert "byte 400 of an allocation of 400 bytes" in run.stderr
    assert subprocess.run([program, "--bad"], capture_output=True, env=alone).returncode == 2
