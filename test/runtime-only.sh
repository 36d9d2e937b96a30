#!/usr/bin/env bash
# The runtime builds with g++, CMake and flatc alone, and what it builds links no
# LLVM.
set -euo pipefail
cd "$(dirname "$0")/.."
# Hides clang and ninja, as on a machine without them. The speed of the
# programs does not matter here, so nothing is optimised, and the files of a
# library are compiled as one: that takes a third of the time. The folder is not
# that of the preset, which people and pip use.
folder=build/runtime-only-test
cmake --preset runtime-only -B "$folder" -G "Unix Makefiles" -DGIST_BUILD_TESTS=OFF -DCMAKE_CXX_COMPILER=g++ \
  -DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_FLAGS_RELEASE=-O0 -DCMAKE_UNITY_BUILD=ON \
  -DCMAKE_UNITY_BUILD_BATCH_SIZE=0 -DCMAKE_DISABLE_FIND_PACKAGE_LLVM=ON \
  -DCMAKE_DISABLE_FIND_PACKAGE_MLIR=ON >/dev/null
cmake --build "$folder" -j "$(nproc)" >/dev/null
for program in {"$folder",build/dev}/bin/gist{,-run,-plan,-serve}; do
  if ldd "$program" | grep -E 'LLVM|MLIR'; then
    echo "$program links LLVM" >&2
    exit 1
  fi
done
"$folder"/bin/gist --version
"$folder"/bin/gist-run --version
"$folder"/bin/gist-plan --version
"$folder"/bin/gist-serve --version
