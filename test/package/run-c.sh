#!/usr/bin/env bash
# A project in C on the runtime alone: installed from a build, found by CMake and
# by pkg-config, with no LLVM and no C++ compiler in sight.
# Usage: run-c.sh BUILD_DIR C_COMPILER
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
compiler=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
prefix=$scratch/prefix
fail() {
  echo "$1" >&2
  exit 1
}

cmake --install "$build" --component runtime --prefix "$prefix" >/dev/null
if grep -rlE '\b(MLIR|LLVM)\b' "$prefix"/lib*/cmake --include='*Targets*.cmake'; then
  fail "the runtime's package asks for LLVM"
fi

# What is not there cannot be used: neither LLVM nor a C++ compiler.
without=(-DCMAKE_DISABLE_FIND_PACKAGE_MLIR=ON -DCMAKE_DISABLE_FIND_PACKAGE_LLVM=ON
  -DCMAKE_CXX_COMPILER=/nowhere/c++ -DCMAKE_C_COMPILER="$compiler")
CXX=/nowhere/c++ cmake -S "$root/samples/06-c-api" -B "$scratch/build" \
  -DCMAKE_PREFIX_PATH="$prefix" "${without[@]}" >"$scratch/log" 2>&1 ||
  { cat "$scratch/log" >&2; exit 1; }
cmake --build "$scratch/build" >"$scratch/log" 2>&1 || { cat "$scratch/log" >&2; exit 1; }

# The same from one line, with what pkg-config says.
pc=$(dirname "$(find "$prefix" -name gist.pc)")
"$compiler" "$root/samples/06-c-api/conversation.c" -o "$scratch/by-line" \
  $(PKG_CONFIG_PATH=$pc pkg-config --cflags --libs gist)

# The component that was not installed is named.
mkdir "$scratch/user"
cat >"$scratch/user/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(User LANGUAGES C)
find_package(Gist REQUIRED COMPONENTS compiler)
CMAKE
if cmake -S "$scratch/user" -B "$scratch/user/build" -DCMAKE_PREFIX_PATH="$prefix" \
  "${without[@]}" >"$scratch/log" 2>&1; then
  fail "the component 'compiler' was found in a package without it"
fi
grep -q 'compiler' "$scratch/log" || fail "nothing says that 'compiler' is missing"

# Both hold a conversation; the second question's prompt is the new part alone.
"$build/bin/gist-make-tiny-module" "$scratch/tiny.gist"
library=$(dirname "$(find "$prefix" -name libgist.so)")
for program in "$scratch/build/conversation" "$scratch/by-line"; do
  LD_LIBRARY_PATH=$library "$program" "$scratch/tiny.gist" one two >"$scratch/out" 2>&1 ||
    { cat "$scratch/out" >&2; fail "$program failed"; }
  [ "$(grep -c '^> ' "$scratch/out")" = 2 ] || fail "expected two turns"
  [ "$(grep -ac 'tokens read' "$scratch/out")" = 2 ] || fail "expected two answers"
done
ldd "$scratch/by-line" >"$scratch/libraries"
grep -q 'libgist.so.1' "$scratch/libraries" || fail "the program does not load libgist.so.1"
if grep -E 'LLVM|MLIR' "$scratch/libraries"; then fail "the program loads LLVM"; fi
