#!python
"""Becomes the tool of this script's name, which lies in the package gist."""

import importlib.util
import os
import sys

# The package itself is not imported: that takes longer than most commands.
package = importlib.util.find_spec("gist")
if package is None or not package.submodule_search_locations:
    sys.exit("the Python package gist was not found: install gist-compiler again")
tool = os.path.join(package.submodule_search_locations[0], "bin", os.path.basename(sys.argv[0]))
try:
    os.execv(tool, [tool, *sys.argv[1:]])
except OSError as error:
    sys.exit(f"{tool}: {error.strerror}; install gist-compiler again")
