#!/usr/bin/env bash
# Fails when code opens a file to write it. Files that users get are written by
# runtime/support/AtomicFile, which leaves the old file until the new one is whole;
# the others below are notes of the runtime's own and files of one process.
set -euo pipefail
cd "$(dirname "$0")/.."
found=$(git grep -nE '\bofstream\b|raw_fd_ostream [a-z]|fopen\([^)]*"[wa]|O_WRONLY|O_RDWR' -- \
  'runtime/*.cpp' 'passes/*.cpp' 'tools/*.cpp' \
  ':!runtime/support/AtomicFile.cpp' \
  ':!runtime/module/Trust.cpp' `# empty files, whose names are fingerprints` \
  ':!passes/Target/LinkObject.cpp' `# what the linker gets, in a folder that goes away` \
  ':!tools/running/Compiler.cpp' `# what a program that is called says` \
  ':!tools/gfx942-sim' ':!tools/simulator' `# for tests` || true)
if [ -n "$found" ]; then
  echo "$found"
  echo "files are written by runtime/support/AtomicFile" >&2
  exit 1
fi
