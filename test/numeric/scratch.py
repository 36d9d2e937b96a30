# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Asks the compiler what memory a kernel works in on a target."""

import functools
import re
import subprocess

import numpy as np

from cpu_kernels import GIST_OPT

DTYPES = {"i32": np.int32, "f32": np.float32, "f16": np.float16, "bf16": np.uint16}


class Memory:
    """A tensor that -gist-add-scratch has added: its sizes are numbers, or functions
    of the sizes of the kernel's arguments."""

    def __init__(self, sizes, element, is_control):
        self.sizes, self.element, self.is_control = sizes, element, is_control

    def make(self, fill, *shapes):
        """An array, and which of its sizes are dynamic. `shapes` are those of the
        kernel's arguments, a number itself for a number."""
        shape = [size(shapes) if callable(size) else size for size in self.sizes]
        dynamic = [i for i, size in enumerate(self.sizes) if callable(size)]
        dtype = DTYPES[self.element]
        return np.full(shape, np.asarray(fill).astype(dtype), dtype), dynamic


def make(text, target, *arguments):
    """The memory of the one kernel in `text` for a call with `arguments`: control is
    zero, and the rest NaN, so that what is read before it is written is seen."""
    shapes = [a if isinstance(a, int) else a[0].shape for a in arguments]
    return [m.make(0 if m.is_control else np.nan, *shapes) for m in ask(text, target)]


def call(kernels, text, name, *arguments):
    """Calls the kernel of CPUs with the memory that it works in; it leaves control
    zero, which the next call finds so."""
    memory = make(text, "cpu", *arguments)
    kernels.call(name, *arguments, *memory)
    assert not any(array.any() for array, _ in memory[1:])


@functools.lru_cache(maxsize=None)
def ask(text, target, calls=1):
    """The memory of the one kernel in `text`, in order, when a function calls it so
    many times. Control is last."""
    name, header = re.search(r"func\.func private @(\w+)\((.*?)\)\s*->", text, re.S).groups()
    types = re.findall(r"%\w+: ((?:tensor<[^>]*>|index))", header)
    outputs = int(re.search(r"outputs = (\d+)", text).group(1))
    arguments = [f"%a{i}" for i in range(len(types))]

    def group(numbers):
        numbers = list(numbers)
        names = ", ".join(arguments[i] for i in numbers)
        return f"{names} : {', '.join(types[i] for i in numbers)}" if numbers else ""

    split = len(types) - outputs
    call = f"gist.dispatch @{name}({group(range(split))}) outs({group(range(split, len(types)))})"
    host = ", ".join(f"{a}: {t}" for a, t in zip(arguments, types))
    lines = "\n".join(f"  %r{i}:{outputs} = {call}" for i in range(calls))
    result = subprocess.run(
        [GIST_OPT, "-", f"-gist-set-target=target={target}", "-gist-add-scratch"],
        input=f"{text}\nfunc.func @host({host}) {{\n{lines}\n  return\n}}\n",
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    return read(result.stdout, len(types), outputs)


def read(text, arguments, outputs):
    maps = dict(re.findall(r"^(#map\d*) = affine_map<\(\)\[.*?\] -> \((.*)\)>$", text, re.M))
    body = text[text.index("func.func @host") :].splitlines()[1:]
    values = {}
    for line in body:
        if match := re.match(r"\s*(%\S+) = arith\.constant (\d+) : index", line):
            values[match[1]] = int(match[2])
        elif match := re.match(r"\s*(%\S+) = tensor\.dim %arg(\d+), (%\S+) :", line):
            values[match[1]] = functools.partial(
                lambda a, d, shapes: shapes[a][d], int(match[2]), values[match[3]])
        elif match := re.match(r"\s*(%\S+) = affine\.apply (#map\d*)\(\)\[(.*?)\]", line):
            names = [values[n] if n in values else number(n) for n in match[3].split(", ")]
            values[match[1]] = functools.partial(evaluate, maps[match[2]], names)
        elif match := re.match(r"\s*(%\S+) = tensor\.empty\((.*?)\) : tensor<(.*)>", line):
            values[match[1]] = made(match[3], [values[n.strip()] for n in match[2].split(",") if n])
        elif match := re.match(r"\s*(%\S+?)(?::\d+)? = gist\.dispatch @\w+\(.*?\) outs\((.*) : (.*)\)", line):
            names, types = match[2].split(", "), re.findall(r"tensor<(.*?)>", match[3])
            if match[2].startswith("%arg") and len(names) > outputs:
                return [values.get(n) or made(t, []) for n, t in zip(names[outputs:], types[outputs:])]
            # A call that clears words of control; those have one size. The kernel
            # itself, where it has no memory of its own, is left out.
            if "?" not in types[0]:
                values[match[1]] = made(types[0], [], is_control=True)
    return []


def number(name):
    """An argument of the kernel that is a number."""
    at = int(name.removeprefix("%arg"))
    return lambda shapes: shapes[at]


def evaluate(expr, names, shapes):
    scope = {f"s{i}": n(shapes) if callable(n) else n for i, n in enumerate(names)}
    return eval(expr, {}, scope)


def made(type, dynamic, is_control=False):
    *sizes, element = type.split("x")
    left = iter(dynamic)
    return Memory([next(left) if size == "?" else int(size) for size in sizes], element, is_control)
