#!/usr/bin/env bash
# Compiles a selection and runs it on a text. Usage: run.sh BUILD_DIR [TEXT]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
text=${2:-$here/text.txt}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
llvm=/usr/lib/llvm-22/bin

"$build/bin/gist-opt" "$here/select.mlir" -gist-reference |
  "$llvm/mlir-translate" --mlir-to-llvmir -o "$scratch/select.ll"
"$llvm/clang" -O2 -Wno-override-module "$here/main.c" "$scratch/select.ll" -lm \
  -o "$scratch/select"
"$scratch/select" <"$text"
