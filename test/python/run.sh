#!/usr/bin/env bash
# The Python package: a wheel of the runtime alone, made of a build and installed
# as a user does, in an environment that has nothing else; then the package of the
# build, which has the compiler linked. Usage: run.sh BUILD_DIR
#
# With --whole it is the wheel that `pip install .` builds instead, with the
# compiler, and the one that it builds where no LLVM is: both take long.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$(cd "$1" && pwd)
whole=${2:-}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() {
  echo "$1" >&2
  exit 1
}
python=/usr/bin/python3
[ -x "$python" ] || python=python3
quiet=(-q --disable-pip-version-check)

# make_environment DIR WHEEL_OPTIONS...: builds a wheel and installs it.
make_environment() {
  local folder=$1
  shift
  "$python" -m venv "$folder"
  "$folder/bin/pip" wheel "${quiet[@]}" --no-deps -w "$folder/wheels" "$root" "$@"
  "$folder/bin/pip" install "${quiet[@]}" "$folder"/wheels/gist_compiler-*.whl -r "$here/requirements.txt"
}

"$build/bin/gist-make-tiny-module" "$scratch/tiny.gist"
"$build/bin/gist-make-tiny-module" "$scratch/rewinds.gist" 7 --rewinds
export GIST_TINY_MODULE=$scratch/tiny.gist PYTHONDONTWRITEBYTECODE=1
test_package() { # PYTHON FILES...
  (cd "$scratch" && "$1" -m pytest -q -p no:cacheprovider "${@:2}")
}

if [ "$whole" = --whole ]; then
  make_environment "$scratch/whole" --config-settings=build-dir="$scratch/build"
  # No gist-compile can be found.
  PATH=/usr/bin:/bin test_package "$scratch/whole/bin/python" \
    "$here/test_runtime.py" "$here/test_compile.py"
  # GCC gives MLIR's traits other names: tools/python/CMakeLists.txt.
  if "$scratch/whole/bin/pip" wheel "${quiet[@]}" --no-deps -w "$scratch/none" "$root" \
    --config-settings=cmake.define.CMAKE_CXX_COMPILER=g++ \
    --config-settings=build-dir="$scratch/gcc" >"$scratch/gcc.log" 2>&1; then
    fail "the compiler was built with GCC"
  fi
  grep -q "needs Clang, found GNU" "$scratch/gcc.log" || fail "$(cat "$scratch/gcc.log")"
  make_environment "$scratch/alone" --config-settings=build-dir="$scratch/build-alone" \
    --config-settings=cmake.define.GIST_RUNTIME_ONLY=ON
  PATH=$build/bin:/usr/bin:/bin test_package "$scratch/alone/bin/python" "$here/test_runtime.py"
  exit
fi

make_environment "$scratch/runtime" --config-settings=cmake.define.GIST_RUNTIME_ONLY=ON \
  --config-settings=cmake.define.GIST_BUILD="$build" --config-settings=build-dir="$scratch/build"
# The sources of the extension, and nothing that the build has.
compiled=$(find "$scratch/build" -name '*.o' | wc -l)
[ "$compiled" -gt 0 ] && [ "$compiled" -lt 10 ] ||
  fail "the wheel compiled $compiled files; expected those of tools/python alone"
wheel=$(echo "$scratch"/runtime/wheels/gist_compiler-*.whl)
size=$(stat -c %s "$wheel")
[ "$size" -lt $((8 << 20)) ] || fail "the wheel of the runtime has $size bytes; 8 MiB are allowed"
case $wheel in *-cp310-abi3-*) ;; *) fail "$wheel is not for the stable ABI" ;; esac
installed=$("$scratch/runtime/bin/python" -c 'import gist; print(gist.__path__[0])')
for library in "$installed"/*.so "$installed"/bin/*; do
  if ldd "$library" | grep -E 'LLVM|MLIR'; then fail "$library links LLVM"; fi
done
# The tools are commands of the environment, whatever PATH is.
version=$("$scratch/runtime/bin/python" -c 'import gist; print(gist.__version__)')
for tool in gist gist-run gist-plan gist-serve; do
  said=$(env -i "$scratch/runtime/bin/$tool" --version)
  case "$said" in "$tool $version"*) ;; *) fail "$tool --version says '$said', expected $version" ;; esac
done
env -i "$scratch/runtime/bin/gist" info "$scratch/tiny.gist" | grep -q '^entries:' ||
  fail "gist info shows no entries"
[ ! -e "$scratch/runtime/bin/gist-compile" ] || fail "a wheel without the compiler has gist-compile"
"$scratch/runtime/bin/mypy" --strict --cache-dir "$scratch/mypy" -p gist
"$scratch/runtime/bin/mypy" --strict --cache-dir "$scratch/mypy" "$here/typed_user.py"
[ -d "$build/python/gist" ] || fail "$build has no Python package: configure with -DGIST_PYTHON=ON"
# The same with the compiler in the process, beside it: each is one process.
PYTHONPATH=$build/python test_package "$scratch/runtime/bin/python" \
  "$here/test_compile.py" >"$scratch/linked.log" 2>&1 &
linked=$!
status=0
PATH=$build/bin:$PATH test_package "$scratch/runtime/bin/python" \
  "$here/test_runtime.py" "$here/test_compile.py" || status=1
wait "$linked" || status=1
cat "$scratch/linked.log"
exit $status
