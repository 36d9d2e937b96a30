#!/usr/bin/env bash
# The two commands of the README on a Debian with nothing installed, in a folder
# made by debootstrap, with the time of each. Needs root and 20 GB.
#
#   bash test/debian.sh [bookworm|trixie|both] [MIRROR]
#
# What is tested is HEAD. The folder, build/debian/NAME, stays when a command fails.
set -euo pipefail
cd "$(dirname "$0")/.."
source cmake/packages.sh

case "${1:-both}" in
both) names=(bookworm trixie) ;;
bookworm | trixie) names=("$1") ;;
*)
  echo "usage: bash test/debian.sh [bookworm|trixie|both] [MIRROR]" >&2
  exit 2
  ;;
esac
mirror=${2:-}
if [ "$(id -u)" != 0 ]; then
  echo "error: debootstrap and chroot need root: run this as root or with sudo" >&2
  exit 1
fi
install_packages debootstrap git

# Runs one command of the README and says how it ended.
run() { # name, root, command
  local start=$SECONDS result=passed
  echo "== $1: $3"
  chroot "$2" env -i HOME=/root LANG=C.UTF-8 "PATH=/usr/sbin:/usr/bin:/sbin:/bin" \
    "${network[@]}" bash -c "cd /root/gist && $3" || result=FAILED
  echo "== $1: $3: $result after $((SECONDS - start)) s"
  [ $result = passed ]
}

debian() { # name
  local root=$PWD/build/debian/$1 status=0
  rm -rf --one-file-system "$root"
  mkdir -p "$root"
  debootstrap --variant=minbase "$1" "$root" ${mirror:+"$mirror"} >"$root.log" 2>&1 || {
    tail -5 "$root.log" >&2
    return 1
  }
  # An installed Debian has its security updates too, which lie beside the rest.
  sed -i "s,^\(deb .*/debian\)/* $1 main\$,&\n\1-security $1-security main," \
    "$root/etc/apt/sources.list"
  # Certificates that this machine trusts in addition to those of Debian.
  cp -a /usr/local/share/ca-certificates "$root/usr/local/share/" 2>/dev/null || true
  mount -t proc proc "$root/proc"
  mount --rbind /sys "$root/sys"
  mount --rbind /dev "$root/dev"
  git clone -q . "$root/root/gist"
  run "$1" "$root" "bash samples/quickstart.sh" || status=1
  run "$1" "$root" "bash test/run.sh" || status=1
  umount -l "$root/proc" "$root/sys" "$root/dev"
  [ $status != 0 ] || rm -rf --one-file-system "$root"
  return $status
}

# The proxy and pip settings of this machine.
mapfile -t network < <(env | grep -iE '^((https?|no)_proxy|pip_[a-z_]+)=')
status=0
for name in "${names[@]}"; do
  # With mounts of its own, which end with it.
  export -f run debian
  unshare --mount --propagation private \
    bash -c 'set -euo pipefail; mirror=$1; network=("${@:3}"); debian "$2"' \
    debian "$mirror" "$name" "${network[@]}" || status=1
done
exit $status
