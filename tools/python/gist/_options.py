"""What functions take and give: options, messages, pieces and results."""

from __future__ import annotations

import inspect
import json
import numbers
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypedDict, TypeVar

import numpy as np
import numpy.typing as npt

Tokens = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float32]

#: Token ids: an array, or anything that NumPy makes one of. An int32 array of
#: one dimension without gaps is read where it is.
TokensLike = npt.NDArray[Any] | Sequence[int]

Finish = Literal["end", "stop", "max_tokens", "context", "cancelled", "unfinished"]


class Message(TypedDict):
    """A turn of a conversation."""

    role: str  #: "system", "user" or "assistant"
    content: str


class Piece(NamedTuple):
    """A token of an answer, and the text that it makes certain.

    The text is empty while a character, or what may be a stop text, is
    incomplete. What was held back at the end comes with the token -1.
    """

    token: int
    text: str


@dataclass(frozen=True)
class Generated:
    """An answer. `str()` gives its text."""

    text: str
    tokens: Tokens  #: an end token included
    #: Why it ended: the model ended it, a stop text appeared, enough tokens were
    #: drawn, the context is full, or it was broken off.
    finish: Finish
    prompt_tokens: int  #: tokens read; of a conversation those that were new
    prompt_seconds: float
    decode_seconds: float

    def __str__(self) -> str:
        return self.text


class GenerateOptions(TypedDict, total=False):
    """How an answer is drawn. All are optional."""

    max_tokens: int  #: 0: until the model ends or the context is full
    temperature: float  #: 0: always the most likely token
    top_k: int  #: only the k most likely; 0: all
    top_p: float  #: only the most likely that reach this sum; 1: all
    min_p: float  #: only those this likely relative to the best
    seed: int  #: the same seed draws the same answer
    repeat_penalty: float  #: above 1: tokens of late are less likely
    repeat_window: int  #: how many tokens count as of late
    presence_penalty: float  #: taken from the logits of tokens that the answer has
    frequency_penalty: float  #: the same for each time that it has them
    logit_bias: Mapping[int, float]  #: added to logits of tokens; -inf forbids one
    min_tokens: int  #: tokens that the answer has before a token may end it
    stop: str | int | Iterable[str | int]  #: texts and tokens that end the answer
    ignore_end: bool  #: go on after the model's end token
    show_special: bool  #: special tokens appear as text
    schema: str | Mapping[str, Any]  #: the answer is JSON that is valid for this schema
    grammar: str  #: the answer matches this grammar (docs/grammars.md)


class SessionOptions(TypedDict, total=False):
    """Where a session runs. All are optional."""

    device: str  #: "cpu", "hip" or "cuda"; default: what the module has code for
    threads: int  #: of the CPU; 0: as many as this process may use
    context: int  #: tokens to hold; 0: the module's default
    chunk: int  #: tokens per prefill call; 0: the module's choice
    library: str  #: path of the GPU's driver; default: its usual names
    index: int  #: which GPU, as the driver counts them


_Function = TypeVar("_Function", bound=Callable[..., Any])

SESSION_DEFAULTS: dict[str, Any] = {
    "device": "",
    "threads": 0,
    "context": 0,
    "chunk": 0,
    "library": "",
    "index": 0,
}

# In the order of OptionValues in Session.cpp.
_DEFAULTS: dict[str, Any] = {
    "max_tokens": 0,
    "temperature": 0.0,
    "top_k": 0,
    "top_p": 1.0,
    "min_p": 0.0,
    "seed": 0,
    "repeat_penalty": 1.0,
    "repeat_window": 64,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
    "logit_bias": {},
    "min_tokens": 0,
    "stop": (),
    "stop_tokens": (),
    "ignore_end": False,
    "show_special": False,
    "schema": "",
    "grammar": "",
}


def check_names(given: Mapping[str, Any], known: Iterable[str]) -> None:
    """Raises TypeError for a name that is not known, as Python itself would."""
    for name in given:
        if name not in known:
            raise TypeError(f"there is no option '{name}'; expected one of: {', '.join(known)}")


def _check_type(name: str, value: Any, default: Any) -> None:
    """Raises TypeError where a number is expected and something else is given."""
    # True and False are numbers for Python. What they would mean is not clear.
    wanted = {float: numbers.Real, int: numbers.Integral}.get(type(default))
    if wanted is not None and (isinstance(value, bool) or not isinstance(value, wanted)):
        kind = "number" if wanted is numbers.Real else "whole number"
        raise TypeError(f"expected {name} to be a {kind}, got {value!r}")


def named_options(options: type, defaults: Mapping[str, Any]) -> Callable[[_Function], _Function]:
    """Gives a function that takes **options their names, for `help` and editors."""

    def decorate(function: _Function) -> _Function:
        signature = inspect.signature(function)
        plain = [p for p in signature.parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
        # As written: Python keeps a ForwardRef of it, which `help` would print.
        types = {name: getattr(kind, "__forward_arg__", kind) for name, kind in options.__annotations__.items()}
        named = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=defaults[name], annotation=kind)
            for name, kind in types.items()
        ]
        function.__signature__ = signature.replace(parameters=plain + named)  # type: ignore[attr-defined]
        return function

    return decorate


def option_values(options: GenerateOptions) -> tuple[Any, ...]:
    """The values of all options, in the order that the extension wants."""
    check_names(options, [name for name in _DEFAULTS if name != "stop_tokens"])
    values = {**_DEFAULTS, **options}
    for name, value in values.items():
        _check_type(name, value, _DEFAULTS[name])
    values["logit_bias"] = list(values["logit_bias"].items())
    stops = values["stop"]
    stops = [stops] if isinstance(stops, (str, int)) else list(stops)
    values["stop_tokens"] = [stop for stop in stops if isinstance(stop, int)]
    values["stop"] = [to_utf8(stop) for stop in stops if not isinstance(stop, int)]
    schema = values["schema"]
    values["schema"] = to_utf8(schema if isinstance(schema, str) else json.dumps(schema))
    values["grammar"] = to_utf8(values["grammar"])
    return tuple(values[name] for name in _DEFAULTS)


#: For functions that draw an answer.
draws = named_options(GenerateOptions, _DEFAULTS)


def to_path(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a file's name."""
    name = os.fsencode(path)
    if b"\0" in name:
        raise ValueError("the name of a file has a null byte")
    return name


def to_utf8(text: str) -> bytes:
    """The bytes of a text. What UTF-8 has no bytes for becomes a question mark."""
    if not isinstance(text, str):
        raise TypeError(f"expected a text (str), got {type(text).__name__}")
    return text.encode("utf-8", "replace")


def to_messages(messages: str | Iterable[Message]) -> list[tuple[bytes, bytes]]:
    """Roles and contents as bytes. A text alone is a question of the user."""
    if isinstance(messages, str):
        return [(b"user", to_utf8(messages))]
    if isinstance(messages, Mapping) or not isinstance(messages, Iterable):
        raise TypeError(f"expected a text or a list of messages, got {messages!r}")
    result = []
    for number, message in enumerate(messages):
        if not isinstance(message, Mapping) or not {"role", "content"} <= message.keys():
            raise TypeError(f"expected message {number} to be a dict with 'role' and 'content', got {message!r}")
        result.append((to_utf8(message["role"]), to_utf8(message["content"])))
    return result


def to_tokens(tokens: TokensLike) -> Tokens:
    """Token ids as the runtime reads them; without a copy where they are so already."""
    if tokens is None or isinstance(tokens, (bytes, Mapping)):
        raise TypeError(f"expected a text (str) or token ids, got {type(tokens).__name__}")
    array = np.asarray(tokens)
    if array.ndim != 1:
        raise ValueError(f"expected token ids in one dimension, got {array.ndim}")
    if array.size == 0:
        return np.empty(0, np.int32)
    if not np.issubdtype(array.dtype, np.integer):
        raise TypeError(f"expected token ids as integers, got {array.dtype}")
    if array.dtype != np.int32 and not (
        np.iinfo(np.int32).min <= array.min() and array.max() <= np.iinfo(np.int32).max
    ):
        raise ValueError("a token id does not fit 32 bits")
    return np.ascontiguousarray(array, dtype=np.int32)
