"""Compiles transformer models so that they do less work, and runs them.

    import gist

    model = gist.compile("model.gguf")
    print(model.generate("Once upon a time", max_tokens=64))

`compile` makes a module of a model and loads it. `load` opens a module, or a
model, which it compiles once and keeps. A `Model` opens sessions; a `Session` remembers what was said.
"""

from ._compile import compile
from ._devices import Device, devices
from ._errors import (
    BadArgumentError,
    BadFileError,
    CompileError,
    DeviceError,
    Error,
    FileMissingError,
    InputOutputError,
    NotFoundError,
    OutOfMemoryError,
    UnsupportedError,
    UntrustedError,
)
from ._model import Model, load
from ._options import Finish, Generated, GenerateOptions, Message, Piece, SessionOptions
from ._runtime import version as __version__
from ._session import Session, Stream
from ._torch import TorchModel, from_torch, torch_backend

__all__ = [
    "BadArgumentError",
    "BadFileError",
    "CompileError",
    "Device",
    "DeviceError",
    "Error",
    "FileMissingError",
    "Finish",
    "Generated",
    "GenerateOptions",
    "InputOutputError",
    "Message",
    "Model",
    "NotFoundError",
    "OutOfMemoryError",
    "Piece",
    "Session",
    "SessionOptions",
    "Stream",
    "TorchModel",
    "UnsupportedError",
    "UntrustedError",
    "__version__",
    "compile",
    "devices",
    "from_torch",
    "load",
    "torch_backend",
]
