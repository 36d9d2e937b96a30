"""pipelines.py DOCS FOLDER TARGET MODEL: compiles MODEL with --dump-stages and gives
files to gist-opt with the pipelines that DOCS (docs/passes.md) has for stages, which
must give the next file to the byte. TARGET is cpu or the name of a GPU."""

import pathlib
import re
import subprocess
import sys

docs, folder = pathlib.Path(sys.argv[1]).read_text(), pathlib.Path(sys.argv[2])
target, model = sys.argv[3:]
# Without options, as the reference has them.
if target == "cpu":
    options = ["--cpu=neoverse-v1", "--triple=aarch64-linux-gnu"]
    stages = {"kernels": ("graph", "gist-kernels"), "tiles": ("kernels", "gist-tile"),
              "cpu": ("tiles", "gist-cpu"), "memory": ("kernels", "gist-memory")}
else:
    options = [f"--target={target}"]
    stages = {"products": ("kernels", "gist-gpu-products"),
              "tiles": ("products", "gist-gpu-tile"), "gpu": ("tiles", "gist-gpu")}
folder.mkdir(parents=True, exist_ok=True)
subprocess.run(["gist-compile", model, "-o", folder / "module.gist", "--progress=off",
                f"--dump-stages={folder}", *options], check=True)
files = {path.stem[3:]: path for path in sorted(folder.glob("*.mlir"))}
for name, (before, stage) in stages.items():
    section = re.search(rf"^### `-{stage}`\n\n```\n.*?```\n\n```\n(.*?)```\n", docs, re.M | re.S)
    assert section, f"docs/passes.md has no stage {stage}"
    pipeline = "".join(line.strip() for line in section[1].splitlines())
    pipeline = re.sub(r"^any\(", "builtin.module(", pipeline)
    done = subprocess.run(["gist-opt", files[before], f"--pass-pipeline={pipeline}"],
                          capture_output=True, text=True)
    assert done.returncode == 0, (stage, pipeline, done.stderr[:2000])
    # What stands above the program is for readers.
    text = re.sub(r"\A(//.*\n)+", "", files[name].read_text())
    assert done.stdout.rstrip("\n") == text.rstrip("\n"), (stage, pipeline)
print(" ".join(stages), "are the same")
