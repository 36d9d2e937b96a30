# Sourced by tests that need a Debian with nothing installed; they need root. Callers
# test what these functions return, so no command in them relies on set -e.

# own_mounts SCRIPT ARGUMENTS...: starts a script again with mounts of its own,
# which end with it, however it ends.
own_mounts() {
  if [ "$(id -u)" != 0 ]; then
    echo "error: debootstrap and chroot need root: run this as root or with sudo" >&2
    exit 1
  fi
  [ -z "${GIST_OWN_MOUNTS:-}" ] || return 0
  unshare --mount true 2>/dev/null || {
    echo "error: this system does not let root mount, as in a container: run this outside of it, or with --privileged" >&2
    exit 1
  }
  GIST_OWN_MOUNTS=1 exec unshare --mount --propagation private bash "$@"
}

# make_root NAME ROOT [MIRROR]: the Debian of that name in the folder ROOT. Where
# CCACHE_DIR is set, the compiler's cache is that one: a second run builds faster.
make_root() {
  local root=$2 start=$SECONDS
  remove_root "$root" && mkdir -p "$root" || return 1
  if ! debootstrap --variant=minbase "$1" "$root" ${3:+"$3"} >"$root.log" 2>&1; then
    tail -5 "$root.log" >&2
    echo "error: debootstrap made no Debian $1: expected a network and a mirror that has it; MIRROR names another" >&2
    unmount_root "$root"
    return 1
  fi
  # An installed Debian has its security updates too, which lie beside the rest.
  sed -i "s,^\(deb .*/debian\)/* $1 main\$,&\n\1-security $1-security main," \
    "$root/etc/apt/sources.list"
  grep -q -- "$1-security" "$root/etc/apt/sources.list" || {
    echo "error: nothing says where security updates of $1 are: expected a mirror whose address ends in /debian" >&2
    return 1
  }
  # Certificates that this machine trusts in addition to those of Debian.
  cp -a /usr/local/share/ca-certificates "$root/usr/local/share/" 2>/dev/null || true
  mount -t proc proc "$root/proc" &&
    mount --rbind /sys "$root/sys" &&
    mount --rbind /dev "$root/dev" &&
    if [ -n "${CCACHE_DIR:-}" ]; then
      mkdir -p "$CCACHE_DIR" "$root$CCACHE_DIR" &&
        mount --bind "$CCACHE_DIR" "$root$CCACHE_DIR"
    fi || {
    echo "error: $root did not get its mounts: see the message above" >&2
    unmount_root "$root"
    return 1
  }
  echo "== $1: debootstrap: $((SECONDS - start)) s"
}

# unmount_root ROOT: what stays of a folder are files, which can be removed safely.
unmount_root() {
  local place
  for place in proc sys dev ${CCACHE_DIR:+"$CCACHE_DIR"}; do
    ! mountpoint -q "$1/$place" || umount -l "$1/$place" || return 1
  done
}

remove_root() { # root
  unmount_root "$1" && rm -rf --one-file-system "$1"
}

# in_root ROOT COMMAND: with the proxy, pip and ccache settings of this machine.
in_root() {
  local settings
  mapfile -t settings < <(env | grep -iE '^((https?|no)_proxy|pip_[a-z_]+|ccache_[a-z]+)=')
  chroot "$1" env -i HOME=/root LANG=C.UTF-8 "PATH=/usr/sbin:/usr/bin:/sbin:/bin" \
    DEBIAN_FRONTEND=noninteractive "${settings[@]}" bash -c "$2"
}

apt_in_root() { # root, arguments of apt-get
  in_root "$1" "apt-get -y -qq ${*:2}" >"$1.log" 2>&1 || {
    tail -5 "$1.log" >&2
    echo "error: 'apt-get ${*:2}' failed in $1: expected a network and a mirror that is whole" >&2
    return 1
  }
}
