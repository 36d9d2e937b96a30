# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules on several ranks: threads of one process, or processes of mpirun."""

import os
import pathlib
import shutil
import subprocess

MODELS = pathlib.Path(__file__).parent.parent / "models"
DECODERS = ["llama", "llama3", "gpt2", "gptj", "mistral", "opt", "opt-post", "qwen2",
            "qwen2-window", "gemma3", "qwen3", "phi3", "gpt-neox", "olmo2", "mixtral",
            "qwen2-moe", "qwen3-moe", "llama-q4_1.gguf", "qwen2-q4_0.gguf",
            "gemma3-q5_0.gguf", "mixtral-q4_1.gguf"]
PROMPT = [5, 17, 2, 40, 9, 33, 21, 8, 3, 50, 12]


def compile_model(model, folder, parts, *options, split="ranks"):
    module = folder / f"{split}{parts}.gist"
    subprocess.run(["gist-compile", model, "-o", module, f"--{split}={parts}",
                    "--progress=off", *options], check=True)
    return module


def mpirun(ranks, *command):
    """The command as `ranks` processes, however few cores there are."""
    # Tests may run as root in a container, which mpirun asks about twice.
    return [shutil.which("mpirun"), "-n", str(ranks), "--oversubscribe",
            "--allow-run-as-root", *map(str, command)]


def environment():
    return os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1",
                         "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def greedy(module, count, processes=0, device="cpu", prompt=PROMPT):
    """Greedy tokens after a prompt, each with a hash of the logits; on threads, or
    on so many processes."""
    command = ["gist-rank-test", module, device, count, *prompt]
    if processes:
        command = mpirun(processes, *command)
    result = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE,
                            env=environment(), check=True, text=True, timeout=120)
    return [tuple(line.split()) for line in result.stdout.splitlines()]


def tokens_of(lines):
    return [token for token, _ in lines]
