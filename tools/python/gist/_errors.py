"""What the runtime and the compiler raise.

Each error is an `Error` and also the exception of Python that means the same,
so that code which knows nothing of Gist can handle it.
"""

from __future__ import annotations


class Error(Exception):
    """Something went wrong; the text is a sentence about it."""


class BadFileError(Error, ValueError):
    """A file's content is not what its format promises."""


class NotFoundError(Error, LookupError):
    """A file, an entry, a tokenizer or a device does not exist."""


class FileMissingError(NotFoundError, FileNotFoundError):
    """A file or a folder does not exist."""


class BadArgumentError(Error, ValueError):
    """A value is out of range."""


class UnsupportedError(Error, RuntimeError):
    """Well-formed, but nothing that this build or this module can do."""


class OutOfMemoryError(Error, MemoryError):
    """The memory of the host or of the device is exhausted."""


class InputOutputError(Error, OSError):
    """The operating system refused to read or to write."""


class DeviceError(Error, RuntimeError):
    """A driver reported an error."""


class UntrustedError(Error, PermissionError):
    """The code of a module that was not compiled here and is not trusted."""


class CompileError(Error):
    """The compiler refused a model, a plan or an option, and says why."""


# The extensions find the classes here.
CLASSES: dict[str, type[Error]] = {
    "bad_file": BadFileError,
    "not_found": NotFoundError,
    "bad_argument": BadArgumentError,
    "unsupported": UnsupportedError,
    "out_of_memory": OutOfMemoryError,
    "io": InputOutputError,
    "device": DeviceError,
    "untrusted": UntrustedError,
}
