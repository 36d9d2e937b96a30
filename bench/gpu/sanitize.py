#!/usr/bin/env python3
# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs every kind of kernel of whole models under NVIDIA's compute-sanitizer.

The models are the tests' small ones: without a plan, with a plan of KV heads, of
selections and of gates; and one with heads of 128, without a plan and with one.
`gist-run selftest` compares each with the CPU while a tool watches, with one token,
a few and many, which have kernels of their own. Compiling needs the compiler, running needs a GPU; the two need not
be the same machine:

  sanitize.py compile --gist-compile build/release/bin/gist-compile -o tiny
  sanitize.py run tiny --gist-run build/runtime-only/bin/gist-run
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

MODELS = pathlib.Path(__file__).parent.parent.parent / "test" / "models"
TOOLS = ("memcheck", "synccheck", "racecheck")
# What each says where it has found nothing.
CLEAN = r"ERROR SUMMARY: 0 errors|RACECHECK SUMMARY: 0 hazards"
# Heads of 128, eight of them, which attention treats in other tiles.
WIDE = pathlib.Path(__file__).parent / "heads-of-128" / "config.json"
WIDE_HEADS = [{"window": 16, "theta": 0.5, "room": 0.25}, {"window": 8, "sinks": 2}, "dense",
              {"window": 0, "theta": 0.8, "room": 0.1}] * 2


def modules():
    """{name: (what gist-compile takes, a plan or None)}"""
    plans = json.loads((MODELS / "plans.json").read_text())
    every = {name: ([MODELS / said["model"]], said["plan"]) for name, said in plans.items()}
    wide = [WIDE, "--random-weights", "--context=1024"]
    plan = {"gist_plan": 1, "block": 16, "layers": [{"heads": WIDE_HEADS}] * 2}
    return {"dense": ([MODELS / "llama"], None), **every, "wide": (wide, None), "wide-heads": (wide, plan)}


def write_bases(folder):
    """Orthonormal rows for the gates of the small Llama model."""
    import numpy as np
    from safetensors.numpy import save_file
    rng = np.random.default_rng(1)
    groups = {"0.qkv": (16, 32), "0.down": (48, 96), "1.gate_up": (16, 32), "1.o": (16, 32)}
    save_file({f"{group}.basis": np.linalg.qr(rng.standard_normal((size, k)))[0].T
               .astype(np.float32).copy() for group, (k, size) in groups.items()},
              folder / "bases.safetensors")


def compile_all(arguments):
    output = pathlib.Path(arguments.output)
    output.mkdir(parents=True, exist_ok=True)
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_bases(folder)
        for kind, (model, said) in modules().items():
            command = [arguments.gist_compile, *model, "--target=sm_90", "--target=cpu",
                       f"--triple={arguments.triple}", "--progress=off", "-o", output / f"{kind}.gist"]
            if said:
                plan = folder / f"{kind}.json"
                plan.write_text(json.dumps(said))
                command += ["--plan", plan]
            done = subprocess.run(command, capture_output=True, text=True)
            failed += done.returncode != 0
            print(f"{kind}: {'ok' if done.returncode == 0 else done.stderr.strip()[:400]}")
    return 1 if failed else 0


def watch(arguments, tool, module):
    """One word, and what the tool said where it is not "clean"."""
    command = [arguments.sanitizer, "--tool", tool, arguments.gist_run, "selftest", module, "--trust",
               "--device", "cuda", "--tokens", arguments.tokens]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=arguments.limit)
    except subprocess.TimeoutExpired:
        return "not over", f"after {arguments.limit} s"
    said = done.stdout + done.stderr
    if done.returncode == 0 and re.search(CLEAN, said):
        return "clean", ""
    return "FOUND", "\n".join(said.strip().splitlines()[-12:])


def run_all(arguments):
    found = 0
    print(f"{'module':10}" + "".join(f" {tool:>12}" for tool in arguments.tools))
    folder = pathlib.Path(arguments.folder)
    names = arguments.modules or sorted(module.stem for module in folder.glob("*.gist"))
    for module in (folder / f"{name}.gist" for name in names):
        words, texts = zip(*(watch(arguments, tool, module) for tool in arguments.tools))
        found += "FOUND" in words
        print(f"{module.stem:10}" + "".join(f" {word:>12}" for word in words), flush=True)
        for text in filter(None, texts):
            print(text, flush=True)
    return 1 if found else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    compiling = commands.add_parser("compile")
    compiling.add_argument("--gist-compile", default="gist-compile")
    compiling.add_argument("--triple", default="x86_64-unknown-linux-gnu", help="of the machine with the GPU")
    compiling.add_argument("-o", "--output", default="tiny")
    compiling.set_defaults(function=compile_all)
    running = commands.add_parser("run")
    running.add_argument("folder")
    running.add_argument("--gist-run", default="gist-run")
    running.add_argument("--sanitizer", default="compute-sanitizer")
    running.add_argument("--tools", type=lambda text: text.split(","), default=TOOLS)
    running.add_argument("--modules", type=lambda text: text.split(","), help="these alone, in this order")
    running.add_argument("--tokens", default="1,16,33", help="sizes of calls, as selftest takes them")
    running.add_argument("--limit", type=float, default=60, help="seconds for each module and tool")
    running.set_defaults(function=run_all)
    arguments = parser.parse_args()
    return arguments.function(arguments)


if __name__ == "__main__":
    sys.exit(main())
