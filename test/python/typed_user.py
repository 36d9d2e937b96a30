# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program for mypy, which is never run: what types users see."""

from typing import Any

import gist
import numpy as np
import numpy.typing as npt
from typing_extensions import assert_type


def use(path: str) -> None:
    model = gist.compile(path, plan={"gist_plan": 1}, target=["cpu", "sm_90"])
    assert_type(model, gist.Model)
    assert_type(model.generate("Once", max_tokens=3, stop=["."]), gist.Generated)
    for piece in model.stream("Once", temperature=0.5):
        assert_type(piece.text, str)
    with gist.load(path).session(threads=2, context=64) as session:
        session.feed(model.tokenize("a"))
        assert_type(session.logits, npt.NDArray[np.float32] | None)
        assert_type(session.score([1, 2]), npt.NDArray[np.float32])
        answer = session.chat([{"role": "user", "content": "Why?"}])
        assert_type(answer.finish, gist.Finish)
        assert_type(session.call("main", np.zeros((1, 4), np.int64)), tuple[npt.NDArray[Any], ...])


def use_torch(module: object, example: object) -> None:
    compiled = gist.from_torch(module, example, dynamic=True, plan={"gist_plan": 1})
    assert_type(compiled, gist.TorchModel)
    assert_type(compiled.model, gist.Model)


def misuse(model: gist.Model) -> None:
    # Without an error here, the comment itself is one.
    model.generate("a", max_token=1)  # type: ignore[call-arg]
    model.generate(3)  # type: ignore[arg-type]
    model.chat([{"role": "user"}])  # type: ignore[typeddict-item]
    gist.compile("a", compute="f8")  # type: ignore[arg-type]
