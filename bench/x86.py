#!/usr/bin/env python3
# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What bench/x86.sh packs here, runs on an x86-64 machine, and draws. `run` needs
no package there, but numpy for the cases of single kernels."""

import argparse
import ctypes
import itertools
import json
import math
import os
import shutil
import statistics
import struct
import subprocess
import sys
from pathlib import Path

import results

# Name: LLVM's CPU and features.
CODES = {
    "AVX2": ("x86-64-v3", ""),
    "AVX-512 VNNI": ("x86-64-v4", "+avx512vnni"),
    "AMX": ("x86-64-v4", "+avx512vnni,+amx-tile,+amx-int8,+amx-bf16,"
            "+avx512bf16"),
}
TRIPLE = "x86_64-linux-gnu"
PROMPTS = ["The capital of France is", "def fibonacci(n):\n    ", "1, 1, 2, 3, 5, 8,"]
SAID = 32  # Tokens compared after each prompt.
TEXT_TOKENS = 2048  # Tokens of the text whose perplexity is compared.
THREADS = [1, 2, 4, 8, 16, 32, 64]
COMPARED = [2, 8]  # Threads at which all engines run in several rounds.
ROUNDS = 3
DECODED = 64  # Tokens of a measured decode.
TINY = ["llama", "llama3", "gpt2", "gptj", "mistral", "opt", "opt-post", "qwen2", "qwen2-window",
        "llama-q4_1.gguf", "qwen2-q4_0.gguf"]


def call(*command, **options):
    return subprocess.run(list(map(str, command)), check=True, capture_output=True,
                          text=True, **options).stdout


def slug(name):
    return name.lower().replace(" ", "-")


# ----------------------------------------------------------------------------
# Here
# ----------------------------------------------------------------------------


def pack_kernels(options, folder):
    """Products in every format and code, with random weights and their result."""
    sys.path[:0] = [str(Path(__file__).parents[1] / "test" / part)
                    for part in ("", "numeric")]
    import cpu_kernels as cpu
    import numpy as np
    from reference.quantization import dequantize, quantize_activation

    gist_opt = options.build / "bin/gist-opt"
    cases = []

    def add(code, weight, text, arrays, result):
        """Arrays in the order of the kernel's arguments; those of tokens have 133."""
        name, features = CODES[code]
        target = f"-gist-tile=triple={TRIPLE} cpu={name}"
        target += f" features={features}" if features else ""
        key = f"{slug(code)}-{weight}"
        lowered = call(gist_opt, "-", target, "-gist-cpu",
                       f"-gist-write-cpu-code=output={folder / key}.so", input=text)
        np.savez(folder / f"{key}.npz", y=result, **arrays)
        sizes = 1 + sum(len(array) == 133 for array in arrays.values())
        reader = cpu.Kernels.__new__(cpu.Kernels)
        reader._read_grids(lowered)
        grids = {tokens: reader._grid("matmul", [tokens] * sizes) for tokens in (1, 5, 16, 133)}
        cases.append({"code": code, "file": key, "grids": grids, "arrays": list(arrays),
                      "sizes": sizes})

    for code in CODES:
        packing = "avx2" if code == "AVX2" else "avx512"
        for block, n, k in [("q4_1", 192, 576), ("q4_0", 44, 96), ("q8_0", 131, 288),
                            ("q3_1", 30, 64), ("q2_1", 192, 96), ("q4_k", 96, 256),
                            ("q6_k", 96, 256)]:
            rng = np.random.default_rng(n)
            if block in ("q4_k", "q6_k"):
                w, packed = cpu.random_packed(rng, block, n, k, packing)
            else:
                blocks = cpu.random_blocks(rng, block, n, k)
                packed, w = cpu.pack(blocks, block, packing), dequantize(blocks, block)
            q, s = quantize_activation(rng.standard_normal((133, k)).astype(np.float32))
            x = q.reshape(133, -1, 32) * s[..., None].astype(np.float64)
            add(code, block, cpu.quantized_matmul(block, n, k, packing),
                {"q": q, "s": s, "w": packed}, x.reshape(133, k) @ w.T)
        # Depths of two steps and of one; 96 columns are not a whole workgroup.
        for kind, n, k in [("f16", 192, 1024), ("bf16", 96, 320)]:
            rng = np.random.default_rng(n)
            x = rng.standard_normal((133, k)).astype(np.float32)
            w = (rng.standard_normal((n, k)) / math.sqrt(k)).astype(np.float32)
            if kind == "f16":
                stored = w.astype(np.float16)
                w = stored.astype(np.float64)
            else:
                stored = (w.view(np.uint32) >> 16).astype(np.uint16)
                w = (stored.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
            add(code, kind, cpu.matmul(n, k, kind), {"x": x, "w": stored}, x @ w.T)
    return cases


def pack_attention(options, folder):
    """Attention of many queries by tiles of AMX. Inputs are such that bf16 holds
    them: what is rounded are scaled queries and the weights of values."""
    import cpu_kernels as cpu
    import numpy as np
    import scratch
    from test_cpu_kernels import OPTIONS, attend

    name, features = CODES["AMX"]
    cases, size, heads = [], 64, 6
    for number, (words, meaning) in enumerate(OPTIONS.items()):
        text = cpu.attention(heads, 2, size, "f16", words).replace(
            "outputs = 1>}", "outputs = 1>, "
            "gist.tile = #gist.cpu_amx_attention<queries = 32, keys = 64>}")
        library = f"amx-attention-{number}"
        lowered = call(options.build / "bin/gist-opt", "-",
                       f"-gist-tile=triple={TRIPLE} cpu={name} features={features}", "-gist-cpu",
                       f"-gist-write-cpu-code=output={folder / library}.so", input=text)
        reader = cpu.Kernels.__new__(cpu.Kernels)
        reader._read_grids(lowered)
        rng = np.random.default_rng(5)
        for tokens, past in [(1, 0), (1, 99), (5, 0), (37, 64), (70, 1), (130, 70)]:
            q, k, v = ((rng.standard_normal((t, h, size)).astype(np.float32).view(np.uint32)
                        & np.uint32(0xFFFF0000)).view(np.float32).astype(np.float16)
                       for t, h in ((tokens, heads), (tokens + past, 2), (tokens + past, 2)))
            keys = np.abs(np.repeat(k, heads // 2, axis=1).astype(np.float64))
            scores = np.einsum("qhd,khd->qhk", np.abs(q.astype(np.float64)), keys)
            rounding = 2**-8 + 2**-11 + 2 * 2**-9 * scores.max(axis=2)[:, :, None] / 8
            file = f"{library}-{tokens}-{past}"
            bound = attend(q, k, np.abs(v), **meaning) * rounding + 1e-5
            np.savez(folder / f"{file}.npz", q=q, k=k, v=v, bound=bound.astype(np.float32),
                     y=attend(q, k, v, **meaning).astype(np.float32))
            memory = scratch.make(text, "cpu", cpu.rows(q), cpu.rows(k), cpu.rows(v), cpu.rows(q))
            sizes = [tokens, tokens + past, tokens + past, tokens,
                     *(array.shape[dim] for array, dynamic in memory for dim in dynamic)]
            cases.append({"library": library, "file": file, "sizes": sizes,
                          "memory": [array.nbytes for array, _ in memory],
                          "grid": reader._grid("attention", sizes)})
    return cases


def pack_tiny(options, folder):
    """The tiny models of test/models in f32, with what `transformers` computes."""
    models = Path(__file__).parents[1] / "test/models"
    (folder / "tiny").mkdir()
    for name in TINY:
        reference = (models / name).with_suffix(".npz") if name.endswith(".gguf") \
            else models / name / "reference.npz"
        shutil.copy(reference, folder / "tiny" / f"{name}.npz")
        for code, (cpu, features) in CODES.items():
            call(options.build / "bin/gist-compile", models / name, "--kv-type=f32",
                 "--compute=f32", "--logits=all", f"--triple={TRIPLE}", f"--cpu={cpu}",
                 *([f"--features={features}"] if features else []),
                 "-o", folder / "tiny" / f"{name}-{slug(code)}.gist")


def work(model):
    """The work of one token: operations of the products in layers and in the head,
    bytes of weights, and operations of attention for each earlier token. Read from
    the header of a GGUF file."""
    file = open(model, "rb")

    def number(form):
        return struct.unpack("<" + form, file.read(struct.calcsize(form)))[0]

    def text():
        return file.read(number("Q")).decode(errors="replace")

    def value(kind):
        if kind == 8:
            return text()
        if kind == 9:
            kind, count = number("I"), number("Q")
            return [value(kind) for _ in range(count)]
        return number("BbHhIif?__Qqd"[kind])

    assert file.read(4) == b"GGUF"
    number("I")
    tensors, keys = number("Q"), number("Q")
    fields = {}
    for _ in range(keys):
        key = text()
        fields[key] = value(number("I"))
    sizes, offsets = {}, []
    for _ in range(tensors):
        name, shape = text(), [number("Q") for _ in range(number("I"))]
        number("I")
        offsets.append((number("Q"), name))
        sizes[name] = (len(shape), math.prod(shape))
    start = -(-file.tell() // 32) * 32
    offsets = sorted(offsets) + [(model.stat().st_size - start, None)]
    stored = {name: end - at for (at, name), (end, _) in zip(offsets, offsets[1:])}
    head = "output.weight" if "output.weight" in sizes else "token_embd.weight"
    layers = [name for name, (rank, _) in sizes.items()
              if rank == 2 and name not in ("output.weight", "token_embd.weight")]
    kind = fields["general.architecture"]
    return {"layer_operations": 2 * sum(sizes[name][1] for name in layers),
            "head_operations": 2 * sizes[head][1],
            "weight_bytes": sum(stored[name] for name in [*layers, head]),
            "attention_operations": 4 * fields[f"{kind}.embedding_length"]
            * fields[f"{kind}.block_count"]}


def pack(options):
    folder = options.output
    compiler, runner = (options.build / "bin" / name for name in ("gist-compile", "gist-run"))
    for file in __file__, results.__file__:
        shutil.copy(file, folder)
    shutil.copy(options.model, folder / "model.gguf")
    shutil.copy(Path(__file__).parents[1] / "LICENSE", folder / "text.txt")
    if options.gist_run:
        shutil.copy(options.gist_run, folder / "gist-run")
    context = ("--context", max(TEXT_TOKENS, 1024))
    for code, (name, features) in CODES.items():
        call(compiler, options.model, "-o", folder / f"{slug(code)}.gist", *context,
             f"--triple={TRIPLE}", f"--cpu={name}",
             *([f"--features={features}"] if features else []))
    call(compiler, options.model, "-o", folder / "f32.gist", *context, f"--triple={TRIPLE}",
         "--cpu=x86-64-v3", "--compute=f32")
    native = folder / "native.gist"
    call(compiler, options.model, "-o", native, *context)
    expected = {"perplexity": perplexity(runner, native, folder / "text.txt"),
                "said": [say(runner, native, prompt) for prompt in PROMPTS]}
    native.unlink()
    cases = pack_kernels(options, folder)
    pack_tiny(options, folder)
    shutil.copy(Path(__file__).with_name("roofline.cpp"), folder)
    (folder / "expected.json").write_text(json.dumps(
        {"model": expected, "kernels": cases, "attention": pack_attention(options, folder),
         "work": work(options.model), "commit": results.commit()}))


# ----------------------------------------------------------------------------
# Both
# ----------------------------------------------------------------------------


def perplexity(runner, module, text, *more):
    out = call(runner, "eval", module, "--trust", "--text", text, "--max-tokens", TEXT_TOKENS, "--json",
               *more)
    return json.loads(out)["windows"]["perplexity"]


def say(runner, module, prompt):
    return call(runner, "generate", module, "--trust", "-p", prompt, "-n", SAID, "--ignore-end",
                "--print-tokens").split()


# ----------------------------------------------------------------------------
# There
# ----------------------------------------------------------------------------


def allow_tiles():
    """Asks Linux for the state of AMX, for kernels that are called from here."""
    arch_prctl, request, tile_data = 158, 0x1023, 18
    ctypes.CDLL(None).syscall(arch_prctl, request, tile_data)


def check_kernels(folder, cases, code):
    """'N of M' cases of `code` are right."""
    import numpy as np

    allow_tiles()
    right = total = 0
    for case in cases:
        if case["code"] != code:
            continue
        library = ctypes.CDLL(str(folder / f"{case['file']}.so"))
        data = np.load(folder / f"{case['file']}.npz")
        library.matmul.argtypes = [ctypes.c_void_p] + [ctypes.c_int64] * 3
        for tokens, grid in case["grids"].items():
            rows = int(tokens)
            arrays = [np.ascontiguousarray(data[name]) for name in case["arrays"]]
            y = np.full(data["y"].shape, np.nan, np.float32)
            slots = [*(a.ctypes.data for a in (*arrays, y)), *[rows] * case["sizes"]]
            slots = (ctypes.c_uint64 * len(slots))(*slots)
            for i in range(grid[0]):
                for j in range(grid[1]):
                    library.matmul(slots, i, j, 0)
            close = np.abs(y[:rows] - data["y"][:rows]) <= 2e-5 * np.abs(data["y"]).max()
            total += 1
            right += bool(close.all() and np.isnan(y[rows:]).all())
    return f"{right} of {total}"


def check_attention(folder, cases):
    """'N of M' cases of attention by AMX are right."""
    import numpy as np

    allow_tiles()
    right = 0
    for case in cases:
        library = ctypes.CDLL(str(folder / f"{case['library']}.so"))
        library.attention.argtypes = [ctypes.c_void_p] + [ctypes.c_int64] * 3
        data = np.load(folder / f"{case['file']}.npz")
        arrays = [np.ascontiguousarray(data[name]) for name in "qkv"]
        y = np.full(data["y"].shape, np.nan, np.float16)
        memory = [np.zeros(size, np.uint8) for size in case["memory"]]
        slots = [*(a.ctypes.data for a in (*arrays, y, *memory)), *case["sizes"]]
        slots = (ctypes.c_uint64 * len(slots))(*slots)
        for task in itertools.product(*map(range, case["grid"])):
            library.attention(slots, *task)
        right += bool((np.abs(y - data["y"]) <= data["bound"]).all())
    return f"{right} of {len(cases)}"


def check_tiny(folder, runner, code):
    """'N of M' tiny models are right."""
    import numpy as np

    right = 0
    for name in TINY:
        data = np.load(folder / "tiny" / f"{name}.npz")
        np.save(folder / "tiny/tokens.npy", data["ids"].astype(np.int32))
        out = call(runner, "call", folder / "tiny" / f"{name}-{slug(code)}.gist", "score", "--trust",
                   "-i", f"tokens={folder / 'tiny/tokens.npy'}", "-o", folder / "tiny")
        found = np.load(out.strip().splitlines()[-1])
        right += bool(np.abs(found - data["result"]).max() <= 1e-4)
    return f"{right} of {len(TINY)}"


def build_runner(folder):
    if (folder / "gist-run").exists():
        return folder / "gist-run"
    call("cmake", "-S", folder / "source", "-B", folder / "build", "-DGIST_RUNTIME_ONLY=ON",
         "-DGIST_BUILD_TESTS=OFF", "-DCMAKE_BUILD_TYPE=Release")
    call("cmake", "--build", folder / "build", "--target", "gist-run", "-j", os.cpu_count())
    return folder / "build/bin/gist-run"


def rates(runner, module, threads):
    """Tokens per second of prefill and decode."""
    out = json.loads(call(runner, "bench", module, "--trust", "-t", threads, "-c", 1024, "-p", 512,
                          "-n", DECODED, "-r", 2, "--format", "json"))
    return [test["tokens_per_second"] for test in out["tests"]]


def peer_rates(program, model, threads):
    out = json.loads(call(program, "-m", model, "-t", threads, "-p", 512, "-n", DECODED,
                          "-r", 2, "-fa", 1, "-o", "json"))
    return [test["avg_ts"] for test in out]


RIGHT = {"code": None, "kernels right": None, "tiny models right": None, "perplexity": 4,
         "of f32": 4, "of Arm's": 4, "equal tokens": None}
SPEED = {"threads": None, "engine": None, "prefill 512, tokens/s": 0, "prefill, rounds": None,
         f"decode {DECODED}, tokens/s": 0, "decode, rounds": None,
         "times the best llama.cpp, prefill": 2, "times the best llama.cpp, decode": 2}


def run(options):
    folder = Path(__file__).parent
    expected = json.loads((folder / "expected.json").read_text())
    runner = build_runner(folder)
    cores = len(os.sched_getaffinity(0))
    f32 = perplexity(runner, folder / "f32.gist", folder / "text.txt")
    right = []
    for code in CODES:
        module = folder / f"{slug(code)}.gist"
        try:
            found = perplexity(runner, module, folder / "text.txt")
        except subprocess.CalledProcessError as error:
            print(f"{code} is not run: {error.stderr.strip().splitlines()[-1]}")
            continue
        try:
            kernels = check_kernels(folder, expected["kernels"], code)
            if code == "AMX" and "attention" in expected:
                kernels += ", attention " + check_attention(folder, expected["attention"])
            tiny = check_tiny(folder, runner, code)
        except ImportError:
            kernels = tiny = "no numpy"
        said = [say(runner, module, prompt) for prompt in PROMPTS]
        same = sum(a == b for ours, theirs in zip(said, expected["model"]["said"])
                   for a, b in zip(ours, theirs))
        right.append([code, kernels, tiny, found, found / f32,
                      found / expected["model"]["perplexity"], f"{same} of {SAID * len(PROMPTS)}"])
    print(results.markdown(RIGHT, right) + "\n", flush=True)
    about = {"machine": f"{results.machine()}, {cores} cores", "commit": expected["commit"]}
    results.write(folder / "right.json", RIGHT, right, **about)
    speed = measure([row[0] for row in right], cores, runner, folder)
    print(results.markdown(SPEED, speed) + "\n", flush=True)
    lines = roofline(cores, folder, expected["work"])
    results.write(folder / "result.json", SPEED, speed, roofline=lines, **about)


def find_peers(folder):
    """llama.cpp on the same file and, if llama-quantize is found, on the same
    weights in Q4_0, for which it has more kernels."""
    bench = os.environ.get("LLAMA_BENCH") or shutil.which("llama-bench")
    if not bench:
        print("\nllama.cpp is left out: llama-bench is not in PATH; LLAMA_BENCH may name it")
        return {}
    files = {"llama.cpp, the same file": folder / "model.gguf"}
    quantize = os.environ.get("LLAMA_QUANTIZE") or shutil.which("llama-quantize")
    if quantize:
        files["llama.cpp, requantised to Q4_0"] = folder / "q4_0.gguf"
        call(quantize, "--allow-requantize", *files.values(), "q4_0")
    return {name: lambda t, m=file: peer_rates(bench, m, t) for name, file in files.items()}


def measure(codes, cores, runner, folder):
    """Engines take turns. At the thread counts of COMPARED all engines run, in several
    rounds; at others the best code and llama.cpp on the same file run once."""
    peers = find_peers(folder)
    engines = {f"Gist, {code}": lambda t, m=folder / f"{slug(code)}.gist": rates(runner, m, t)
               for code in codes} | peers
    short = [f"Gist, {codes[-1]}", *list(peers)[:1]]
    table = []
    for threads in [t for t in THREADS if t <= cores]:
        is_compared = threads in COMPARED
        found = {}
        for _ in range(ROUNDS if is_compared else 1):
            for name in engines if is_compared else short:
                found.setdefault(name, []).append(engines[name](threads))
        middle = {name: [statistics.median(column) for column in zip(*rounds)]
                  for name, rounds in found.items()}
        best = [max((middle[name][i] for name in peers if name in middle), default=math.nan)
                for i in (0, 1)]
        for name, rounds in found.items():
            said = [", ".join(f"{rate:.0f}" for rate in column) if is_compared else None
                    for column in zip(*rounds)]
            ratios = [None if name in peers or math.isnan(peer) else ours / peer
                      for ours, peer in zip(middle[name], best)]
            table.append([threads, name, middle[name][0], said[0], middle[name][1], said[1],
                          *ratios])
    return table


def roofline(cores, folder, done):
    """Lines over threads: prefill of 512 tokens bounded by the peaks of products
    (vectors, tiles) and of attention in f32, and decode by reading weights."""
    program = folder / "gist-roofline"
    call(os.environ.get("CXX", "c++"), "-std=c++20", "-O2", "-march=native", "-pthread",
         folder / "roofline.cpp", "-o", program)
    lines, table = {}, []
    for threads in [t for t in THREADS if t <= cores]:
        # Weights that a cache holds are read from there, token after token.
        peaks = json.loads(call(program, "--threads", threads, "--bytes", done["weight_bytes"]))
        attention = done["attention_operations"] * 512 * 513 / 2 / peaks["f32"]["per_second"]
        products = 512 * done["layer_operations"] + done["head_operations"]
        for label, key in [("vectors", "int8"), ("tiles", "tiles")]:
            if key in peaks:
                bound = 512 / (products / peaks[key]["per_second"] + attention)
                lines.setdefault(("prefill", label), []).append((threads, round(bound)))
        lines.setdefault(("decode", "reading weights"), []).append(
            (threads, round(peaks["read_bytes_per_second"] / done["weight_bytes"])))
        table.append([threads, *(peaks[key]["per_second"] / 1e9 if key in peaks else None
                                 for key in ("f32", "int8", "tiles")),
                      peaks["read_bytes_per_second"] / 1e9])
    print(results.markdown({"threads": None, "f32, GOP/s": 0, "8 bits by vectors": 0, "by tiles": 0,
                            "reading weights, GB/s": 0}, table))
    return [{"kind": kind, "label": label, "points": points}
            for (kind, label), points in lines.items()]


# ----------------------------------------------------------------------------
# The drawing
# ----------------------------------------------------------------------------

COLOURS = ["#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#97632b"]


def plot(options):
    """Tokens per second over threads, both axes logarithmic; dashed lines are what
    the machine's peaks allow."""
    from math import log2

    result = json.loads(options.result.read_text())
    rates = [{"threads": row[0], "engine": row[1], "prefill": row[2], "decode": row[4]}
             for row in result["rows"]]
    names = list(dict.fromkeys(row["engine"] for row in rates))
    width, height, left, bottom, top = 420, 300, 56, 260, 30
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * width} {height}" '
           'font-family="sans-serif" font-size="11">']
    for panel, kind in enumerate(("prefill", "decode")):
        x0, labels = panel * width, []
        limits = [limit for limit in result.get("roofline", []) if limit["kind"] == kind]
        values = [row[kind] for row in rates]
        values += [rate for limit in limits for _, rate in limit["points"]]
        most = max(row["threads"] for row in rates)
        low, high = log2(min(values)) // 1, log2(max(values)) // 1 + 1

        def place(threads, rate):
            x = x0 + left + log2(threads) / max(1, log2(most)) * (width - left - 90)
            return x, bottom - (log2(rate) - low) / (high - low) * (bottom - top)

        out.append(f'<text x="{x0 + left}" y="18">{kind}, tokens/s over threads</text>')
        for power in range(int(low), int(high) + 1):
            y = place(1, 2 ** power)[1]
            out.append(f'<path d="M{x0 + left},{y:.0f}H{x0 + width - 90}" stroke="#ddd"/>'
                       f'<text x="{x0 + left - 6}" y="{y + 4:.0f}" text-anchor="end">{2 ** power}</text>')
        for threads in [t for t in THREADS if t <= most]:
            x = place(threads, 2 ** low)[0]
            out.append(f'<text x="{x:.0f}" y="{bottom + 16}" text-anchor="middle">{threads}</text>')
        for limit in limits:
            places = [place(*point) for point in limit["points"]]
            line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
            out.append(f'<polyline points="{line}" fill="none" stroke="#999" '
                       f'stroke-dasharray="4 3"/>')
            labels.append((*places[-1], "#777", limit["label"]))
        for colour, name in zip(COLOURS, names):
            rows = [row for row in rates if row["engine"] == name]
            places = [place(row["threads"], row[kind]) for row in rows]
            line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
            out.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
            short = name.removeprefix("Gist, ").removesuffix(", the same file")
            labels.append((*places[-1], colour, short.replace("requantised to ", "")))
        below = {}
        for x, y, colour, label in sorted(labels, key=lambda label: label[1]):
            # Ends of lines may be close to one another; words must not.
            y = below[round(x)] = max(y, below.get(round(x), 0) + 12)
            out.append(f'<text x="{x + 5:.0f}" y="{y + 4:.0f}" fill="{colour}">{label}</text>')
    options.output.write_text("\n".join(out) + "\n</svg>\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    packing = commands.add_parser("pack")
    packing.add_argument("--build", required=True, type=Path)
    packing.add_argument("--model", required=True, type=Path)
    packing.add_argument("--gist-run", type=Path, help="of this machine's other architecture")
    packing.add_argument("--output", required=True, type=Path)
    commands.add_parser("run")
    drawing = commands.add_parser("plot")
    drawing.add_argument("result", type=Path)
    drawing.add_argument("-o", "--output", required=True, type=Path)
    options = parser.parse_args()
    try:
        {"pack": pack, "run": run, "plot": plot}[options.command](options)
    except subprocess.CalledProcessError as error:
        sys.exit(f"{' '.join(error.cmd)} failed:\n{error.stderr}")


if __name__ == "__main__":
    main()
