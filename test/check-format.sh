#!/usr/bin/env bash
# Fails when a C++ source is not formatted as .clang-format says, or when a
# script has a line that bash cannot parse.
set -euo pipefail
cd "$(dirname "$0")/.."
git ls-files '*.cpp' '*.h' '*.c' |
  xargs clang-format-22 --dry-run -Werror
git ls-files '*.sh' '.ci/run' | xargs -n1 bash -n
