#!/usr/bin/env python3
# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a program that gist-compile made for IREE, with IREE's own runtime.

    generate.py MODEL.vmfb --parameters MODEL.irpa --tokens 504,3681,253 -n 32

Prints the most likely tokens after the given ones. Needs the packages
iree-base-runtime and numpy, and nothing of Gist.
"""

import argparse

import iree.runtime as rt
import numpy as np


class Program:
    """A decoder. The keys and values of past tokens stay inside of it."""

    def __init__(self, vmfb, parameters, device="local-task"):
        config = rt.Config(device)
        index = rt.ParameterIndex()
        index.load(str(parameters))
        modules = rt.load_vm_modules(
            rt.create_io_parameters_module(
                config.vm_instance, index.create_provider(scope="model")),
            rt.create_hal_module(config.vm_instance, config.device),
            rt.VmModule.mmap(config.vm_instance, str(vmfb)),
            config=config)
        self.module = modules[-1]
        self.past = 0

    def reset(self):
        """Begins a new text. Old rows of the cache are never read again."""
        self.past = 0
        if "reset" in self.module.vm_module.function_names:
            self.module.reset()

    def prefill(self, tokens, block=None):
        """Takes tokens and returns the logits after the last one. A program
        with a plan takes at most `block` at a time."""
        logits = None
        for begin in range(0, len(tokens), block or len(tokens)):
            part = tokens[begin:begin + (block or len(tokens))]
            logits = self.module.prefill(np.array(part, np.int32), self.past)
            self.past += len(part)
        return logits.to_host()[-1]

    def decode(self, token):
        """The same for one token."""
        logits = self.module.decode(np.array([token], np.int32), self.past)
        self.past += 1
        return logits.to_host()[-1]

    def generate(self, tokens, count, block=None):
        """The `count` most likely tokens, one after the other."""
        logits = self.prefill(tokens, block)
        for number in range(count):
            token = int(np.argmax(logits))
            yield token
            if number + 1 < count:
                logits = self.decode(token)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("vmfb")
    parser.add_argument("--parameters", required=True, help="the .irpa file")
    parser.add_argument("--tokens", required=True,
                        help="ids of the text to go on from, with commas")
    parser.add_argument("-n", type=int, default=32, help="tokens to add")
    parser.add_argument("--block", type=int,
                        help="tokens of a call at most, for plans: 128")
    parser.add_argument("--device", default="local-task")
    args = parser.parse_args()
    program = Program(args.vmfb, args.parameters, args.device)
    tokens = [int(token) for token in args.tokens.split(",")]
    for token in program.generate(tokens, args.n, args.block):
        print(token, flush=True)


if __name__ == "__main__":
    main()
