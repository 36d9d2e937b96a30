#!/usr/bin/env bash
# Compiles a small transformer written in PyTorch and compares what it computes.
# Needs torch and torch-mlir; without them it says so and does nothing.
# Usage: run.sh BUILD_DIR
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
python=${GIST_PYTHON:-$here/../../build/python-torch/bin/python3}
[ -x "$python" ] || python=python3
export PYTHONPATH=$build/python PYTHONDONTWRITEBYTECODE=1
if ! "$python" -c 'import torch, torch_mlir, gist' 2>/dev/null; then
  echo "skipped: $python has no torch and torch-mlir; test/torch/run.sh installs both"
  exit 0
fi
"$python" -W ignore "$here/main.py"
