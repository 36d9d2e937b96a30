#!/usr/bin/env bash
# Installs a build into a scratch prefix and builds a project that knows Gist
# only through find_package(Gist). Usage: run.sh BUILD_DIR
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for component in runtime compiler; do
  cmake --install "$build" --component $component --prefix "$scratch/prefix" >"$scratch/$component.log"
done
# Components become packages, and no two packages may have the same file.
sed -n -e 's,//*,/,g' -e 's/^-- \(Installing\|Up-to-date\): //p' "$scratch"/{runtime,compiler}.log |
  sort | uniq -d |
  while read -r path; do
    [ -d "$path" ] || { echo "both components install $path" >&2; exit 1; }
  done
cmake -G Ninja -S "$here" -B "$scratch/build" -DCMAKE_PREFIX_PATH="$scratch/prefix" \
  -DCMAKE_CXX_COMPILER=clang++-22 >/dev/null
cmake --build "$scratch/build" >/dev/null
# The type must come out of the installed dialect as it went in.
found=$("$scratch/build/user")
expected='!gist.selection<3x?>'
if [ "$found" != "$expected" ]; then
  echo "a project on the installed package printed '$found', expected '$expected'" >&2
  exit 1
fi
"$scratch/prefix/bin/gist-opt" --version >/dev/null
