"""The option of the integration tests."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from full_option import pytest_addoption, pytest_collection_modifyitems, pytest_configure
