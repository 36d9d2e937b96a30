#!/usr/bin/env bash
# Makes the files of a release from a build: a wheel, a tarball and Debian
# packages, with checksums.
#
#   bash cmake/release.sh [BUILD_DIR [OUTPUT_DIR]]
#
# BUILD_DIR is build/release, which samples/quickstart.sh builds too; OUTPUT_DIR is
# build/dist. Wheel and tarball have all libraries that not every Linux has; for
# what remains, this system's libc is the oldest on which they run, so files for
# all are made on Debian 12.
set -euo pipefail
cd "$(dirname "$0")/.."
source cmake/packages.sh
build=${1:-build/release}
output=${2:-build/dist}
install_packages "${gist_build_packages[@]}" "${gist_release_packages[@]}"
mkdir -p "$output"
output=$(cd "$output" && pwd)
# Files of an earlier release would be installed with these.
rm -rf "$output"/{gist_compiler-*.whl,gist-*.tar.gz,gist-*.deb,SHA256SUMS,making.*}
scratch=$(mktemp -d "$output/making.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

version=$(sed -n 's/^project(Gist VERSION \([0-9.]*\) .*/\1/p' CMakeLists.txt)
machine=$(uname -m)
libc=$(getconf GNU_LIBC_VERSION | cut -d' ' -f2)
[ "$libc" = 2.36 ] ||
  echo "note: these files need libc $libc or later; on Debian 12 they are made for libc 2.36 or later"

# Every Linux with this libc has these, and they must be the system's.
system='/(ld-linux[^/]*|lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s))\.so'

# What loads libraries below a folder.
find_programs() { # folder, action of find
  find "$1" -type f \( -path '*/bin/*' -o -name '*.so*' \) "${@:2}"
}

# bundle ROOT: copies the libraries that programs and extensions below ROOT load
# to ROOT/lib, with their licences, and lets all of them look there alone.
bundle() {
  local root=$1 file library package libraries
  mkdir -p "$root/lib/licences"
  libraries=$(find_programs "$root" -exec ldd {} +)
  if grep 'not found' <<<"$libraries"; then
    echo "error: this system lacks the libraries above, which programs load: install their packages"
    return 1
  fi
  while read -r library; do
    cp -L "$library" "$root/lib/"
    file=$(realpath "$library")
    # Debian's older packages name what is now in /usr/lib as files of /lib.
    package=$({ dpkg -S "$file" "${file#/usr}" 2>/dev/null || true; } | head -1 | cut -d: -f1)
    cp "/usr/share/doc/$package/copyright" "$root/lib/licences/$package"
  done < <(awk '$2 == "=>" { print $3 }' <<<"$libraries" | grep -vE "$system" | sort -u)
  find_programs "$root" -print | while read -r file; do
    library=$(realpath --relative-to "$(dirname "$file")" "$root/lib")
    patchelf --set-rpath "\$ORIGIN/$library" "$file"
  done
}

echo "== build: $build"
if [ ! -e "$build/CMakeCache.txt" ]; then
  cmake --preset release -B "$build" -DGIST_BUILD_TESTS=OFF >"$build.log"
fi
grep -q '^GIST_RUNTIME_ONLY:BOOL=OFF$' "$build/CMakeCache.txt" || {
  echo "error: $build is a build without the compiler, which a release has: name another, or configure it with -DGIST_RUNTIME_ONLY=OFF" >&2
  exit 1
}
grep -q '^CMAKE_BUILD_TYPE:STRING=Release$' "$build/CMakeCache.txt" ||
  echo "note: $build is not a release build: its programs are slower, and name files of this machine"
cmake --build "$build" >"$scratch/build.log" || { tail -30 "$scratch/build.log" >&2; exit 1; }
echo "== build: $SECONDS s"

make_wheel() {
  local python=/usr/bin/python3
  [ -x "$python" ] || python=python3
  "$python" -m venv "$scratch/python"
  "$scratch/python/bin/pip" install -q --disable-pip-version-check wheel
  "$scratch/python/bin/pip" wheel -q --disable-pip-version-check --no-deps -w "$scratch" . \
    --config-settings=cmake.define.GIST_BUILD="$build" --config-settings=build-dir="$scratch/build" \
    --config-settings=cmake.define.GIST_RUNTIME_ONLY=OFF
  "$scratch/python/bin/wheel" unpack -d "$scratch/wheel" "$scratch"/gist_compiler-*.whl
  local tree=$scratch/wheel/gist_compiler-$version
  bundle "$tree/gist"
  sed -i "s/^\(Tag: .*\)-linux_$machine\$/\1-manylinux_${libc/./_}_$machine/" \
    "$tree/gist_compiler-$version.dist-info/WHEEL"
  "$scratch/python/bin/wheel" pack -d "$output" "$tree"
}

make_tarball() {
  local name=gist-$version-linux-$machine component
  for component in runtime compiler; do
    cmake --install "$build" --component $component --strip --prefix "$scratch/$name"
  done
  bundle "$scratch/$name"
  cp CHANGELOG.md "$scratch/$name/"
  tar -C "$scratch" --owner=0 --group=0 -czf "$output/$name.tar.gz" "$name"
}

make_debian_packages() {
  (cd "$build" && cpack -G DEB -B "$scratch/deb")
  mv "$scratch"/deb/*.deb "$output/"
}

for part in wheel tarball debian_packages; do
  start=$SECONDS
  # In the background, where the first command that fails ends it.
  make_$part >"$scratch/$part.log" 2>&1 &
  wait $! || { tail -30 "$scratch/$part.log" >&2; exit 1; }
  echo "== ${part/_/ }: $((SECONDS - start)) s"
done
cd "$output"
sha256sum ./*"$version"*.* | tee SHA256SUMS
