# Sourced by tests that need a Debian with nothing installed; they need root.

# own_mounts SCRIPT ARGUMENTS...: starts a script again with mounts of its own,
# which end with it.
own_mounts() {
  if [ "$(id -u)" != 0 ]; then
    echo "error: debootstrap and chroot need root: run this as root or with sudo" >&2
    exit 1
  fi
  [ -n "${GIST_OWN_MOUNTS:-}" ] ||
    GIST_OWN_MOUNTS=1 exec unshare --mount --propagation private bash "$@"
}

# make_root NAME ROOT [MIRROR]: the Debian of that name in the folder ROOT.
make_root() {
  local root=$2
  rm -rf --one-file-system "$root"
  mkdir -p "$root"
  debootstrap --variant=minbase "$1" "$root" ${3:+"$3"} >"$root.log" 2>&1 || {
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
}

remove_root() { # root
  umount -l "$1/proc" "$1/sys" "$1/dev"
  rm -rf --one-file-system "$1"
}

# in_root ROOT COMMAND: with the proxy and pip settings of this machine.
in_root() {
  local network
  mapfile -t network < <(env | grep -iE '^((https?|no)_proxy|pip_[a-z_]+)=')
  chroot "$1" env -i HOME=/root LANG=C.UTF-8 "PATH=/usr/sbin:/usr/bin:/sbin:/bin" \
    DEBIAN_FRONTEND=noninteractive "${network[@]}" bash -c "$2"
}
