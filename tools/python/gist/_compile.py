"""The compiler: from a model to a module."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from . import _runtime
from ._errors import CompileError, Error, FileMissingError
from ._model import Model, load
from ._options import to_path

# What gist-compile writes before the sentences that it prints.
_ERROR = "gist-compile: error: "
_WARNING = "gist-compile: warning: "


def compile(
    model: str | os.PathLike[str],
    output: str | os.PathLike[str] | None = None,
    *,
    plan: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    target: str | Sequence[str] = "cpu",
    compute: Literal["auto", "f32", "int8", "int8-rows", "fp8"] = "auto",
    kv_type: Literal["f16", "f32", "int8"] = "f16",
    context: int = 0,
    expand_weights: bool = False,
    triple: str = "",
    cpu: str = "",
    features: str = "",
    options: Sequence[str] = (),
    progress: bool = True,
) -> Model:
    """Compiles a model and loads the module.

    `model` is a GGUF file, a Hugging Face folder or a graph (.mlir). The module
    is kept in the file `output`, or without one as long as the result is
    referenced.

    `plan` says where the model does less work: a file, or what such a file
    contains. `target` names one machine or several: "cpu", "gfx942", "sm_90".
    `compute`, `kv_type`, `context`, `expand_weights`, `triple`, `cpu` and
    `features` are options of gist-compile, and `options` takes any others as the
    command line has them. `gist-compile --help` explains them all.

    `progress` draws a bar where standard error is a terminal.

    What the compiler refuses is a `CompileError` with its sentence. Its warnings
    are Python's. One compilation runs at a time.
    """
    if not os.path.exists(to_path(model)):
        raise FileMissingError(f"{os.fspath(model)}: cannot open: No such file or directory")
    words = [f"--progress={'bar' if progress else 'off'}"]
    words += [f"--target={name}" for name in ([target] if isinstance(target, str) else target)]
    if context:
        words.append(f"--context={context}")
    if expand_weights:
        words.append("--expand-weights")
    named = {"compute": compute, "kv-type": kv_type, "triple": triple, "cpu": cpu, "features": features}
    for name, value in named.items():
        # What is as the compiler has it need not be said; a graph takes no kv-type.
        if value not in ("", "auto", "f16"):
            words.append(f"--{name}={value}")
    words += options
    # The module is mapped when it is loaded, so its file may go.
    with tempfile.TemporaryDirectory(prefix="gist-") as folder:
        file = Path(folder, "model.gist") if output is None else Path(os.fspath(output))
        encoded = [os.fsencode(word) for word in words]
        if plan is not None:
            encoded += [b"--plan", to_path(_plan_file(plan, folder))]
        encoded += [b"-o", to_path(file), b"--", to_path(model)]
        for sentence in _run(encoded):
            warnings.warn(sentence, stacklevel=2)
        # It was compiled a moment ago.
        return load(file, trust=True)


def compile_once(model: bytes, target: str) -> bytes:
    """The module of a model, which is compiled where it is not in the cache."""
    path, exists = _runtime.find_cached(model, os.fsencode(target), _compiler_file())
    if not exists:
        for sentence in _run([b"--progress=bar", b"--target=" + os.fsencode(target), b"-o", path, b"--", model]):
            warnings.warn(sentence, stacklevel=3)
        _runtime.trim_cache(path)
    return path


def _linked() -> Any:
    """The extension with the compiler; None in a package of the runtime alone."""
    try:
        return importlib.import_module("gist._compiler")
    except ModuleNotFoundError:
        return None


def _compiler_file() -> bytes:
    linked = _linked()
    return os.fsencode(_find_program() if linked is None else linked.__file__)


def _plan_file(plan: str | os.PathLike[str] | Mapping[str, Any], folder: str) -> str | os.PathLike[str]:
    if not isinstance(plan, Mapping):
        return plan
    path = Path(folder, "plan.json")
    path.write_text(json.dumps(plan))
    return path


def _run(words: list[bytes]) -> list[str]:
    """Compiles, and gives the warnings."""
    linked = _linked()
    if linked is None:
        return _run_program(words)
    try:
        found: list[str] = linked.compile(words)
        return found
    except Error as error:
        raise CompileError(str(error)) from None


def _find_program() -> str:
    program = shutil.which("gist-compile")
    if program is None:
        raise CompileError(
            "this package has the runtime alone, and gist-compile was not found in PATH; "
            "install Gist where LLVM and MLIR 22 are, or add the folder of gist-compile to PATH"
        )
    return program


def _run_program(words: list[bytes]) -> list[str]:
    ended = subprocess.run([os.fsencode(_find_program()), *words], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    lines = ended.stderr.decode(errors="surrogateescape").splitlines()
    if ended.returncode != 0:
        # Wrong usage is said without a prefix, and with advice for a terminal.
        lines = [line for line in lines if line != "Run with --help for more information."]
        sentences = [line.removeprefix(_ERROR) for line in lines if line.startswith(_ERROR)]
        raise CompileError("\n".join(sentences or lines) or f"gist-compile ended with status {ended.returncode}")
    return [line.removeprefix(_WARNING) for line in lines if line.startswith(_WARNING)]
