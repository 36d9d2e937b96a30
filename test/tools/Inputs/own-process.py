"""Calls a function in a process of its own (bench/gpu/own_process.py): its result
comes back, and whatever it has started is over when the call is, however it ends.
Argument: a file to write process ids to; with "wait", the function never returns."""

import os
import pathlib
import signal
import subprocess
import sys
import time

BENCH = pathlib.Path(__file__).parent.parent.parent.parent / "bench" / "gpu"
sys.path.insert(0, str(BENCH))
import own_process


def start(path, waits):
    """Leaves a program behind, without waiting for it."""
    left = subprocess.Popen(["sleep", "600"])
    pathlib.Path(path + ".part").write_text(f"{os.getpid()} {left.pid}")
    os.rename(path + ".part", path)
    while waits:
        time.sleep(60)
    return left.pid


def fail():
    os._exit(3)


def is_over(pid):
    """Gone, or a zombie that its new parent has not waited for yet."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


def expect_over(path):
    for pid in pathlib.Path(path).read_text().split():
        deadline = time.time() + 10
        while not is_over(pid):
            assert time.time() < deadline, f"process {pid} is still there"
            time.sleep(0.05)


def main():
    path = sys.argv[1]
    if sys.argv[2:] == ["wait"]:
        own_process.call(start, path, True)
        return
    assert str(own_process.call(start, path, False)) in pathlib.Path(path).read_text().split()
    expect_over(path)
    try:
        own_process.call(fail)
    except RuntimeError as error:
        print(error)
    pathlib.Path(path).unlink()
    ended = subprocess.Popen([sys.executable, __file__, path, "wait"])
    while not pathlib.Path(path).exists():
        assert ended.poll() is None
        time.sleep(0.05)
    ended.terminate()
    print("ended with", ended.wait(), "after", signal.Signals.SIGTERM.name)
    expect_over(path)


if __name__ == "__main__":
    main()
