# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of functions in processes of their own, which leave nothing behind.

A benchmark starts other programs, and PyTorch compiles in processes that outlive
a call. When a call is over, or when the benchmark itself is ended by SIGTERM or
Ctrl-C, all of them end.
"""

import contextlib
import multiprocessing
import os
import signal
import sys


def _answer(pipe, function, arguments):
    # What this process starts is in its group, and ends with it.
    os.setsid()
    pipe.send(None)
    pipe.send(function(*arguments))


@contextlib.contextmanager
def _exit_on_sigterm():
    """SIGTERM unwinds the stack as Ctrl-C does, so that `finally` is run."""
    before = signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def call(function, *arguments):
    """What function(*arguments) returns in a new process."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_answer, args=(theirs, function, arguments))
    has_group = False
    with _exit_on_sigterm():
        process.start()
        theirs.close()
        try:
            ours.recv()
            has_group = True
            return ours.recv()
        except EOFError:
            process.join()
            raise RuntimeError(f"the process of {function.__name__}() ended with exit code "
                               f"{process.exitcode} and no result") from None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL) if has_group else process.kill()
            process.join()
