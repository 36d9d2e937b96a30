"""Sessions: one run of a model, with what it has seen."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from . import _runtime
from ._entry import call_entry
from ._errors import BadArgumentError
from ._options import (
    Finish,
    Floats,
    Generated,
    GenerateOptions,
    Message,
    Piece,
    Tokens,
    TokensLike,
    draws,
    option_values,
    to_messages,
    to_path,
    to_tokens,
    to_utf8,
)

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

# By the numbers of FinishReason; -1 is the last.
_FINISHES: tuple[Finish, ...] = ("end", "stop", "max_tokens", "context", "cancelled", "unfinished")


class _Closing:
    """What `with` closes at its end."""

    def close(self) -> None:
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class Stream(_Closing, Iterator[Piece]):
    """An answer that is drawn while it is read: an iterator of pieces.

    The session is busy with it until it ends. Any other call of the session, and
    `close`, end it where it is; then the session has seen what was drawn.
    """

    def __init__(self, native: _runtime.Stream) -> None:
        self._native = native

    def __repr__(self) -> str:
        return f"<gist.Stream, {len(self._native.result()[1])} tokens so far>"

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Piece:
        piece = self._native.next()
        if piece is None:
            raise StopIteration
        return Piece(*piece)

    def close(self) -> None:
        """Ends the answer here."""
        self._native.end()

    @property
    def result(self) -> Generated:
        """What was drawn so far; whole after the last piece."""
        text, tokens, finish, read, prompt, decode = self._native.result()
        return Generated(text, tokens, _FINISHES[finish], read, prompt, decode)

    def _drain(self) -> Generated:
        # A loop of Python, so that Ctrl-C is heard between two tokens.
        for _ in self:
            pass
        return self.result


class Session(_Closing):
    """One run of a model. `Model.session` opens it.

    Threads may share a session; calls wait for one another. As a context manager
    it frees its memory at the end; otherwise when it is no longer referenced.
    """

    def __init__(self, native: _runtime.Session, model: _runtime.Model) -> None:
        self._native = native
        self._model = model

    def __repr__(self) -> str:
        try:
            return f"<gist.Session on {self.target}, {self.position} of {self.capacity} tokens>"
        except BadArgumentError:
            return "<gist.Session, closed>"

    @draws
    def generate(self, prompt: str | TokensLike = "", **options: Unpack[GenerateOptions]) -> Generated:
        """Continues a text.

        The first call of a session begins a text, a later one goes on where the
        session is. Without a prompt it goes on after what was said last.
        Afterwards the session has seen the prompt and every token of the answer,
        except the last one where the context is full. A prompt of token ids is
        taken as it is.
        """
        return self.stream(prompt, **options)._drain()

    @draws
    def stream(self, prompt: str | TokensLike = "", **options: Unpack[GenerateOptions]) -> Stream:
        """`generate` as an iterator of pieces."""
        values = option_values(options)
        if isinstance(prompt, str):
            return Stream(self._native.begin(to_utf8(prompt), values))
        return Stream(self._native.begin_tokens(to_tokens(prompt), values))

    @draws
    def chat(self, messages: str | Iterable[Message], **options: Unpack[GenerateOptions]) -> Generated:
        """Answers the last message of a conversation, by the module's template.

        `messages` are the whole conversation: add the answer and the next
        question and call again. A text alone is one question. What the session has seen of it is not read
        again; a conversation that differs is read from where it does.
        """
        return self.stream_chat(messages, **options)._drain()

    @draws
    def stream_chat(self, messages: str | Iterable[Message], **options: Unpack[GenerateOptions]) -> Stream:
        """`chat` as an iterator of pieces."""
        return Stream(self._native.begin_chat(to_messages(messages), option_values(options)))

    def feed(self, tokens: TokensLike) -> None:
        """Appends tokens and computes the logits after the last one."""
        self._native.feed(to_tokens(tokens))

    @property
    def logits(self) -> Floats | None:
        """The logits after the last fed token, [vocabulary]; None if none were computed.

        The array is a read-only view of the session's memory on the CPU, and
        its content changes with the next call: copy what should stay.
        """
        return self._native.logits()

    def logits_after(self, tokens: TokensLike) -> Floats:
        """Appends tokens and gives the logits after each, [tokens, vocabulary]."""
        return self._native.logits_after(to_tokens(tokens))

    def score(self, tokens: TokensLike) -> Floats:
        """Appends all tokens but the last, and says how likely each was.

        Gives the natural logarithm of the probability of every token but the
        first, after those before it: one number less than there are tokens.
        """
        array = to_tokens(tokens)
        if array.size < 2:
            raise BadArgumentError(f"expected at least two tokens, got {array.size}")
        losses = self._native.losses(array[:-1], array[1:])
        losses *= -1
        return losses

    def embed(self, tokens: TokensLike) -> Floats:
        """The vector of a text, [width]. What the session has seen stays."""
        return self._native.embed(to_tokens(tokens))

    def call(self, entry: str, *inputs: npt.ArrayLike) -> tuple[npt.NDArray[Any], ...]:
        """Runs an entry of the module on arrays, in its order, and gives its results.

        For modules of graphs, which have no tokens to feed. A dimension of one
        may be there or not.
        """
        return call_entry(self._model, self._native, entry, inputs)

    def reset(self) -> None:
        """Forgets every token."""
        self._native.reset()

    def rewind(self, position: int) -> None:
        """Forgets the tokens from `position` on.

        Modules whose state is more than rows by position, as those with a plan,
        can only be reset.
        """
        self._native.rewind(position)

    def fork(self) -> Session:
        """A session of its own that has seen what this one has; both go on apart.

        It has no drafts. Ends a stream that is not finished.
        """
        return Session(self._native.fork(), self._model)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes what the session has seen to a file."""
        self._native.save(to_path(path))

    def load(self, path: str | os.PathLike[str]) -> None:
        """The session has then seen what another of the same model has saved.

        Modules with a plan need a model that was loaded with `trust=True`: their
        state steers kernels. After an error the session has seen nothing.
        """
        self._native.load(to_path(path))

    @property
    def tokens(self) -> Tokens:
        """What the session has seen. Ends a stream that is not finished."""
        return self._native.tokens()

    @property
    def position(self) -> int:
        """How many tokens the session has seen."""
        return self._native.describe()[0]

    @property
    def capacity(self) -> int:
        """How many tokens the session can hold."""
        return self._native.describe()[1]

    @property
    def target(self) -> str:
        """Which of the module's code runs: "cpu", "gfx942", "sm_90"."""
        return self._native.describe()[2]

    def close(self) -> None:
        """Gives the memory back, as soon as no array looks into it."""
        self._native.close()
