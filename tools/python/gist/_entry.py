"""Entries of a module on arrays: what is called, and with what."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from . import _runtime
from ._errors import BadArgumentError

Array = npt.NDArray[Any]

# By the numbers of ElementType in runtime/module/ModuleSpec.h. NumPy has no bf16.
_TYPES: tuple[type[np.generic], ...] = (
    np.uint8,
    np.float32,
    np.float16,
    np.uint16,
    np.int8,
    np.int16,
    np.int32,
    np.int64,
)


def call_entry(
    model: _runtime.Model, session: _runtime.Session, entry: str, arrays: tuple[npt.ArrayLike, ...]
) -> tuple[Array, ...]:
    """Runs an entry; see `Session.call`."""
    # Sizes that differ between two numbers of tokens depend on it.
    inputs, _ = model.describe_entry(entry, 1)
    others, _ = model.describe_entry(entry, 2)
    if len(arrays) != len(inputs):
        raise BadArgumentError(f"{entry} takes {len(inputs)} arrays, got {len(arrays)}")
    given: list[Array] = []
    tokens = 0
    for (name, kind, shape), (_, _, other), value in zip(inputs, others, arrays):
        array = _convert(name, value, _TYPES[kind])
        # Dimensions of one are not told apart: a batch of one is its only member.
        own = [size for size in array.shape if size != 1]
        dynamic = next((i for i, pair in enumerate(zip(shape, other)) if pair[0] != pair[1]), None)
        if dynamic is not None:
            rest = [size for i, size in enumerate(shape) if i != dynamic and size != 1]
            found = array.size // int(np.prod(rest, dtype=np.int64)) if array.size else 0
            if tokens not in (0, found):
                raise BadArgumentError(f"{name} has {found} tokens; the input before it has {tokens}")
            tokens = found
            shape = [found if i == dynamic else size for i, size in enumerate(shape)]
        if own != [size for size in shape if size != 1]:
            raise BadArgumentError(f"{name} has the shape {list(array.shape)}; expected {shape}")
        given.append(array)
    tokens = max(tokens, 1)
    _, outputs = model.describe_entry(entry, tokens)
    views = [array.reshape(-1).view(np.uint8) for array in given]
    made = session.call(entry, tokens, views)
    return tuple(
        np.frombuffer(data, _TYPES[kind]).reshape(shape) for data, (_, kind, shape) in zip(made, outputs)
    )


def _convert(name: str, value: npt.ArrayLike, kind: type[np.generic]) -> Array:
    array = np.asarray(value)
    # A boolean is a byte in memory.
    if array.dtype == np.bool_ and kind is np.int8:
        array = array.view(np.int8)
    if array.dtype == kind:
        return np.ascontiguousarray(array)
    if np.issubdtype(array.dtype, np.integer) and issubclass(kind, np.integer):
        limits = np.iinfo(kind)
        if array.size == 0 or (limits.min <= array.min() and array.max() <= limits.max):
            return np.ascontiguousarray(array, dtype=kind)
    raise BadArgumentError(f"{name} is an array of {array.dtype}; expected {np.dtype(kind)}")
