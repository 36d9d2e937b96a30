"""The option of the integration tests."""

import pytest


def pytest_addoption(parser):
    parser.addoption("--full", action="store_true", help="the tests marked `full` too")


def pytest_configure(config):
    config.addinivalue_line("markers", "full: takes long and shows little that others do not")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--full"):
        return
    left_out = [item for item in items if item.get_closest_marker("full")]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]
