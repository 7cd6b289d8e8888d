#!/usr/bin/env bash
# Runs a command on a machine that has nothing: an empty Debian 12 with
# ca-certificates, make and git, in a chroot with mounts of its own. The sources
# of this tree (not what git ignores) lie in /aicf there, which is the working
# directory. It is how CI proves that the project installs what it needs.
#
#   scripts/empty_debian.sh [--root NAME] [--suite NAME] [--keep] [--cuda] COMMAND...
#   scripts/empty_debian.sh --check
#   scripts/empty_debian.sh [--suite NAME] --path NAME
#
#   --root NAME  which root (default: "main"). Roots are kept in
#                AICF_ROOTS (default: ~/.cache/aicf-roots) with what a command
#                installed, until setup.sh installs other packages.
#   --suite NAME another release of Debian than bookworm, for its Python
#   --keep       use the sources, and what was built, of the call before
#   --cuda       mount the CUDA toolkit that nvcc belongs to, read only
#   --check      say whether this machine can do it; if not, why
#   --path NAME  print the folder of a root
#
# It needs the rights of root and Debian's debootstrap, which it installs if apt
# is there. apt and pip are set up as on this machine. The compiler cache
# (CCACHE_DIR, default ~/.cache/ccache) is mounted; nothing else of this machine
# is visible. Its mounts end with it, whichever way it ends.
set -euo pipefail
source_tree="$(cd "$(dirname "$0")/.." && pwd)"
HOME=${HOME:-/root}
roots=${AICF_ROOTS:-$HOME/.cache/aicf-roots}
suite=bookworm

fail() {
  echo "empty_debian: $*" >&2
  exit 1
}

# Prints why there can be no root, and fails; or prints nothing.
check() {
  if [ "$(id -u)" -ne 0 ]; then
    echo "not root"
  elif ! unshare --mount --pid --fork true 2>/dev/null; then
    echo "mounts are not allowed"
  elif ! command -v debootstrap >/dev/null && ! command -v apt-get >/dev/null; then
    echo "no debootstrap and no apt-get"
  else
    return 0
  fi
  return 1
}

# The address that this machine's apt has for Debian 12 itself; other releases are
# there too.
mirror() {
  apt-get indextargets --format '$(RELEASE) $(COMPONENT) $(SITE)' \
    'Created-By: Packages' |
    awk '$1 == "bookworm" && $2 == "main" { print $3; exit }'
}

# Installs minbase into $1.
make_base() {
  if ! command -v debootstrap >/dev/null; then
    DEBIAN_FRONTEND=noninteractive apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq debootstrap >/dev/null
  fi
  local from
  from=$(mirror)
  [ -n "$from" ] || fail "apt on this machine has no source for Debian"
  echo "empty_debian: making a root (about a minute)"
  rm -rf "$1.part"
  mkdir -p "$(dirname "$1")"
  # A release newer than this debootstrap is made as the newest that it knows.
  local recipe=/usr/share/debootstrap/scripts/$suite
  [ -e "$recipe" ] || recipe=${recipe%/*}/sid
  if ! debootstrap --variant=minbase --include=ca-certificates,make,git \
      $suite "$1.part" "$from" "$recipe" >"$1.log" 2>&1; then
    tail -n 20 "$1.log" >&2
    fail "debootstrap failed"
  fi
  mv "$1.part" "$1"
}

# Behind the names of roots of other releases.
other() { [ "$suite" = bookworm ] || echo "-$suite"; }

# What the roots depend on. Each stamp has a folder of its own.
stamp() {
  { "$source_tree/scripts/setup.sh" --packages; echo "bookworm minbase 1"; } |
    sha256sum | cut -c -16
}

# Makes or keeps the root in the folder $1.
provide_root() {
  local folder old
  folder=$(dirname "$1")
  for old in "$roots"/*; do
    [[ ! $(basename "$old") =~ ^[0-9a-f]{16}$ || $old = "$folder" ]] || rm -rf "$old"
  done
  [ -d "$folder/base$(other)" ] || make_base "$folder/base$(other)"
  [ ! -d "$1" ] || return 0
  rm -rf "$1.part"
  cp -a "$folder/base$(other)" "$1.part"
  mv "$1.part" "$1"
}

# apt, pip, certificates and names of hosts as this machine has them.
configure() {
  local root=$1
  rm -rf "$root/etc/apt"
  cp -a /etc/apt "$root/etc/apt"
  if [ "$suite" = bookworm ]; then
    cp -a /usr/share/keyrings/. "$root/usr/share/keyrings/"
  else # its own keyring knows its release
    rm -rf "$root"/etc/apt/sources.list "$root"/etc/apt/sources.list.d/*
    echo "deb $(mirror) $suite main" >"$root/etc/apt/sources.list"
  fi
  cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
  [ ! -f /etc/ssl/certs/ca-certificates.crt ] ||
    cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
  mkdir -p "$root/root/.config/pip"
  rm -f "$root/etc/pip.conf" "$root/root/.config/pip/pip.conf"
  [ ! -f /etc/pip.conf ] || cp -L /etc/pip.conf "$root/etc/"
  [ ! -f "$HOME/.config/pip/pip.conf" ] ||
    cp -L "$HOME/.config/pip/pip.conf" "$root/root/.config/pip/"
}

# The sources, as a clone of the working tree would have them.
copy_tree() {
  rm -rf "$1/aicf"
  mkdir "$1/aicf"
  git -C "$source_tree" -c safe.directory='*' ls-files -z --cached --others \
    --exclude-standard |
    (cd "$source_tree" && tar -c --null --ignore-failed-read -T -) 2>/dev/null |
    tar -x -C "$1/aicf" --no-same-owner
}

# The folder of the toolkit that nvcc belongs to; nvcc itself may be a script.
toolkit() {
  command -v nvcc >/dev/null || fail "--cuda: no nvcc on this machine"
  nvcc --dryrun -x cu /dev/null 2>&1 | sed -n 's|^#\$ _HERE_=\(.*\)/bin$|\1|p'
}

# In a mount namespace of its own: mounts, then the command in the chroot.
inside() {
  local root=$1 cuda=$2
  shift 2
  local path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
  mount -t proc proc "$root/proc"
  mount -t sysfs -o ro sysfs "$root/sys"
  mount -t tmpfs tmpfs "$root/dev"
  local device
  for device in null zero full random urandom tty; do
    touch "$root/dev/$device"
    mount --bind "/dev/$device" "$root/dev/$device"
  done
  ln -s /proc/self/fd "$root/dev/fd"
  mkdir "$root/dev/shm" "$root/dev/pts"
  mount -t tmpfs tmpfs "$root/dev/shm"
  mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
  ln -s pts/ptmx "$root/dev/ptmx"
  mount -t tmpfs tmpfs "$root/tmp"
  mount_own "${CCACHE_DIR:-$HOME/.cache/ccache}" "$root/root/.cache/ccache"
  local folder
  for folder in $(pip_folders); do
    mount_own "$folder" "$root$folder" ro
  done
  if [ -n "$cuda" ]; then
    mount_own "$cuda" "$root$cuda" ro
    path=$cuda/bin:$path
  fi
  local keep=() name
  for name in $(compgen -e | grep -iE '^(PIP_|.*_PROXY$|CI$|CCACHE_MAXSIZE$|JOBS$)'); do
    keep+=("$name=${!name}")
  done
  exec chroot "$root" /usr/bin/env -i HOME=/root PATH="$path" LANG=C.UTF-8 \
    TERM=dumb DEBIAN_FRONTEND=noninteractive "${keep[@]}" \
    /bin/sh -c 'cd /aicf && exec "$@"' sh "$@"
}

# mount_own FROM TO [ro]
mount_own() {
  mkdir -p "$1" "$2"
  mount --bind "$1" "$2"
  [ "${3:-}" != ro ] || mount -o remount,bind,ro "$2"
}

# Folders on this machine that pip's configuration names. An index at F/simple
# links to files elsewhere in F.
pip_folders() {
  cat /etc/pip.conf "$HOME/.config/pip/pip.conf" 2>/dev/null |
    grep -E '^ *(find-links|index-url|extra-index-url) *=' |
    grep -oE '[= ](file://)?/[^ ]+' | sed 's|^[= ]||; s|^file://||; s|/simple/*$||' |
    sort -u |
    while read -r folder; do
      [ ! -d "$folder" ] || echo "$folder"
    done
}

name=main keep_tree='' cuda=''
while [ $# -gt 0 ]; do
  case $1 in
    --root) [ $# -gt 1 ] || fail "--root needs a name"; name=$2; shift 2 ;;
    --keep) keep_tree=1; shift ;;
    --cuda) cuda=$(toolkit); shift ;;
    --check) check; exit ;;
    --suite) [ $# -gt 1 ] || fail "--suite needs a name"
             suite=$2; shift 2 ;;
    --path) [ $# -gt 1 ] || fail "--path needs a name"
            echo "$roots/$(stamp)/$2$(other)"; exit ;;
    --inside) shift; inside "$@" ;;
    -*) fail "unknown option $1 (see the head of $0)" ;;
    *) break ;;
  esac
done
[ $# -gt 0 ] || fail "which command? (see the head of $0)"
[[ $name =~ ^[a-z0-9-]+$ && $name != base ]] || fail "a root cannot be called '$name'"
[[ $suite =~ ^[a-z]+$ ]] || fail "'$suite' is not a release of Debian"
reason=$(check) || fail "no root on this machine: $reason"
root=$roots/$(stamp)/$name$(other)
provide_root "$root"
configure "$root"
if [ -z "$keep_tree" ]; then
  copy_tree "$root"
elif [ ! -d "$root/aicf" ]; then
  fail "--keep: root '$name' has no sources yet"
fi
exec unshare --mount --pid --fork --kill-child --propagation private \
  "$source_tree/scripts/empty_debian.sh" --inside "$root" "$cuda" "$@"
