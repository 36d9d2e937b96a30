# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes `reference` and `harness` importable from the tests in this folder, which
have an option."""

import ctypes
import platform
import sys
from pathlib import Path

# Linux gives a process the tiles of AMX when it asks for them, as the runtime does:
# arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA). Without AMX it refuses.
if platform.machine() == "x86_64":
    ctypes.CDLL(None).syscall(158, 0x1023, 18)

here = Path(__file__).parent
sys.path[:0] = [str(here), str(here.parent)]

from full_option import pytest_addoption, pytest_collection_modifyitems, pytest_configure
