# Sourced by test/run.sh and samples/quickstart.sh: what they need of Debian.
#
# install_packages NAME... installs those that are missing, as root or through
# sudo, and says which; nothing happens when all are there. Callers may test it, so
# no command in it relies on set -e.

# What the runtime and its tools are built with: headers, and flatc,
# which makes one.
gist_runtime_packages=(
  cmake flatbuffers-compiler g++ libcli11-dev libeigen3-dev libflatbuffers-dev
  libxxhash-dev make nlohmann-json3-dev
)

# Optional: editable lines in a chat.
gist_optional_packages=(libedit-dev pkgconf)

# The compiler and everything to build it.
gist_build_packages=(
  "${gist_runtime_packages[@]}" "${gist_optional_packages[@]}"
  ca-certificates ccache clang-22 git liblld-22-dev libmlir-22-dev libzstd-dev
  lld-22 llvm-22-dev llvm-22-tools mlir-22-tools ninja-build python3 python3-venv
  zlib1g-dev
)

# What the tests need on top.
gist_test_packages=(
  clang-format-22 clang-tidy-22 libgtest-dev openmpi-bin pkgconf
  python3-dev
)

# What cmake/release.sh needs on top.
gist_release_packages=(dpkg-dev file patchelf python3-dev)

install_packages() {
  local missing=() name
  for name in "$@"; do
    dpkg-query -W -f='${Status}' "$name" 2>/dev/null |
      grep -q '^install ok installed$' || missing+=("$name")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  echo "== installing: ${missing[*]}"
  local as_root=()
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || {
      echo "error: these packages need root or sudo to install" >&2
      return 1
    }
    as_root=(sudo)
  fi
  "${as_root[@]}" apt-get update -qq &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
      --no-install-recommends "${missing[@]}" >/dev/null || {
    echo "error: apt-get did not install ${missing[*]}: expected Debian 12 or 13 with its security updates, and a network" >&2
    return 1
  }
}

# python_environment DIR REQUIREMENTS... makes a virtual environment once and
# again when a requirements file changes.
python_environment() {
  local folder=$1
  shift
  local stamp
  stamp=$(cat "$@" | sha256sum | cut -d' ' -f1)
  [ "$(cat "$folder/stamp" 2>/dev/null)" != "$stamp" ] || return 0
  echo "== Python environment: $(grep -hv '^#' "$@" | tr '\n' ' ')"
  local python=/usr/bin/python3
  [ -x "$python" ] || python=python3
  "$python" -m venv "$folder"
  local file
  for file in "$@"; do
    "$folder/bin/pip" install -q --disable-pip-version-check -r "$file"
  done
  echo "$stamp" >"$folder/stamp"
}
