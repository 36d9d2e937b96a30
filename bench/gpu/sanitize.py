#!/usr/bin/env python3
# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs every kind of kernel under NVIDIA's compute-sanitizer.

Most modules are the tests' small models: without a plan, with a plan of KV heads,
of selections and of gates; and one with heads of 128, without a plan and with one.
`gist-run selftest` compares each with the CPU while a tool watches, with one token,
a few and many, which have kernels of their own. More:

  long-*    small models whose selections have 2,100 tokens, more than are decided
            at once: workgroups have several tiles. Selections alone are watched.
  deep      two layers of SmolLM2's shape, one token after 5,000: several clusters
            share the keys of a head. Attention alone is watched.
  rounds-*  one selection or cascade each among rows of 16 bits: a tile begins while
            the one before is reduced, and some are shared. Every decision is
            checked, which takes PyTorch.

Compiling needs the compiler, running needs a GPU; the two need not be the same
machine:

  sanitize.py compile --gist-compile build/release/bin/gist-compile -o tiny
  sanitize.py run tiny --gist-run build/runtime-only/bin/gist-run --jobs 8
"""

import argparse
import contextlib
import copy
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import cases
import gpu_kernels

HERE = pathlib.Path(__file__).parent
MODELS = HERE.parent.parent / "test" / "models"
TOOLS = ("memcheck", "synccheck", "racecheck")
# What the tools print if they find nothing.
CLEAN = r"ERROR SUMMARY: 0 errors|RACECHECK SUMMARY: 0 hazards"
# Eight heads of size 128, for which attention uses other tiles.
WIDE = HERE / "heads-of-128" / "config.json"
WIDE_HEADS = [{"window": 16, "theta": 0.5, "room": 0.25}, {"window": 8, "sinks": 2}, "dense",
              {"window": 0, "theta": 0.8, "room": 0.1}] * 2
# More than 2,048, and 17 tiles of 128: 153 pairs of them for 132 workgroups.
LONG, LONG_CONTEXT, LONG_TAU = 2100, 2304, 0.3
# Rows of 16 bits, and so many steps that the tiles of the last wave are shared.
ROUNDS = {
    "rounds-all": cases.select(LONG, 1000, "all", 0, 0),
    "rounds-kept": cases.select(LONG, 1000, "kept", 0, 0),
    # A cascade compares each token with a quarter of the tokens.
    "rounds-cascade": cases.cascade(4300, 1000),
}


@dataclass
class Watch:
    """How a module is run; the defaults are right for most modules."""
    tokens: str = "1,16,33"  # sizes of calls, as selftest takes them
    past: int = 0  # tokens before them
    kernels: tuple = ()  # substrings of the names of watched kernels; empty: all


LONG_NAMES = ("means", "copies", "encoder")
WATCHES = {f"long-{name}": Watch(tokens=str(LONG), kernels=("gram_select", "cascade_update"))
           for name in LONG_NAMES}
WATCHES["deep"] = Watch(tokens="1", past=5000, kernels=("attention",))


def lengthen(name, folder):
    """A model of the tests with positions for long calls."""
    import numpy as np
    from safetensors.numpy import load_file, save_file
    model = folder / f"long-{name}"
    model.mkdir(exist_ok=True)
    config = json.loads((MODELS / name / "config.json").read_text())
    weights = load_file(MODELS / name / "model.safetensors")
    for key, rows in weights.items():
        if "position_embeddings" in key:
            drawn = np.random.default_rng(1).standard_normal((LONG_CONTEXT, rows.shape[1]))
            weights[key] = (drawn * rows.std()).astype(rows.dtype)
    save_file(weights, model / "model.safetensors")
    (model / "config.json").write_text(json.dumps(config | {"max_position_embeddings": LONG_CONTEXT}))
    return model


def merge_less(plan):
    """Lowers tau: with many tokens, many would be near a larger threshold, where rounding
    decides."""
    less = lambda tau: min(tau, LONG_TAU)
    for layer in plan["layers"]:
        said = layer["selection"]
        said["tau"] = [less(tau) for tau in said["tau"]] if isinstance(said["tau"], list) else less(said["tau"])
    return plan


def shallow(folder):
    """SmolLM2's shape with two layers and few words."""
    config = json.loads((HERE / "smollm2-135m" / "config.json").read_text())
    path = folder / "two-layers" / "config.json"
    path.parent.mkdir()
    path.write_text(json.dumps(config | {"num_hidden_layers": 2, "vocab_size": 512}))
    return path


def models(folder):
    """{name: (what gist-compile takes, a plan or None)}"""
    plans = json.loads((MODELS / "plans.json").read_text())
    every = {name: ([MODELS / said["model"]], said["plan"]) for name, said in plans.items()}
    for name in LONG_NAMES:
        plan = merge_less(copy.deepcopy(plans[name]["plan"]))
        every[f"long-{name}"] = ([lengthen(plans[name]["model"], folder)], plan)
    wide = [WIDE, "--random-weights", "--context=1024"]
    plan = {"gist_plan": 1, "block": 16, "layers": [{"heads": WIDE_HEADS}] * 2}
    return {"dense": ([MODELS / "llama"], None), **every, "wide": (wide, None), "wide-heads": (wide, plan),
            "deep": ([shallow(folder), "--random-weights"], None)}


def write_bases(folder):
    """Orthonormal rows for the gates of the small Llama model."""
    import numpy as np
    from safetensors.numpy import save_file
    rng = np.random.default_rng(1)
    groups = {"0.qkv": (16, 32), "0.down": (48, 96), "1.gate_up": (16, 32), "1.o": (16, 32)}
    save_file({f"{group}.basis": np.linalg.qr(rng.standard_normal((size, k)))[0].T
               .astype(np.float32).copy() for group, (k, size) in groups.items()},
              folder / "bases.safetensors")


def compile_one(arguments, name, options):
    command = [arguments.gist_compile, *options, "--progress=off", "-o",
               pathlib.Path(arguments.output, f"{name}.gist")]
    done = subprocess.run(command, capture_output=True, text=True)
    print(f"{name}: {'ok' if done.returncode == 0 else done.stderr.strip()[:400]}", flush=True)
    return done.returncode == 0


def compile_all(arguments):
    pathlib.Path(arguments.output).mkdir(parents=True, exist_ok=True)
    is_chosen = lambda name: not arguments.modules or name in arguments.modules
    good = True
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_bases(folder)
        for kind, (model, said) in models(folder).items():
            options = [*model, "--target=sm_90", "--target=cpu", f"--triple={arguments.triple}"]
            if said:
                plan = folder / f"{kind}.json"
                plan.write_text(json.dumps(said))
                options += ["--plan", plan]
            good &= not is_chosen(kind) or compile_one(arguments, kind, options)
        for kind, case in ROUNDS.items():
            graph = folder / f"{kind}.mlir"
            graph.write_text(case.graph)
            options = [graph, "--target=sm_90", f"--context={case.tokens}"]
            good &= not is_chosen(kind) or compile_one(arguments, kind, options)
    return 0 if good else 1


started = set()  # Processes that are still running.


def run_limited(command, limit):
    """A program's output and exit code. A timeout kills its process group."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               start_new_session=True)
    started.add(process)
    try:
        said, complaints = process.communicate(timeout=limit)
        return said, complaints, process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise
    finally:
        started.discard(process)


def end_all(number, _):
    for process in list(started):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    os._exit(128 + number)


def filter_options(arguments, module, parts):
    """Options with which the tool watches only kernels with one of `parts` in their names."""
    if not parts:
        return []
    listed = subprocess.run([arguments.gist_run, "info", module, "--disassemble"], capture_output=True,
                            text=True).stdout
    names = re.findall(r"@sm_90: (\S+)", listed)
    # A tool that watches no kernel reports no errors.
    if not any(part in name for part in parts for name in names):
        raise RuntimeError(f"no kernel of {module} has {' or '.join(parts)} in its name")
    known = subprocess.run([arguments.sanitizer, "--help"], capture_output=True, text=True).stdout
    # Older versions have another name for the option.
    option = "--kernel-name" if "--kernel-name" in known else "--kernel-regex"
    return [word for part in parts for word in (option, f"kns={part}")]


def watch_model(arguments, prefix, module, how):
    """What gist-run and the tool said, and whether all was right."""
    command = [*prefix, *filter_options(arguments, module, how.kernels), arguments.gist_run, "selftest",
               module, "--trust", "--device", "cuda", "-t", str(arguments.threads), "--tokens",
               arguments.tokens or how.tokens]
    if how.past:
        command += ["--past", str(how.past)]
    said, complaints, code = run_limited(command, arguments.limit)
    return said + complaints, code == 0


def watch_case(arguments, prefix, module, case):
    """The same for one kernel."""
    import torch
    with tempfile.TemporaryDirectory() as folder:
        with gpu_kernels.torch_lock:
            inputs = gpu_kernels.make_inputs(torch, case)
            options = gpu_kernels.write_inputs(inputs, folder)
        command = gpu_kernels.call_command(arguments.gist_run, module, case, "cuda", folder)
        said, complaints, code = run_limited([*prefix, *command, *options], arguments.limit)
        if code != 0:
            return said + complaints, False
        with gpu_kernels.torch_lock:
            error, tolerance = case.check(torch, inputs, gpu_kernels.read_outputs(said))
        return f"{said}{complaints}\n{error:g} decisions are wrong", error <= tolerance


def watch(arguments, name, tool):
    """A line for the table, what was said if not all is well, and whether it is."""
    module = pathlib.Path(arguments.folder, f"{name}.gist")
    prefix = [arguments.sanitizer, "--tool", tool]
    start = time.monotonic()
    try:
        said, is_right = (watch_case(arguments, prefix, module, ROUNDS[name]) if name in ROUNDS else
                          watch_model(arguments, prefix, module, WATCHES.get(name, Watch())))
        # It goes on where it has no memory to watch a launch.
        is_clean = re.search(CLEAN, said) and "Internal Sanitizer Error" not in said
        word = "clean" if is_clean else "FOUND"
        if word == "clean" and not is_right:
            word = "WRONG"  # what was computed
        text = "\n".join(said.strip().splitlines()[-12:])
    except subprocess.TimeoutExpired:
        word, text = "not over", ""
    except Exception as error:  # One module's failure must not hide the others.
        word, text = "FAILED", str(error)
    line = f"{name:16} {tool:10} {word:10} {time.monotonic() - start:6.1f} s"
    return line, "" if word == "clean" else text, word == "clean"


def run_all(arguments):
    signal.signal(signal.SIGTERM, end_all)
    folder = pathlib.Path(arguments.folder)
    names = arguments.modules or sorted(module.stem for module in folder.glob("*.gist"))
    pairs = [(name, tool) for tool in arguments.tools for name in names]
    good = True
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for done in as_completed(pool.submit(watch, arguments, *pair) for pair in pairs):
            line, text, is_good = done.result()
            good &= is_good
            print("\n".join(filter(None, (line, text))), flush=True)
    return 0 if good else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    compiling = commands.add_parser("compile")
    compiling.add_argument("--gist-compile", default="gist-compile")
    compiling.add_argument("--triple", default="x86_64-unknown-linux-gnu", help="of the machine with the GPU")
    compiling.add_argument("-o", "--output", default="tiny")
    compiling.add_argument("--modules", type=lambda text: text.split(","), help="these alone")
    compiling.set_defaults(function=compile_all)
    running = commands.add_parser("run")
    running.add_argument("folder")
    running.add_argument("--gist-run", default="gist-run")
    running.add_argument("--sanitizer", default="compute-sanitizer")
    running.add_argument("--tools", type=lambda text: text.split(","), default=TOOLS)
    running.add_argument("--modules", type=lambda text: text.split(","), help="these alone, in this order")
    running.add_argument("--tokens", help="sizes of calls, as selftest takes them, instead of a module's own")
    running.add_argument("--jobs", type=int, default=1, help="runs side by side")
    running.add_argument("--threads", type=int, default=2, help="of the CPU that each run compares with")
    running.add_argument("--limit", type=float, default=60, help="seconds for each module and tool")
    running.set_defaults(function=run_all)
    arguments = parser.parse_args()
    return arguments.function(arguments)


if __name__ == "__main__":
    sys.exit(main())
