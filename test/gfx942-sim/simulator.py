"""The simulator as Python sees it: compilers, and the HIP library by ctypes."""

import ctypes
import pathlib
import shutil
import subprocess
import tempfile

import numpy as np

LAUNCH_FAILURE = 719

#: What gistSimConfigure("alignment", ...) takes: which misaligned accesses are
#: reported. The card allows those of global memory; a kernel that was not meant
#: to make them has a wrong address, so tests report them too.
REQUIRED, STRICT = 1, 2


def tool(name):
    for candidate in (f"{name}-22", f"/usr/lib/llvm-22/bin/{name}", name):
        found = shutil.which(candidate)
        if found:
            return found
    raise FileNotFoundError(name)


TARGET = ["-target", "amdgcn-amd-amdhsa", "-mcpu=gfx942",
          "-mcode-object-version=5", "-nogpulib"]


def compile_gpu(source, *flags, language="c"):
    """Code object of a C or assembly source text."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "k.hsaco")
        subprocess.run([tool("clang"), "-x", language, *TARGET, *flags, "-", "-o", out],
                       input=source.encode(), check=True)
        return out.read_bytes()


def compile_host(source, *flags):
    """The same C source as a shared library of the host."""
    folder = tempfile.mkdtemp()
    out = pathlib.Path(folder, "k.so")
    subprocess.run([tool("clang"), "-x", "c", "-shared", "-fPIC", *flags, "-", "-o", out],
                   input=source.encode(), check=True)
    library = ctypes.CDLL(str(out))
    shutil.rmtree(folder)
    return library


def kernel_asm(name, body, lds=0, vgprs=128, agprs=128, arguments=4, denormals=3):
    """A kernel of assembly text with `arguments` pointers; s[0:1] is kernarg,
    s2 the workgroup, v0 the work-item."""
    args = "".join(f"""
      - .offset: {8 * i}
        .size: 8
        .value_kind: global_buffer
        .address_space: global""" for i in range(arguments))
    code = f"""
.text
.globl {name}
.p2align 8
.type {name},@function
{name}:
{body}
  s_endpgm
.size {name}, .-{name}
.rodata
.p2align 6
.amdhsa_kernel {name}
  .amdhsa_group_segment_fixed_size {lds}
  .amdhsa_kernarg_size {8 * arguments}
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_system_sgpr_workgroup_id_x 1
  .amdhsa_next_free_vgpr {vgprs + agprs}
  .amdhsa_next_free_sgpr 100
  .amdhsa_accum_offset {vgprs}
  .amdhsa_float_denorm_mode_32 {denormals}
.end_amdhsa_kernel
"""
    note = f"""
  - .name: {name}
    .symbol: {name}.kd
    .kernarg_segment_size: {8 * arguments}
    .kernarg_segment_align: 8
    .group_segment_fixed_size: {lds}
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 100
    .vgpr_count: {vgprs + agprs}
    .max_flat_workgroup_size: 1024
    .args:{args}"""
    return code, note


def assemble(kernels):
    """Code object of several (code, note) pairs."""
    codes = "".join(code for code, _ in kernels)
    notes = "".join(note for _, note in kernels)
    source = (f'.amdgcn_target "amdgcn-amd-amdhsa--gfx942"\n'
              f".amdhsa_code_object_version 5\n{codes}\n"
              f".amdgpu_metadata\n---\namdhsa.version: [1, 2]\n"
              f"amdhsa.kernels:{notes}\n...\n.end_amdgpu_metadata\n")
    return compile_gpu(source, language="assembler")


class LaunchFailed(Exception):
    """A launch failed; the text is the simulator's report."""


class Hip:
    def __init__(self, path):
        self.lib = ctypes.CDLL(str(path))
        for name in ("gistSimLastReport", "gistSimCounters", "hipGetErrorName",
                     "hipGetErrorString"):
            getattr(self.lib, name).restype = ctypes.c_char_p
        self.lib.gistSimConfigure.argtypes = [ctypes.c_char_p, ctypes.c_uint64]
        self.configure("threads", 1)
        self.configure("alignment", STRICT)

    def configure(self, name, value):
        assert self.lib.gistSimConfigure(name.encode(), value) == 1

    def check(self, error):
        assert error == 0, self.lib.hipGetErrorName(error)

    def malloc(self, size):
        pointer = ctypes.c_void_p()
        self.check(self.lib.hipMalloc(ctypes.byref(pointer), ctypes.c_size_t(size)))
        return pointer

    def load(self, code):
        module = ctypes.c_void_p()
        self.check(self.lib.hipModuleLoadData(ctypes.byref(module), code))
        return module

    def function(self, module, name):
        function = ctypes.c_void_p()
        self.check(self.lib.hipModuleGetFunction(ctypes.byref(function), module,
                                                 name.encode()))
        return function

    def counters(self):
        lines = self.lib.gistSimCounters().decode().split("\n")
        return {name: float(value) for name, value in
                (line.split() for line in lines if line)}

    def run(self, code, name, arguments, grid=(1,), block=(64,), shared=0):
        """Launches a kernel of a loaded or unloaded code object. NumPy arrays
        become buffers and are updated in place; the rest are scalars."""
        module = self.load(code) if isinstance(code, bytes) else code
        self.configure("reset", 0)
        pointers, values = [], []
        for argument in arguments:
            if isinstance(argument, np.ndarray):
                pointer = self.malloc(argument.nbytes)
                self.check(self.lib.hipMemcpy(pointer, argument.ctypes.data_as(ctypes.c_void_p),
                                              ctypes.c_size_t(argument.nbytes), 1))
                pointers.append((argument, pointer))
                values.append(pointer)
            else:
                values.append(argument)
        parameters = (ctypes.c_void_p * max(len(values), 1))(
            *[ctypes.cast(ctypes.byref(value), ctypes.c_void_p) for value in values])
        grid = tuple(grid) + (1,) * (3 - len(grid))
        block = tuple(block) + (1,) * (3 - len(block))
        error = self.lib.hipModuleLaunchKernel(self.function(module, name), *grid, *block,
                                               shared, None, parameters, None)
        assert self.lib.hipDeviceSynchronize() == error
        report = self.lib.gistSimLastReport().decode()
        for array, pointer in pointers:
            self.check(self.lib.hipMemcpy(array.ctypes.data_as(ctypes.c_void_p), pointer,
                                          ctypes.c_size_t(array.nbytes), 2))
            self.check(self.lib.hipFree(pointer))
        if isinstance(code, bytes):
            self.check(self.lib.hipModuleUnload(module))
        if error:
            assert error == LAUNCH_FAILURE
            self.configure("reset", 0)
            raise LaunchFailed(report)
