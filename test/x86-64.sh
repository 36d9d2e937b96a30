#!/usr/bin/env bash
# Whole modules for x86-64, run in an emulator where this machine is not x86-64:
# the tests of compiled models with a gist-compile that compiles for another
# machine, and a gist-run and gist-session-test built for it. Usage: x86-64.sh
# BUILD_DIR PYTHON
set -euo pipefail
cd "$(dirname "$0")/.."
source cmake/packages.sh
build=$(cd "$1" && pwd)
python=$2
target=$PWD/build/x86-64

emulator=
if [ "$(uname -m)" != x86_64 ]; then
  install_packages g++-x86-64-linux-gnu qemu-user
  emulator="qemu-x86_64 -cpu max -L /usr/x86_64-linux-gnu"
fi

# FlatBuffers is headers here, which are the same for every machine; its package
# lies where those of this one do, under a name that its version chooses. Libraries
# of this machine are not looked for.
flatbuffers=$(find /usr/lib /usr/share -iname flatbuffersconfig.cmake -o \
  -iname flatbuffers-config.cmake | head -1)
[ -n "$flatbuffers" ] || {
  echo "error: FlatBuffers has no CMake file here: install libflatbuffers-dev" >&2
  exit 1
}
cmake -S . -B "$target" -DCMAKE_BUILD_TYPE=Release -DGIST_RUNTIME_ONLY=ON \
  -DFlatBuffers_DIR="$(dirname "$flatbuffers")" \
  -DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON \
  -DGIST_BUILD_TESTS=OFF -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=x86_64 \
  -DCMAKE_C_COMPILER=x86_64-linux-gnu-gcc \
  -DCMAKE_CXX_COMPILER=x86_64-linux-gnu-g++ >/dev/null
cmake --build "$target" -j "$(nproc)" >/dev/null
x86_64-linux-gnu-g++ -std=c++20 -O1 -I . \
  test/integration/gist-session-test.cpp \
  -Wl,--start-group "$target"/lib/libGist*.a -Wl,--end-group \
  -o "$target/bin/gist-session-test" -pthread -ldl

# Tools of the same names, for a CPU with AVX2: no emulator in Debian knows
# AVX-512, and kernels need fused multiply-adds.
tools=$target/haswell
mkdir -p "$tools"
for name in gist-run gist-session-test; do
  printf '#!/bin/sh\nexec %s "%s" "$@"\n' "$emulator" "$target/bin/$name" \
    >"$tools/$name"
done
printf '#!/bin/sh\nexec "%s" "$@" --triple=x86_64-linux-gnu --cpu=haswell\n' \
  "$build/bin/gist-compile" >"$tools/gist-compile"
chmod +x "$tools"/gist-*
PATH="$tools:$PATH" "$python" -m pytest -q -p no:cacheprovider \
  test/integration/test_compile.py
