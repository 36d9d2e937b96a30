#!/usr/bin/env bash
# Models in PyTorch through torch-mlir: compiled, run, and compared with PyTorch.
# Installs both in an environment of their own. Usage: run.sh BUILD_DIR
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$(cd "$1" && pwd)
source "$root/cmake/packages.sh"
cd "$root"
python_environment build/python-torch test/requirements-torch.txt
# torch-mlir asks for a nightly torch, which it does not need.
build/python-torch/bin/pip install -q --disable-pip-version-check --no-deps torch-mlir==20261001
python=$root/build/python-torch/bin/python3
[ -d "$build/python/gist" ] || {
  echo "$build has no Python package: configure with -DGIST_PYTHON=ON" >&2
  exit 1
}
export PYTHONPATH=$build/python PYTHONDONTWRITEBYTECODE=1
cd "$here"
# As pip installs it, where PyTorch finds the backend by its name. A wheel of the
# runtime calls gist-compile.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$python" -m pip install -q --disable-pip-version-check --no-deps --target "$scratch/wheel" "$root" \
  --config-settings=cmake.define.GIST_RUNTIME_ONLY=ON --config-settings=cmake.define.GIST_BUILD="$build" \
  --config-settings=build-dir="$scratch/build"
PYTHONPATH=$scratch/wheel PATH=$build/bin:$PATH "$python" -m pytest -q -p no:cacheprovider -W ignore test_wheel.py
"$python" -m mypy --strict --cache-dir /dev/null -p gist
"$python" -m pytest -q -p no:cacheprovider -W ignore test_torch.py
GIST_PYTHON=$python bash "$root/samples/07-pytorch/run.sh" "$build"
