#!/usr/bin/env python3
"""Checks the files that cmake/release.sh made, without installing them.

Usage: check-release.py FOLDER BUILD_DIR
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
VERSION = re.search(r"project\(Gist VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
TOOLS = {"gist", "gist-run", "gist-compile", "gist-plan", "gist-serve", "gist-opt"}
# Every Linux has these.
SYSTEM = re.compile(r"^(ld-linux.*|linux-vdso|lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s))\.so")


def only(folder: pathlib.Path, pattern: str) -> pathlib.Path:
    found = list(folder.glob(pattern))
    assert len(found) == 1, f"{folder} has {len(found)} files {pattern}, expected one"
    return found[0]


def check_libraries(root: pathlib.Path) -> None:
    """Programs below a folder load libraries of it or of every Linux."""
    programs = [p for p in root.rglob("*") if p.is_file() and p.open("rb").read(4) == b"\x7fELF"]
    assert len(programs) >= len(TOOLS), programs
    environment = {**os.environ, "LD_LIBRARY_PATH": ""}
    for program in programs:
        lines = subprocess.run(["ldd", program], env=environment, capture_output=True, text=True, check=True).stdout
        for name, place in re.findall(r"(\S+) => (.*?)(?: \(0x|$)", lines, re.MULTILINE):
            assert place != "not found", f"{program.name} loads {name}, which is not found"
            inside = pathlib.Path(place).resolve().is_relative_to(root.resolve())
            assert inside or SYSTEM.match(name), f"{program.name} loads {name} from {place}"


def check_paths(root: pathlib.Path, build: pathlib.Path) -> None:
    """No file names a folder of the machine that built it."""
    cache = (build / "CMakeCache.txt").read_text()
    if not re.search("^CMAKE_BUILD_TYPE:STRING=Release$", cache, re.MULTILINE):
        print(f"{build} has assertions, which name files: paths are not looked for")
        return
    # The folder or a file in it, also behind -I and -L, but not as a part of a longer name.
    name = re.compile(rb"((?<![\w./-])|(?<=-[IL]))" + re.escape(os.fsencode(ROOT)) + rb"(?![\w.-])")
    for path in (p for p in root.rglob("*") if p.is_file() and not p.is_symlink()):
        assert not name.search(path.read_bytes()), f"{path} names {ROOT}"


def run_tools(folder: pathlib.Path) -> None:
    for tool in TOOLS:
        said = subprocess.run([folder / tool, "--version"], env={}, capture_output=True, text=True, check=True).stdout
        assert re.match(rf"{tool} {re.escape(VERSION)}[,\n]", said), f"{folder / tool} says {said!r}"


def check_wheel(wheel: pathlib.Path, build: pathlib.Path, scratch: pathlib.Path) -> None:
    libc = os.confstr("CS_GNU_LIBC_VERSION").split()[1].replace(".", "_")
    tag = f"cp310-abi3-manylinux_{libc}_{os.uname().machine}"
    assert wheel.name == f"gist_compiler-{VERSION}-{tag}.whl", wheel.name
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.infolist():
            path = pathlib.Path(archive.extract(entry, scratch))
            path.chmod(entry.external_attr >> 16 & 0o777 or 0o644)
    information = scratch / f"gist_compiler-{VERSION}.dist-info"
    assert f"Tag: {tag}\n" in (information / "WHEEL").read_text()
    metadata = (information / "METADATA").read_text()
    assert re.search(r"^Name: gist-compiler$", metadata, re.MULTILINE), metadata
    assert re.search(rf"^Version: {re.escape(VERSION)}$", metadata, re.MULTILINE), metadata
    scripts = {p.name for p in (scratch / f"gist_compiler-{VERSION}.data/scripts").iterdir()}
    assert scripts >= TOOLS, scripts
    assert (scratch / "gist/_compiler.abi3.so").exists()
    check_libraries(scratch / "gist")
    check_paths(scratch, build)
    run_tools(scratch / "gist/bin")


def check_tarball(tarball: pathlib.Path, build: pathlib.Path, scratch: pathlib.Path) -> None:
    subprocess.run(["tar", "-C", scratch, "-xf", tarball], check=True)
    root = only(scratch, "*")
    assert root.name + ".tar.gz" == tarball.name
    check_libraries(root)
    check_paths(root, build)
    run_tools(root / "bin")


def check_package(package: pathlib.Path, build: pathlib.Path, scratch: pathlib.Path, needs: str) -> None:
    subprocess.run(["dpkg-deb", "-x", package, scratch], check=True)
    field = subprocess.run(["dpkg-deb", "-f", package, "Depends"], capture_output=True, text=True, check=True).stdout
    assert re.search(needs, field), f"{package.name} depends on {field}, expected {needs}"
    assert ("llvm" in field or "mlir" in field) == ("compiler" in package.name), f"{package.name} depends on {field}"
    assert only(scratch, "usr/share/doc/*/copyright")
    check_paths(scratch, build)


def check_apart(folder: pathlib.Path) -> None:
    """No two packages have the same file: dpkg refuses the second."""
    owners: dict[str, str] = {}
    for package in folder.glob("*.deb"):
        lines = subprocess.run(["dpkg-deb", "-c", package], capture_output=True, text=True, check=True).stdout
        for path in (line.split()[5] for line in lines.splitlines() if not line.startswith("d")):
            assert path not in owners, f"{path} is in {package.name} and in {owners[path]}"
            owners[path] = package.name


def main() -> None:
    folder, build = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    checks = [
        ("gist_compiler-*.whl", check_wheel, ()),
        ("gist-*.tar.gz", check_tarball, ()),
        ("gist-runtime_*.deb", check_package, (r"libc6 \(",)),
        # Which depends on libllvm22.
        ("gist-compiler_*.deb", check_package, (rf"gist-runtime \(= {re.escape(VERSION)}\).*libmlir-22",)),
    ]
    for pattern, check, more in checks:
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            check(only(folder, pattern), build, pathlib.Path(scratch), *more)
    check_apart(folder)
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=folder, check=True)


if __name__ == "__main__":
    main()
