# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds the models beside the tests."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
