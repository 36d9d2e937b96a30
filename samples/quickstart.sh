#!/usr/bin/env bash
# From nothing to a first result: installs what is missing, builds, and runs the
# samples.
set -euo pipefail
cd "$(dirname "$0")/.."
source cmake/packages.sh

install_packages "${gist_build_packages[@]}"
mkdir -p build
echo "== building (minutes the first time; build/release.log has the details)"
if ! { cmake --preset release -DGIST_BUILD_TESTS=OFF &&
  cmake --build --preset release; } >build/release.log 2>&1; then
  tail -30 build/release.log >&2
  exit 1
fi

echo "== a selection: which words of a text represent the others"
bash samples/01-select/run.sh build/release
