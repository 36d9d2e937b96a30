#!/usr/bin/env bash
# Runs clang-tidy over every source of a build. Usage: check-tidy.sh BUILD_DIR
set -euo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
git ls-files 'dialect/*.cpp' 'passes/*.cpp' 'runtime/*.cpp' 'tools/*.cpp' |
  xargs -P "$(nproc)" -n 4 clang-tidy-22 -p "$build" --quiet 2>/dev/null
