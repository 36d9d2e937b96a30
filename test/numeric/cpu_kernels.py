# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles kernel functions for a CPU and calls them as the runtime does."""

import ctypes
import os
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile

import numpy as np

from reference.quantization import FORMATS

GIST_OPT = os.environ.get("GIST_OPT", "gist-opt")


def compile_kernels(text, target=""):
    """A shared object with the kernels of `text`; see load."""
    stage = f"-gist-tile={target}" if target else "-gist-tile"
    with tempfile.NamedTemporaryFile(suffix=".so", delete=False) as file:
        path = file.name
    write = f"-gist-write-cpu-code=output={path}"
    result = subprocess.run(
        [GIST_OPT, "-", stage, "-gist-cpu", write],
        input=text,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    return path, result.stdout


class Kernels:
    """Kernels of a shared object, with grids read from the lowered text."""

    def __init__(self, text, target=""):
        path, lowered = compile_kernels(text, target)
        self.library = ctypes.CDLL(path)
        os.unlink(path)
        self._read_grids(lowered)

    def _read_grids(self, lowered):
        maps = dict(
            re.findall(r"^(#map\d*) = affine_map<\(\)\[?.*?\]? -> \((.*)\)>$", lowered, re.M)
        )
        self.grids = {}
        for name, grid in re.findall(
            r"llvm\.func @(\w+)\(.*?gist\.grid = \[(.*?)\]", lowered
        ):
            names = [part.strip() for part in grid.split(",") if part.strip()]
            self.grids[name] = [maps[part] for part in names]

    def _grid(self, name, numbers):
        sizes = []
        for expr in self.grids[name]:
            size = r"(\w+|\([^()]*\))"
            expr = expr.replace(" mod ", " % ")
            expr = re.sub(size + r" ceildiv (\d+)", r"(-(-\1 // \2))", expr)
            expr = re.sub(size + r" floordiv (\d+)", r"(\1 // \2)", expr)
            scope = {f"s{i}": number for i, number in enumerate(numbers)}
            sizes.append(eval(expr, {}, scope))
        return (sizes + [1, 1, 1])[:3]

    def prepare(self, name, *arguments):
        """What call needs: the function, its slots and its tasks. An argument is
        an int or what `rows` and `whole` make of an array."""
        slots, indices, sizes = [], [], []
        for argument in arguments:
            if isinstance(argument, int):
                slots.append(argument)
                indices.append(argument)
                continue
            array, dynamic = argument
            assert array.flags.c_contiguous
            slots.append(array.ctypes.data)
            sizes += [array.shape[dim] for dim in dynamic]
        slots = (ctypes.c_uint64 * (len(slots) + len(sizes)))(*slots, *sizes)
        x, y, z = self._grid(name, indices + sizes)
        function = getattr(self.library, name)
        function.argtypes = [ctypes.c_void_p] + [ctypes.c_int64] * 3
        function.restype = None
        tasks = [(i, j, k) for k in range(z) for j in range(y) for i in range(x)]
        return function, slots, tasks

    def call(self, name, *arguments):
        function, slots, tasks = self.prepare(name, *arguments)
        for task in tasks:
            function(slots, *task)


class EmulatedKernels(Kernels):
    """The same for x86-64 on another machine, in qemu's user mode."""

    TOOLS = ("qemu-x86_64", "clang-22", "ld.lld-22")

    @classmethod
    def available(cls):
        return all(shutil.which(tool) for tool in cls.TOOLS)

    def __init__(self, text, target):
        target = "triple=x86_64-linux-gnu " + target
        with tempfile.NamedTemporaryFile(suffix=".s", delete=False) as file:
            self.assembly = file.name
        write = f"-gist-write-cpu-code=assembly output={self.assembly}"
        result = subprocess.run(
            [GIST_OPT, "-", f"-gist-tile={target}", "-gist-cpu", write],
            input=text,
            capture_output=True,
            text=True,
        )
        assert result.returncode == 0, result.stderr
        self._read_grids(result.stdout)

    def call(self, name, *arguments):
        driver = os.path.join(os.path.dirname(__file__), "Inputs", "emulated.c")
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "program")
            flags = "--target=x86_64-linux-gnu -O1 -ffreestanding -fno-builtin"
            flags += " -nostdlib -static -fuse-ld=lld-22 -mno-sse -Wl,-z,noexecstack"
            subprocess.run(
                ["clang-22", *flags.split(), f"-DKERNEL={name}", driver]
                + [self.assembly, "-o", program],
                check=True,
            )
            slots, data, numbers, sizes = [], b"", [], []
            for argument in arguments:
                if isinstance(argument, int):
                    slots.append((0, argument, b""))
                    numbers.append(argument)
                    continue
                array, dynamic = argument
                slots.append((1, array.nbytes, array.tobytes()))
                sizes += [array.shape[dim] for dim in dynamic]
            slots += [(0, size, b"") for size in sizes]
            data = struct.pack("<Q", len(slots))
            for kind, value, content in slots:
                data += struct.pack("<QQ", kind, value) + content
            data += struct.pack("<3Q", *self._grid(name, numbers + sizes))
            result = subprocess.run(
                ["qemu-x86_64", "-cpu", "max", program],
                input=data,
                capture_output=True,
                check=True,
            )
        out, at = result.stdout, 0
        for argument in arguments:
            if not isinstance(argument, int):
                array = argument[0]
                part = out[at : at + array.nbytes]
                array[...] = np.frombuffer(part, array.dtype).reshape(array.shape)
                at += array.nbytes


def rows(array):
    """A tensor argument whose first dimension is dynamic."""
    return (np.ascontiguousarray(array), [0])


def whole(array):
    """A tensor argument of static shape."""
    return (np.ascontiguousarray(array), [])


#: How weights are packed for a target: see #gist.packing.
#: format -> (bits, group, scale bits, zero, signed, minimum)
SIGNED = {
    "q4_0": (4, 32, 16, 0, True, False),
    "q4_1": (4, 32, 16, 0, False, True),
    "q8_0": (8, 32, 16, 0, True, False),
    "q4_k": (4, 32, 8, 0, False, True),
    "q6_k": (6, 16, 8, 0, True, False),
    "q3_1": (3, 32, 16, 0, False, True),
    "q2_1": (2, 32, 16, 0, False, True),
    "q5_0": (5, 32, 16, 0, True, False),
    "q5_1": (5, 32, 16, 0, False, True),
    "q5_k": (5, 32, 8, 0, False, True),
    "q3_k": (3, 16, 8, 0, True, False),
    "q2_k": (2, 16, 8, 0, False, True),
    "iq4_nl": (4, 32, 16, 0, True, False),
}
UNSIGNED = {
    "q4_0": (4, 32, 16, 8, False, False),
    "q4_1": (4, 32, 16, 0, False, True),
    "q8_0": (8, 32, 16, 128, False, False),
    "q4_k": (4, 32, 8, 0, False, True),
    "q6_k": (6, 16, 8, 32, False, False),
    "q3_1": (3, 32, 16, 0, False, True),
    "q2_1": (2, 32, 16, 0, False, True),
    "q5_0": (5, 32, 16, 16, False, False),
    "q5_1": (5, 32, 16, 0, False, True),
    "q5_k": (5, 32, 8, 0, False, True),
    "q3_k": (3, 16, 8, 4, False, False),
    "q2_k": (2, 16, 8, 0, False, True),
    "iq4_nl": (4, 32, 16, 128, False, False),
}
#: target -> (columns, depth, encodings)
PACKINGS = {
    "arm": (8, 8, SIGNED),
    "neon": (4, 8, SIGNED),
    "x86": (16, 4, UNSIGNED),
    "sse": (4, 4, UNSIGNED),
}


def packing_text(target, name):
    columns, depth, formats = PACKINGS[target]
    bits, group, scale, zero, signed, minimum = formats[name]
    return (
        f"<columns = {columns}, depth = {depth}, bits = {bits}, group = {group}, "
        f"scale_bits = {scale}, zero = {zero}, is_signed = {str(signed).lower()}, "
        f"has_min = {str(minimum).lower()}>"
    )


def join_bits(u, bits):
    """Values [group of columns][block][step][lane] in the bytes of a block."""
    if bits == 8:
        return u

    def plane(part, width):
        """All values of a block in one run: neighbours are in different bytes."""
        cut = part.reshape(*part.shape[:2], 8 // width, -1)
        return sum(cut[:, :, j] << width * j for j in range(8 // width))

    if bits < 4:
        low_bits, planes = 2, [plane(u & 3, 2)]
    else:
        halves = (u[:, :, 0::2] & 15) | (u[:, :, 1::2] & 15) << 4
        low_bits, planes = 4, [halves.reshape(*u.shape[:2], -1)]
    if bits > low_bits:
        planes.append(plane(u >> low_bits, bits - low_bits))
    return np.concatenate(planes, axis=-1).astype(np.uint8)


def pack(blocks, name, target):
    """Stored blocks (rows, blocks, bytes) in the order #gist.packing says."""
    columns, depth, formats = PACKINGS[target]
    bits, _, _, zero, signed, minimum = formats[name]
    blocks = np.ascontiguousarray(blocks).view(np.uint8)
    n, count, _ = blocks.shape
    padded = -(-n // columns) * columns
    blocks = np.concatenate([blocks, np.zeros((padded - n, count, blocks.shape[2]), np.uint8)])
    head = 4 if minimum else 2
    body = blocks[:, :, head:]
    i = np.arange(32)
    if name in ("q5_0", "q5_1"):
        fifth = body[:, :, i // 8].astype(np.int64) >> i % 8 & 1
        nibbles = np.concatenate([body[:, :, 4:] & 15, body[:, :, 4:] >> 4], axis=-1)
        u = nibbles + 16 * fifth - (16 if name == "q5_0" else 0)
    elif name == "iq4_nl":
        # Numbers of levels, which stay.
        u = np.concatenate([body & 15, body >> 4], axis=-1).astype(np.int64) - zero
    elif bits < 4:
        u = body[:, :, i % 8].astype(np.int64) >> 2 * (i // 8) & 3
        if bits == 3:
            u += 4 * (body[:, :, 8 + i % 4].astype(np.int64) >> i // 4 & 1)
    elif bits == 4:
        u = np.concatenate([body & 15, body >> 4], axis=-1).astype(np.int64)
        u -= 8 if name == "q4_0" else 0
    else:
        u = body.view(np.int8).astype(np.int64)
    u = u + zero
    if n < padded:
        u[n:] = 0
    u &= (1 << bits) - 1
    # [group of columns][column][block][step][depth] -> group, block, step, column
    u = u.reshape(-1, columns, count, 32 // depth, depth).transpose(0, 2, 3, 1, 4)
    u = u.reshape(u.shape[0], count, 32 // depth, columns * depth).astype(np.uint8)
    u = join_bits(u, bits)
    parts = []
    for at in [0, 2][: 1 + minimum]:
        half = blocks[:, :, at : at + 2].reshape(-1, columns, count, 2)
        parts.append(half.transpose(0, 2, 1, 3).reshape(-1, count, columns * 2))
    parts.append(u.reshape(u.shape[0], count, -1))
    return np.ascontiguousarray(np.concatenate(parts, axis=-1)).view(np.int8)


def random_packed(rng, name, n, k, target):
    """A random weight of a format whose groups have 8-bit scales, which multiply
    f16 numbers of 256 values: its values and its packed bytes, for n a multiple
    of the columns of a block and k one of 256."""
    columns, depth, formats = PACKINGS[target]
    bits, group, scale_bits, zero, signed, minimum = formats[name]
    assert scale_bits == 8 and n % columns == 0 and k % 256 == 0
    low = -(1 << (bits - 1)) if signed else 0
    u = rng.integers(low, low + (1 << bits), (n, k))
    blocks, steps = k // 32, 32 // depth
    values, shared, parts = 0, [], []
    for factor in [u - zero, np.ones_like(u)][: 1 + minimum]:
        half = (rng.uniform(-2, 2, (n, k // 256)) / 2048 / np.sqrt(k)).astype("<f2")
        number = rng.integers(-128, 128, (n, k // group), dtype=np.int8)
        scale = np.repeat(half.astype(np.float64), 256 // group, 1) * number
        values = values + np.repeat(scale, group, 1) * factor
        cut = half.reshape(-1, columns, k // 256).transpose(0, 2, 1)
        shared.append(np.ascontiguousarray(cut).view(np.uint8))
        cut = number.reshape(-1, columns, blocks, 32 // group).transpose(0, 2, 3, 1)
        cut = np.ascontiguousarray(cut.reshape(-1, blocks, 32 // group * columns))
        parts.append(cut.view(np.uint8))
    u = (u & ((1 << bits) - 1)).reshape(-1, columns, blocks, steps, depth)
    u = u.transpose(0, 2, 3, 1, 4).reshape(-1, blocks, steps, columns * depth)
    u = u.astype(np.uint8)
    u = join_bits(u, bits)
    parts.append(u.reshape(u.shape[0], blocks, -1))
    parts = np.concatenate(parts, axis=-1).reshape(n // columns, k // 256, -1)
    packed = np.concatenate(shared + [parts], axis=-1)
    return values, np.ascontiguousarray(packed).view(np.int8)


def random_blocks(rng, name, n, k):
    """Bytes of a random weight whose values are about 1 / sqrt(k)."""
    size = FORMATS[name][1]
    blocks = rng.integers(0, 256, (n, k // 32, size), dtype=np.uint8)
    bits = 8 if name == "iq4_nl" else SIGNED[name][0]
    unit = 256 / (1 << bits) / 128 / np.sqrt(k)
    scale = (rng.uniform(0.5, 2, (n, k // 32)) * unit).astype(np.float16)
    blocks[:, :, 0:2] = scale[..., None].view(np.uint8)
    if SIGNED[name][5]:
        low = (-(1 << SIGNED[name][0] - 1) * scale * rng.uniform(0.5, 1.5, scale.shape)).astype(np.float16)
        blocks[:, :, 2:4] = low[..., None].view(np.uint8)
    return blocks.view(np.int8)


def quantized_matmul(name, n, k, target="arm", symbol="matmul"):
    """Text of a kernel: rows in 8 bits times a packed weight."""
    columns, _, formats = PACKINGS[target]
    bits, _, scale, _, _, minimum = formats[name]
    scales = 32 // formats[name][1] * (1 + minimum)
    size, blocks = columns * (4 * bits + scale // 8 * scales), k // 32
    if scale == 8:
        size, blocks = 8 * size + columns * 2 * (1 + minimum), k // 256
    weight = f"tensor<{-(-n // columns)}x{blocks}x{size}xi8>"
    return f"""
func.func private @{symbol}(%q: tensor<?x{k}xi8>, %s: tensor<?x{k // 32}xf32>,
    %w: {weight}, %out: tensor<?x{n}xf32>) -> tensor<?x{n}xf32>
    attributes {{gist.kernel = #gist.kernel<kind = quantized_matmul, outputs = 1>}} {{
  %y = gist.quantized_matmul %q, %s, %w format {name} packed {packing_text(target, name)}
      : tensor<?x{k}xi8>, tensor<?x{k // 32}xf32>, {weight} -> tensor<?x{n}xf32>
  return %y : tensor<?x{n}xf32>
}}
"""


def quantize_rows(k, symbol="quantize"):
    return f"""
func.func private @{symbol}(%x: tensor<?x{k}xf32>, %q: tensor<?x{k}xi8>,
    %s: tensor<?x{k // 32}xf32>) -> (tensor<?x{k}xi8>, tensor<?x{k // 32}xf32>)
    attributes {{gist.kernel = #gist.kernel<kind = rows, outputs = 2>}} {{
  %v, %t = gist.quantize_rows %x : tensor<?x{k}xf32>
  return %v, %t : tensor<?x{k}xi8>, tensor<?x{k // 32}xf32>
}}
"""


def of_one_row(text):
    """A kernel on any number of rows as one on a single row."""
    return text.replace("?x", "1x").replace("empty(%t)", "empty()")


def matmul_of_blocks(name, n, k):
    """Text of a kernel: y = x W^T in f32 with a weight in blocks."""
    length, size = FORMATS[name]
    blocks = f"tensor<{n}x{k // length}x{size}xi8>"
    return matmul(n, k).replace(f"%w: tensor<{n}x{k}xf32>", f"%blocks: {blocks}").replace(
        "  %y = linalg.matmul", f"  %w = gist.dequantize %blocks format {name} : {blocks}\n  %y = linalg.matmul")


def matmul(n, k, weight="f32", epilogue=False, symbol="matmul"):
    """Text of a kernel: y = x W^T, or silu(x W^T + bias) + r."""
    bias = f", %bias: tensor<{n}xf32>, %r: tensor<?x{n}xf32>" if epilogue else ""
    text = f"""
func.func private @{symbol}(%x: tensor<?x{k}xf32>, %w: tensor<{n}x{k}x{weight}>{bias},
    %out: tensor<?x{n}xf32>) -> tensor<?x{n}xf32>
    attributes {{gist.kernel = #gist.kernel<kind = matmul, outputs = 1>}} {{
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x{k}xf32>
  %e = tensor.empty(%t) : tensor<?x{n}xf32>
  %f = linalg.fill ins(%zero : f32) outs({"%e" if epilogue else "%out"} : tensor<?x{n}xf32>) -> tensor<?x{n}xf32>
  %y = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
      affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %w : tensor<?x{k}xf32>, tensor<{n}x{k}x{weight}>)
      outs(%f : tensor<?x{n}xf32>) -> tensor<?x{n}xf32>
"""
    if not epilogue:
        return text + f"  return %y : tensor<?x{n}xf32>\n}}\n"
    return text + f"""
  %g = linalg.generic {{indexing_maps = [affine_map<(m, n) -> (m, n)>,
      affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
      iterator_types = ["parallel", "parallel"]}}
      ins(%y, %bias, %r : tensor<?x{n}xf32>, tensor<{n}xf32>, tensor<?x{n}xf32>)
      outs(%out : tensor<?x{n}xf32>) {{
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %1 = arith.addf %a, %b : f32
    %2 = arith.negf %1 : f32
    %3 = math.exp %2 : f32
    %4 = arith.addf %3, %one : f32
    %5 = arith.divf %1, %4 : f32
    %6 = arith.addf %5, %c : f32
    linalg.yield %6 : f32
  }} -> tensor<?x{n}xf32>
  return %g : tensor<?x{n}xf32>
}}
"""


def rms_norm(d, symbol="norm"):
    """Text of a kernel on whole rows: x / sqrt(mean(x^2) + eps) * w."""
    return f"""
func.func private @{symbol}(%x: tensor<?x{d}xf32>, %w: tensor<{d}xf32>,
    %out: tensor<?x{d}xf32>) -> tensor<?x{d}xf32>
    attributes {{gist.kernel = #gist.kernel<kind = rows, outputs = 1>}} {{
  %zero = arith.constant 0.0 : f32
  %n = arith.constant {float(d)} : f32
  %eps = arith.constant 1.0e-5 : f32
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x{d}xf32>
  %e = tensor.empty(%t) : tensor<?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {{indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>],
      iterator_types = ["parallel", "reduction"]}}
      ins(%x : tensor<?x{d}xf32>) outs(%f : tensor<?xf32>) {{
  ^bb0(%a: f32, %o: f32):
    %1 = arith.mulf %a, %a : f32
    %2 = arith.addf %o, %1 : f32
    linalg.yield %2 : f32
  }} -> tensor<?xf32>
  %y = linalg.generic {{indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>,
      affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>],
      iterator_types = ["parallel", "parallel"]}}
      ins(%x, %s, %w : tensor<?x{d}xf32>, tensor<?xf32>, tensor<{d}xf32>)
      outs(%out : tensor<?x{d}xf32>) {{
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %1 = arith.divf %b, %n : f32
    %2 = arith.addf %1, %eps : f32
    %3 = math.rsqrt %2 : f32
    %4 = arith.mulf %a, %3 : f32
    %5 = arith.mulf %4, %c : f32
    linalg.yield %5 : f32
  }} -> tensor<?x{d}xf32>
  return %y : tensor<?x{d}xf32>
}}
"""


def attention(heads, kv_heads, size, keys="f16", options="causal", symbol="attention", tile="",
              tokens="?", ahead=0):
    kv = f"tensor<?x{kv_heads}x{size}x{keys}>"
    # The op wants queries and keys of one type; the kernel widens.
    q = f"tensor<{tokens}x{heads}x{size}x{keys}>"
    return f"""
func.func private @{symbol}(%q: {q}, %k: {kv}, %v: {kv}, %out: {q}) -> {q}
    attributes {{gist.kernel = #gist.kernel<kind = attention, outputs = 1>{tile and f", gist.tile = #gist.cpu_attention<{tile}>"}{f", gist.prefetch = {ahead} : i64" * bool(ahead)}}} {{
  %o = gist.attention %q, %k, %v {options} : {q}, {kv}, {kv}
  return %o : {q}
}}
"""


def scaled_attention(heads, kv_heads, size, options="causal", symbol="attention", tile="",
                     tokens="?", ahead=0):
    """Attention on keys and values in 8 bits, with a scale for each row."""
    kv, scales = f"tensor<?x{kv_heads}x{size}xi8>", f"tensor<?x{kv_heads}xf32>"
    q, wide = f"tensor<{tokens}x{heads}x{size}xf32>", f"tensor<?x{kv_heads}x{size}xf32>"

    def expand(name):
        return f"""
  %{name}_size = tensor.dim %{name}, %c0 : {kv}
  %{name}_empty = tensor.empty(%{name}_size) : {wide}
  %{name}_wide = linalg.generic {{indexing_maps = [affine_map<(t, h, d) -> (t, h, d)>,
      affine_map<(t, h, d) -> (t, h)>, affine_map<(t, h, d) -> (t, h, d)>],
      iterator_types = ["parallel", "parallel", "parallel"]}}
      ins(%{name}, %{name}_scales : {kv}, {scales}) outs(%{name}_empty : {wide}) {{
  ^bb0(%n: i8, %s: f32, %o: f32):
    %f = arith.sitofp %n : i8 to f32
    %p = arith.mulf %f, %s : f32
    linalg.yield %p : f32
  }} -> {wide}"""

    attributes = f"gist.kernel = #gist.kernel<kind = attention, outputs = 1>"
    if tile:
        attributes += f", gist.tile = #gist.{tile}"
    if ahead:
        attributes += f", gist.prefetch = {ahead} : i64"
    return f"""
func.func private @{symbol}(%q: {q}, %k: {kv}, %k_scales: {scales}, %v: {kv}, %v_scales: {scales},
    %out: {q}) -> {q} attributes {{{attributes}}} {{
  %c0 = arith.constant 0 : index{expand("k")}{expand("v")}
  %o = gist.attention %q, %k_wide, %v_wide {options} : {q}, {wide}, {wide}
  return %o : {q}
}}
"""


def lookup(name, n, k, target):
    """The kernel of a lookup in a weight that a product has had packed."""
    length, block_bytes = FORMATS[name]
    weight = f"tensor<{n}x{k // length}x{block_bytes}xi8>"
    rows = f"tensor<?x{k // length}x{block_bytes}xi8>"
    graph = f"""
    func.func @graph(%t: tensor<?xi32>, %q: tensor<?x{k}xi8>, %s: tensor<?x{k // 32}xf32>)
        -> (tensor<?x{k}xf32>, tensor<?x{n}xf32>) {{
      %c0 = arith.constant 0 : index
      %w = gist.weight "w" : {weight}
      %tokens = tensor.dim %t, %c0 : tensor<?xi32>
      %empty = tensor.empty(%tokens) : {rows}
      %blocks = linalg.generic {{
          indexing_maps = [affine_map<(t, b, i) -> (t)>,
                           affine_map<(t, b, i) -> (t, b, i)>],
          iterator_types = ["parallel", "parallel", "parallel"]}}
          ins(%t : tensor<?xi32>) outs(%empty : {rows}) {{
      ^bb0(%id: i32, %out: i8):
        %row = arith.index_cast %id : i32 to index
        %block = linalg.index 1 : index
        %byte = linalg.index 2 : index
        %value = tensor.extract %w[%row, %block, %byte] : {weight}
        linalg.yield %value : i8
      }} -> {rows}
      %x = gist.dequantize %blocks format {name} : {rows}
      %y = gist.quantized_matmul %q, %s, %w format {name}
          : tensor<?x{k}xi8>, tensor<?x{k // 32}xf32>, {weight} -> tensor<?x{n}xf32>
      return %x, %y : tensor<?x{k}xf32>, tensor<?x{n}xf32>
    }}"""
    passes = [f"-gist-set-target={target}", "-gist-assign-packing", "-gist-kernels"]
    result = subprocess.run(
        [GIST_OPT, "-", *passes], input=graph, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    maps = re.findall(r"^#map.*$", result.stdout, re.M)
    kernel = re.search(r"  func\.func private @rows_0\(.*?\n  \}\n", result.stdout, re.S)
    return "\n".join(maps) + "\n" + kernel.group(0)


def has_bf16():
    """Whether this CPU has bfmmla."""
    info = pathlib.Path("/proc/cpuinfo")
    return info.exists() and " bf16" in info.read_text()
