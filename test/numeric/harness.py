# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Executes functions on tensors, written as MLIR text, from Python.

    library = harness.build('''
      func.func @double(%x: tensor<?xf32>) -> tensor<?xf32>
          attributes {llvm.emit_c_interface} { ... }''')
    (y,) = library.double(x)

gist-opt lowers the text to the LLVM dialect, mlir-translate and clang make a
shared library of it, and ctypes calls that. Arguments and results are NumPy
arrays of the storage types of `reference.numerics` (bf16 is uint16) and Python
numbers for index. Results may have any dynamic shape: the function allocates
them and hands over memref descriptors.

A text is compiled once in a process, and code that did not change once in the
folder GIST_NUMERIC_CACHE. Still: write few functions with dynamic shapes and
call them often.
"""

import ctypes
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from reference.numerics import STORAGE

PIPELINE = "-gist-reference"
SUPPORT = Path(__file__).parent / "Support.c"


def tool(name, variable):
    """A tool's path: from the environment, where the build sets it, or PATH."""
    found = shutil.which(os.environ.get(variable, name))
    if found is None:
        raise FileNotFoundError(f"{name}: not found; set {variable}")
    return found


class CompileError(RuntimeError):
    pass


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise CompileError(f"{' '.join(map(str, command))}\n{done.stderr}")
    return done.stdout


@cache
def folder():
    """Where libraries are kept: GIST_NUMERIC_CACHE, or this process alone."""
    kept = os.environ.get("GIST_NUMERIC_CACHE")
    if kept:
        Path(kept).mkdir(parents=True, exist_ok=True)
        return Path(kept)
    holder = tempfile.TemporaryDirectory(prefix="gist-numeric-")
    folder.holder = holder  # Removed when the process ends.
    return Path(holder.name)


@cache
def build(text, before=()):
    """Compiles MLIR text; `before` are passes to run ahead of the pipeline."""
    opt = tool("gist-opt", "GIST_OPT")
    lowered = run([opt, *before, PIPELINE, "-"], input=text)
    translate = tool("mlir-translate-22", "MLIR_TRANSLATE")
    ir = run([translate, "--mlir-to-llvmir", "-"], input=lowered)
    return Library(compile_ir(ir), signatures(text))


SCHEDULE = """
module attributes {{transform.with_named_sequence}} {{
  transform.named_sequence @__transform_main(
      %root: !transform.any_op {{transform.readonly}}) {{
    %op = transform.structured.match ops{{["{op}"]}} in %root
        : (!transform.any_op) -> !transform.any_op
    %tiled, %loops:{count} = transform.structured.tile_using_for %op
        tile_sizes {sizes} : (!transform.any_op) -> ({types})
    transform.yield
  }}
}}
"""


def build_tiled(text, op, sizes):
    """Compiles MLIR text with every `op` in it cut into tiles first."""
    count = sum(size != 0 for size in sizes)
    types = ", ".join(["!transform.any_op"] * (1 + count))
    schedule = SCHEDULE.format(op=op, sizes=list(sizes), count=count, types=types)
    # A file of its own: in the text it would be lowered with the functions.
    name = hashlib.sha256(schedule.encode()).hexdigest()[:20]
    path = folder() / f"{name}.mlir"
    path.write_text(schedule)
    library = f"-transform-preload-library=transform-library-paths={path}"
    return build(text, (library, "-transform-interpreter"))


def compile_ir(ir):
    """The path of the shared library for LLVM IR."""
    clang = tool("clang-22", "CLANG")
    # Every allocation of the compiled code goes through the checked heap.
    wrapped = [f"-Wl,--wrap={name}" for name in ("malloc", "calloc", "free")]
    # -O1: a third of the time of -O2, and the cases are small.
    flags = ["-O1", "-shared", "-fPIC", "-Wno-override-module", *wrapped]
    key = "\0".join([ir, clang, *flags, SUPPORT.read_text()])
    stem = folder() / hashlib.sha256(key.encode()).hexdigest()[:20]
    library = stem.with_suffix(".so")
    if not library.exists():
        source = stem.with_suffix(".ll")
        source.write_text(ir)
        part = stem.with_suffix(f".{os.getpid()}")
        run([clang, *flags, source, SUPPORT, "-o", part, "-lm"])
        part.rename(library)  # At once: another process may be building it too.
    return library


def signatures(text):
    """{name: (argument types, result types)} of the functions in a text.

    A type is (shape, element) with None for dynamic sizes, and (None, element)
    for a scalar.
    """
    found = {}
    pattern = r"func\.func @(\w+)\((.*?)\)\s*->\s*(.*?)\s*attributes"
    for name, arguments, results in re.findall(pattern, text, re.DOTALL):
        found[name] = (parse_types(arguments), parse_types(results))
    return found


def parse_types(text):
    types = []
    for match in re.finditer(r"tensor<((?:[\d?]+x)*)(\w+)>|\b(index|[fi]\d+)\b", text):
        sizes, element, scalar = match.groups()
        if scalar:
            types.append((None, scalar))
        else:
            shape = [None if s == "?" else int(s) for s in sizes.split("x") if s]
            types.append((tuple(shape), element))
    return types


@cache
def descriptor(rank):
    """struct { T *allocated, *aligned; int64_t offset, sizes[], strides[]; }"""

    class Descriptor(ctypes.Structure):
        _fields_ = [
            ("allocated", ctypes.c_void_p),
            ("aligned", ctypes.c_void_p),
            ("offset", ctypes.c_int64),
        ] + (
            [("sizes", ctypes.c_int64 * rank), ("strides", ctypes.c_int64 * rank)]
            if rank
            else []
        )

    return Descriptor


def describe(array):
    """A descriptor of an array, which must outlive it."""
    result = descriptor(array.ndim)(array.ctypes.data, array.ctypes.data, 0)
    for i in range(array.ndim):
        result.sizes[i] = array.shape[i]
        result.strides[i] = array.strides[i] // array.itemsize
    return result


def copy_out(found, rank, element):
    """A NumPy copy of what a returned descriptor describes."""
    dtype = STORAGE[element]
    sizes = tuple(found.sizes) if rank else ()
    strides = tuple(s * dtype.itemsize for s in found.strides) if rank else ()
    if 0 in sizes:
        return np.empty(sizes, dtype)
    extent = 1 + sum((n - 1) * (s // dtype.itemsize) for n, s in zip(sizes, strides))
    start = found.aligned + found.offset * dtype.itemsize
    raw = (ctypes.c_char * (extent * dtype.itemsize)).from_address(start)
    flat = np.frombuffer(raw, dtype)
    return np.lib.stride_tricks.as_strided(flat, sizes, strides).copy()


class Library:
    """Functions of a compiled text as attributes, called with NumPy arrays."""

    def __init__(self, path, functions):
        self._handle = ctypes.CDLL(str(path))
        self._handle.gist_heap_live.restype = ctypes.c_int64
        self._handle.gist_heap_error.restype = ctypes.c_char_p
        self._handle.gist_heap_free.argtypes = [ctypes.c_void_p]
        self._functions = functions

    def __getattr__(self, name):
        if name not in self._functions:
            raise AttributeError(f"no function {name} with results and a C interface")
        arguments, results = self._functions[name]
        entry = self._handle[f"_mlir_ciface_{name}"]
        entry.restype = None
        return lambda *values: self._call(entry, arguments, results, values)

    def _call(self, entry, arguments, results, values):
        assert len(values) == len(arguments), f"{len(values)} for {len(arguments)}"
        fields = [(f"r{i}", descriptor(len(r[0]))) for i, r in enumerate(results)]
        returned = type("Results", (ctypes.Structure,), {"_fields_": fields})()
        keep, passed = [], [ctypes.byref(returned)]
        for value, (shape, element) in zip(values, arguments):
            if shape is None:
                passed.append(ctypes.c_int64(int(value)))
                continue
            # A copy, because bufferization may write into an argument.
            array = np.array(value, dtype=STORAGE[element], order="C")
            fits = array.ndim == len(shape) and all(
                want in (None, got) for want, got in zip(shape, array.shape)
            )
            assert fits, f"shape {array.shape} for {shape}"
            keep.append(array)
            passed.append(ctypes.byref(describe(array)))
        entry(*passed)
        return self._take(returned, results)

    def _take(self, returned, results):
        """Copies the results out, frees them, and checks the heap."""
        out, owned = [], set()
        for i, (shape, element) in enumerate(results):
            found = getattr(returned, f"r{i}")
            out.append(copy_out(found, len(shape), element))
            owned.add(found.allocated)
        for address in owned:
            self._handle.gist_heap_free(address)
        error = self._handle.gist_heap_error()
        assert not error, error.decode()
        live = self._handle.gist_heap_live()
        assert live == 0, f"{live} allocations were never freed"
        return out
