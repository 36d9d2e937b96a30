# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes `reference` and `harness` importable from the tests in this folder, which
have an option."""

import sys
from pathlib import Path

here = Path(__file__).parent
sys.path[:0] = [str(here), str(here.parent)]

from full_option import pytest_addoption, pytest_collection_modifyitems, pytest_configure
