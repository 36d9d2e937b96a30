"""The simulator must stay fast enough for CI. The bounds are about half of what one
hardware thread of a Xeon with two of them a core reaches with checks on while the
other is busy. The time is the CPU's: other programs may have the machine meanwhile."""

import pathlib
import resource
import subprocess

import pytest

import simulator

RUNS = [("ordinary", ["--grid", "4", "--block", "256", "iota:1024", "zero:4096", "i32:200"],
         "instructions_per_second", 250_000),
        ("matrix", ["--block", "64", "iota:64", "zero:256", "i32:1000"],
         "mfma_per_second", 50_000)]


@pytest.mark.parametrize("kernel,arguments,measure,bound", RUNS, ids=[r[0] for r in RUNS])
def test_speed(program, tmp_path, kernel, arguments, measure, bound):
    source = pathlib.Path(__file__).with_name("bench.c").read_text()
    (tmp_path / "k.hsaco").write_bytes(simulator.compile_gpu(source, "-O3"))
    best = 0
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        run = subprocess.run([program, "k.hsaco", "--kernel", kernel, "--threads", "1", "--time",
                              *arguments], cwd=tmp_path, capture_output=True, text=True,
                             check=True)
        values = dict(line.split() for line in run.stdout.splitlines())
        used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        done = float(values[measure]) * float(values["seconds"])
        best = max(best, done / max(used, 1e-3))
        if best >= bound:
            break
    print(f"{measure} {best:.0f}")
    assert best >= bound
