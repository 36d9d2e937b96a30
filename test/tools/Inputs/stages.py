"""stages.py FOLDER MODEL TARGET [PLAN]: compiles MODEL with --dump-stages and
gives every file to gist-opt with the name of the next stage, which must give the
next file to the byte. TARGET is cpu or the name of a GPU."""

import pathlib
import subprocess
import sys

folder, model, target = pathlib.Path(sys.argv[1]), *sys.argv[2:4]
plan = sys.argv[4:5]

# The target is named once; what each stage writes says it to the next.
if target == "cpu":
    # A CPU that every machine can compile for.
    options = ["--cpu=neoverse-v1", "--triple=aarch64-linux-gnu"]
    machine = "triple=aarch64-linux-gnu cpu=neoverse-v1"
    graph = "int8=true"
    lower = {"tiles": ("kernels", ["-gist-tile"]), "cpu": ("tiles", ["-gist-cpu"])}
else:
    options = [f"--target={target}"]
    machine = f"target={target}"
    graph = "gates=false sampling=true matrix=true"
    lower = {
        "products": ("kernels", ["-gist-gpu-products"]),
        "tiles": ("products", ["-gist-gpu-tile"]),
        "gpu": ("tiles", ["-gist-gpu"]),
    }

options += [f"--plan={plan[0]}"] if plan else []
folder.mkdir(parents=True, exist_ok=True)
subprocess.run(
    ["gist-compile", model, "-o", folder / "module.gist", "--progress=off",
     f"--dump-stages={folder}", *options],
    check=True,
)

# Each stage: what it reads, its name for gist-opt. Weights in memory and kernels in
# code are two halves of one program: both start from kernels.
stages = {"plan": ("import", ["-gist-plan"])} if plan else {}
stages |= {
    "graph": ("plan" if plan else "import", [f"-gist-set-target={machine}", f"-gist-graph={graph}"]),
    "kernels": ("graph", ["-gist-kernels"]),
    **lower,
    "memory": ("kernels", ["-gist-memory"]),
}


def read(path):
    """What a stage gave, without comments at its beginning."""
    lines = path.read_text().rstrip("\n").split("\n")
    while lines[0].startswith("//"):
        del lines[0]
    return "\n".join(lines)


files = {path.stem[3:]: path for path in sorted(folder.glob("*.mlir"))}
assert list(files) == ["import", *stages], list(files)
for name, (before, flags) in stages.items():
    done = subprocess.run(["gist-opt", files[before], *flags], capture_output=True, text=True)
    assert done.returncode == 0, (files[before], flags, done.stderr[:2000])
    again, dumped = done.stdout.rstrip("\n"), read(files[name])
    if again != dumped:
        (folder / f"{name}-again.mlir").write_text(done.stdout)
        raise SystemExit(f"{files[before]} {flags} is not {files[name]}: see {name}-again.mlir beside it")
    assert name == before or dumped != read(files[before]), f"{name} changed nothing"

# Without a plan there is nothing to do, and nothing is left to do once it was followed.
last = files["plan" if plan else "import"]
done = subprocess.run(["gist-opt", last, "-gist-plan"], capture_output=True, text=True, check=True)
assert done.stdout.rstrip("\n") == read(last)
print(f"{' '.join(files)}: all the same")
