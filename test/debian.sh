#!/usr/bin/env bash
# The two commands of the README on a Debian with nothing installed, in a folder
# made by debootstrap, with the time of each; then modules for x86-64, where this
# machine is another. Needs root and 20 GB.
#
#   bash test/debian.sh [bookworm|trixie|both] [MIRROR]
#
# What is tested is HEAD. The folder, build/debian/NAME, stays when a command fails.
# Everything is compiled anew unless CCACHE_DIR names a cache to use and to fill.
set -euo pipefail
cd "$(dirname "$0")/.."
source cmake/packages.sh
source test/chroot.sh

case "${1:-both}" in
both) names=(bookworm trixie) ;;
bookworm | trixie) names=("$1") ;;
*)
  echo "usage: bash test/debian.sh [bookworm|trixie|both] [MIRROR]" >&2
  exit 2
  ;;
esac
own_mounts test/debian.sh "$@"
install_packages debootstrap git

# Runs one command of the README and says how it ended.
run() { # name, root, command
  local start=$SECONDS result=passed
  echo "== $1: $3"
  in_root "$2" "cd /root/gist && $3" || result=FAILED
  echo "== $1: $3: $result after $((SECONDS - start)) s"
  [ $result = passed ]
}

status=0
for name in "${names[@]}"; do
  root=$PWD/build/debian/$name result=0
  make_root "$name" "$root" "${2:-}" || { status=1; continue; }
  git clone -q . "$root/root/gist" || { status=1; unmount_root "$root"; continue; }
  run "$name" "$root" "bash samples/quickstart.sh" || result=1
  run "$name" "$root" "bash test/run.sh" || result=1
  [ "$(uname -m)" = x86_64 ] ||
    run "$name" "$root" "bash test/x86-64.sh build/dev build/python/bin/python3" || result=1
  if [ $result = 0 ]; then
    remove_root "$root"
  else
    status=1
    unmount_root "$root"
  fi
done
exit $status
