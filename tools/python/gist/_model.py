"""Models: modules that are loaded."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from . import _runtime
from ._errors import FileMissingError
from ._options import (
    SESSION_DEFAULTS,
    Floats,
    Generated,
    GenerateOptions,
    Message,
    SessionOptions,
    Tokens,
    TokensLike,
    check_names,
    draws,
    named_options,
    to_messages,
    to_path,
    to_tokens,
    to_utf8,
)
from ._session import Session, Stream

if TYPE_CHECKING:
    from typing_extensions import Unpack


def load(path: str | os.PathLike[str], *, trust: bool = False, target: str = "cpu") -> Model:
    """Opens a module, a file that `compile` or gist-compile made; or a model.

    A GGUF file or a Hugging Face folder is compiled for `target` ("cpu", "gfx942",
    "sm_90") the first time, and the module is kept where `gist-run cache` lists it.

    A module contains native code, which can do whatever this process can. Sessions
    run it if the module was compiled on this machine by this user, or was named once
    with `gist-run trust`; otherwise they raise `UntrustedError`. `trust=True` says
    that you trust the module as you would trust a program.
    """
    name = to_path(path)
    if not os.path.exists(name):
        raise FileMissingError(f"{os.fspath(path)}: cannot open: No such file or directory")
    if _runtime.is_model(name):
        # It needs this file, and is not needed for modules.
        from ._compile import compile_once

        # The compiler has noted the module as known.
        return Model(_runtime.load(compile_once(name, target), trust))
    return Model(_runtime.load(name, trust))


class Model:
    """A module that is loaded: weights, code and tokenizer. Threads may share it.

    `generate`, `stream`, `chat`, `embed` and `score` open a session of their own
    for one call. For several calls open one with `session`.
    """

    def __init__(self, native: _runtime.Model) -> None:
        self._native = native
        facts = native.describe()
        self.architecture: str = facts["architecture"]  #: "llama", "bert"
        self.name: str = facts["name"]
        self.vocab_size: int = facts["vocab_size"]
        self.context_length: int = facts["context_length"]  #: what it was trained for
        self.embedding_size: int = facts["embedding_size"]
        self.layer_count: int = facts["layer_count"]
        self.has_tokenizer: bool = facts["has_tokenizer"]
        self.plan: str = facts["plan"]  #: JSON, or empty
        self.properties: dict[str, str] = facts["properties"]
        #: Name and device of what it has code for: ("sm_90", "cuda").
        self.targets: list[tuple[str, str]] = facts["targets"]
        self.entries: list[str] = facts["entries"]

    def __repr__(self) -> str:
        names = ", ".join(name for name, _ in self.targets)
        return f"<gist.Model {self.name or self.architecture} for {names}>"

    @named_options(SessionOptions, SESSION_DEFAULTS)
    def session(
        self,
        *,
        draft: Literal["lookup"] | Model | None = None,
        adapter: str = "",
        **options: Unpack[SessionOptions],
    ) -> Session:
        """Opens a session, with an adapter of the module or with none.

        With `draft`, tokens are guessed and the same answers come faster: by
        "lookup" in the text so far, or by a smaller model with the same tokenizer,
        or by the same one with a plan.
        """
        check_names(options, SESSION_DEFAULTS)
        values = {**SESSION_DEFAULTS, **options}
        values["device"] = values["device"] or self._default_device()
        values["library"] = to_path(values["library"])
        session = _runtime.open_session(self._native, *values.values())
        session.set_adapter(adapter.encode())
        if draft is not None:
            if draft != "lookup" and not isinstance(draft, Model):
                raise TypeError(f"expected draft to be 'lookup' or a Model, got {draft!r}")
            session.draft_by(draft._native if isinstance(draft, Model) else None)
        return Session(session, self._native)

    def _default_device(self) -> str:
        devices = [device for _, device in self.targets]
        return devices[0] if devices and "cpu" not in devices else "cpu"

    @draws
    def generate(self, prompt: str | TokensLike, **options: Unpack[GenerateOptions]) -> Generated:
        """Continues a text, in a session of its own; see `Session.generate`."""
        return self.session().generate(prompt, **options)

    @draws
    def stream(self, prompt: str | TokensLike, **options: Unpack[GenerateOptions]) -> Stream:
        """`generate` as an iterator of pieces."""
        return self.session().stream(prompt, **options)

    @draws
    def chat(self, messages: str | Iterable[Message], **options: Unpack[GenerateOptions]) -> Generated:
        """Answers the last message of a conversation; see `Session.chat`."""
        return self.session().chat(messages, **options)

    @draws
    def stream_chat(self, messages: str | Iterable[Message], **options: Unpack[GenerateOptions]) -> Stream:
        """`chat` as an iterator of pieces."""
        return self.session().stream_chat(messages, **options)

    def embed(self, texts: str | Sequence[str]) -> Floats:
        """The vector of a text, [width], or of several, [texts, width]."""
        with self.session() as session:
            if isinstance(texts, str):
                return session.embed(self.tokenize(texts))
            rows = [session.embed(self.tokenize(text)) for text in texts]
        return np.stack(rows) if rows else np.empty((0, self.embedding_size), np.float32)

    def score(self, text: str | TokensLike) -> Floats:
        """How likely each token of a text is; see `Session.score`.

        `numpy.exp(-model.score(text).mean())` is the perplexity.
        """
        tokens = self.tokenize(text) if isinstance(text, str) else to_tokens(text)
        with self.session() as session:
            return session.score(tokens)

    def call(self, entry: str, *inputs: npt.ArrayLike) -> tuple[npt.NDArray[Any], ...]:
        """Runs an entry on arrays, in a session of its own; see `Session.call`."""
        with self.session() as session:
            return session.call(entry, *inputs)

    def tokenize(self, text: str, *, add_special: bool = True, parse_special: bool = True) -> Tokens:
        """Token ids of a text.

        `add_special` puts the tokens around it that the model was trained with.
        `parse_special` lets the text of a special token stand for it.
        """
        return self._native.tokenize(to_utf8(text), add_special, parse_special)

    def detokenize(self, tokens: TokensLike, *, skip_special: bool = True) -> str:
        """The text of tokens."""
        return self._native.detokenize(to_tokens(tokens), skip_special)

    def chat_tokens(self, messages: Iterable[Message], *, add_answer: bool = True) -> Tokens:
        """Token ids of a conversation, written with the module's chat template.

        What messages contain cannot become a special token. With `add_answer` the
        beginning of the assistant's answer follows.
        """
        return self._native.chat_tokens(to_messages(messages), add_answer)

    def verify(self) -> None:
        """Reads all weights and compares their hashes; raises where one differs."""
        self._native.verify()
