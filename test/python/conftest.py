# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules that the tests of the Python package run.

test/python/run.sh sets GIST_TINY_MODULE to the tiny module of the unit tests;
beside it is rewinds.gist, the same with a state that can go back.
"""

import os
import pathlib

import gist
import pytest

MODELS = pathlib.Path(__file__).parent.parent / "models"


@pytest.fixture(scope="session")
def tiny_path():
    return pathlib.Path(os.environ["GIST_TINY_MODULE"])


@pytest.fixture(scope="session")
def tiny(tiny_path):
    """A decoder of 261 tokens with a tokenizer of bytes and an entry to embed."""
    return gist.load(tiny_path)


@pytest.fixture(scope="session")
def rewinds(tiny_path):
    """The same model with a state that can go back."""
    return gist.load(tiny_path.with_name("rewinds.gist"))


@pytest.fixture(scope="session")
def llama(tmp_path_factory):
    """The tiny Llama, closest to its reference, and what `transformers` computes."""
    return gist.compile(MODELS / "llama", compute="f32", kv_type="f32")
