#!/usr/bin/env bash
# Fails when code calls the compiler's overflow builtins. Only
# runtime/support/Checked.h does, and all other code uses that.
set -euo pipefail
cd "$(dirname "$0")/.."
found=$(git grep -nE '__builtin_[a-z]*(add|sub|mul)l*_overflow|\b(checked(Add|Sub|Mul)|(Add|Sub|Mul)Overflow)\(' -- \
  '*.cpp' '*.h' '*.c' ':!runtime/support/Checked.h' || true)
if [ -n "$found" ]; then
  echo "$found"
  echo "checked arithmetic belongs in runtime/support/Checked.h" >&2
  exit 1
fi
