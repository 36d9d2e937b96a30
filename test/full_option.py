# Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The option `--full`, for a conftest.py to import: without it tests marked
`full` are left out."""


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
