#!/usr/bin/env python3
# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times each kernel on a GPU beside PyTorch in one run, after checking it.

Compiling needs the compiler, running needs a GPU, PyTorch and gist-run; the two
need not be the same machine:

  gpu_kernels.py compile --gist-compile build/release/bin/gist-compile -o kernels
  gpu_kernels.py run kernels --gist-run build/runtime-only/bin/gist-run --json table.json

With --checks both take checks.py's cases instead, which are checked alone: odd
shapes, f16 and bf16, inputs that are hard to get right. Nothing is timed then, so
that --jobs may let several run side by side.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor

sys.path[:0] = [str(pathlib.Path(__file__).parent), str(pathlib.Path(__file__).parents[1])]
import cases
import checks
import results


def file_name(case):
    return re.sub(r"[^a-z0-9.]+", "-", case.name.lower()) + ".gist"


def chosen(arguments):
    source = checks if arguments.checks else cases
    return [c for c in source.all_cases()
            if not arguments.only or re.search(arguments.only, c.name)]


def compile_all(arguments):
    folder = pathlib.Path(arguments.output)
    folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for case in chosen(arguments):
        graph = folder / (file_name(case)[:-5] + ".mlir")
        graph.write_text(case.graph)
        done = subprocess.run(
            [arguments.gist_compile, graph, f"--target={arguments.target}", "--context",
             str(case.tokens), "--progress=off", "-o", folder / file_name(case)],
            capture_output=True, text=True)
        failed += done.returncode != 0
        print(f"{case.name}: {'ok' if done.returncode == 0 else done.stderr.strip()[:400]}")
    return 1 if failed else 0


def write_inputs(inputs, folder):
    """Writes the inputs; returns the options of gist-run call that name the files."""
    import numpy as np
    import torch
    options = []
    for name, tensor in inputs.items():
        path = pathlib.Path(folder, name + ".in.npy")
        if tensor.dtype == torch.bfloat16:  # NumPy has no bf16, so its bits are saved.
            np.save(path, tensor.view(torch.int16).cpu().numpy().view(np.uint16))
        elif tensor.dtype == torch.float8_e4m3fn:  # Nor floats of 8 bits.
            np.save(path, tensor.view(torch.uint8).cpu().numpy())
        else:
            np.save(path, tensor.cpu().numpy())
        options += ["-i", f"{name}={path}"]
    return options


def read_outputs(said):
    """The outputs whose paths gist-run call printed."""
    import numpy as np
    import torch
    outputs = {}
    for line in said.splitlines():
        if line.endswith(".npy"):
            name = pathlib.Path(line).stem.removeprefix("run.")
            array = np.load(line)
            outputs[name] = (torch.from_numpy(array.view(np.int16)).cuda().view(torch.bfloat16)
                             if array.dtype == np.uint16 else torch.from_numpy(array).cuda())
    return outputs


def call_command(gist_run, module, case, device, folder):
    return [gist_run, "call", module, "run", "--trust", "--device", device, "-s", f"T={case.tokens}",
            "-o", folder]


def run_ours(arguments, case, module, options, folder):
    """What gist-run printed."""
    command = call_command(arguments.gist_run, module, case, arguments.device, folder) + options
    if not arguments.checks:
        command += ["--repeat", str(arguments.repeat)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    return done.stdout


def time_peer(torch, function, repeat):
    """Median microseconds of a call inside a CUDA graph of ten."""
    for _ in range(3):
        function()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(10):
            function()
    times = []
    for _ in range(repeat):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 100)
    return sorted(times)[len(times) // 2]


# Guards the use of PyTorch; never held while gist-run runs.
torch_lock = threading.Lock()


def make_inputs(torch, case):
    return case.inputs(torch, torch.Generator(device="cuda").manual_seed(7))


def measure(arguments, case, module):
    import torch
    row = {"case": case.name, "peer": case.peer_name, "bar": case.bar, "goal": case.goal}
    with tempfile.TemporaryDirectory() as folder:
        with torch_lock:
            inputs = make_inputs(torch, case)
            options = write_inputs(inputs, folder)
        said = run_ours(arguments, case, module, options, folder)
        with torch_lock:
            error, tolerance = case.check(torch, inputs, read_outputs(said))
    row |= {"error": error, "tolerance": tolerance, "right": error <= tolerance}
    if arguments.checks:
        return row
    ours = float(re.search(r"median ([0-9.]+) us", said).group(1))
    peer = time_peer(torch, case.peer(torch, inputs), arguments.repeat)
    return row | {"us": ours, "peer_us": peer, "ratio": ours / peer,
                  "tflops": case.flops / ours / 1e6}


def try_case(arguments, case, module):
    """One kernel's failure must not hide the others."""
    try:
        return measure(arguments, case, module)
    except Exception as error:
        return {"case": case.name,
                "failed": str(error).splitlines()[-1] if str(error) else type(error).__name__}


def print_row(row):
    if "failed" in row:
        print(f"{row['case']:52} {row['failed'][:110]}", flush=True)
        return
    if "us" not in row:
        print(f"{row['case']:76} {row['error']:.1e} of {row['tolerance']:.1e}"
              f" {'ok' if row['right'] else 'WRONG'}", flush=True)
        return
    bar = f"{row['bar']:.2f}" if row["bar"] else "-"
    print(f"{row['case']:52} {row['us']:10.1f} {row['peer_us']:10.1f} {row['ratio']:7.2f} {bar:>6}"
          f" {row['tflops']:8.1f}  {row['error']:.1e} {'ok' if row['right'] else 'WRONG'}",
          flush=True)


def write_json(path, rows):
    import torch
    columns = {"kernel": None, "case": None, "Gist, us": 1, "peer": None, "peer, us": 1, "ratio": 2,
               "error": None, "limit": None}
    split = lambda name: re.fullmatch(r"(\w+),? (.*)", name).groups()
    results.write(path, columns,
                  [[*split(row["case"]), *(row.get(key) for key in
                    ("us", "peer", "peer_us", "ratio", "error", "tolerance"))]
                   for row in rows if "failed" not in row],
                  machine=f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}",
                  failed=[row for row in rows if "failed" in row])


def run_all(arguments):
    import torch
    rows = []
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, CUDA {torch.version.cuda}")
    if not arguments.checks:
        print(f"{'case':52} {'gist us':>10} {'peer us':>10} {'ratio':>7} {'bar':>6} {'TFLOP/s':>8}  error")
    modules = [(case, pathlib.Path(arguments.folder, file_name(case))) for case in chosen(arguments)]
    there = [(case, module) for case, module in modules if module.exists()]
    with ThreadPoolExecutor(arguments.jobs) as pool:
        # What is timed runs alone.
        for row in (pool.map if arguments.checks else map)(lambda pair: try_case(arguments, *pair), there):
            rows.append(row)
            print_row(row)
            torch.cuda.empty_cache()
    print(f"{sum(r.get('right', False) for r in rows)} of {len(rows)} cases are right;"
          f" {len(modules) - len(there)} were not compiled", flush=True)
    if arguments.json:
        write_json(arguments.json, rows)
    return 1 if any("failed" in r or not r["right"] for r in rows) else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    compiling = commands.add_parser("compile")
    compiling.add_argument("--gist-compile", default="gist-compile")
    compiling.add_argument("--target", default="sm_90")
    compiling.add_argument("-o", "--output", default="kernels")
    compiling.set_defaults(function=compile_all)
    running = commands.add_parser("run")
    running.add_argument("folder")
    running.add_argument("--gist-run", default="gist-run")
    running.add_argument("--device", default="cuda")
    running.add_argument("--repeat", type=int, default=30)
    running.add_argument("--jobs", type=int, default=1, help="checks that run side by side")
    running.add_argument("--json")
    running.set_defaults(function=run_all)
    for sub in (compiling, running):
        sub.add_argument("--only", help="cases whose name has this regular expression")
        sub.add_argument("--checks", action="store_true", help="cases that are checked alone")
    arguments = parser.parse_args()
    return arguments.function(arguments)


if __name__ == "__main__":
    sys.exit(main())
