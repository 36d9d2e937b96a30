#!/usr/bin/env bash
# Fails when code parses JSON itself. One file does, runtime/support/Json.cpp,
# which bounds how deep it nests, and all other code uses that. The header of
# safetensors is parsed as a stream, without a tree of unneeded values.
set -euo pipefail
cd "$(dirname "$0")/.."
found=$(git grep -nE '[Jj]son(_t)?::(parse|sax_parse|accept)\(' -- \
  'runtime/*' 'passes/*' 'tools/*' ':!runtime/support/Json.cpp' \
  ':!passes/Import/Files/Safetensors.cpp' || true)
# Converting 2e85 to an integer is undefined: integerOf() checks the range first.
found+=$(git grep -nE '[^:]get(_to)?<(u?int[0-9]*_t|size_t|int|unsigned|std::vector<[^>]*>)>\(' -- \
  'runtime/*' 'passes/*' 'tools/*' ':!runtime/support/Json.cpp' || true)
if [ -n "$found" ]; then
  echo "$found"
  echo "JSON is parsed, and integers are taken from it, in runtime/support/Json.h" >&2
  exit 1
fi
