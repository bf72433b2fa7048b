# SPDX-License-Identifier: BSD-3-Clause
# Functions of the scripts that build on another release of Debian: each release is a tree of its
# own, made by debootstrap; needs root and the network. Include it after scripts/common.sh. `trees`
# is the directory of the trees. The variable MIRROR names Debian's mirror (default: that of
# debootstrap).

# parse_tree_options "$@": --yes, --directory DIR and --help.
parse_tree_options() {
  trees=$PWD/build/chroots
  assume_yes=no
  while [ $# -gt 0 ]; do
    case $1 in
      --yes) assume_yes=yes ;;
      --directory)
        trees=$2
        shift
        ;;
      --help | -h)
        print_usage
        exit 0
        ;;
      *) fail "unknown argument '$1'; try --help" ;;
    esac
    shift
  done
}

require_chroot() {
  [ "$(id -u)" -eq 0 ] || fail "debootstrap and chroot need root"
  command -v debootstrap >/dev/null || fail "needs the Debian package debootstrap"
  mkdir -p "$trees"
  trap unmount_all EXIT
}

mounted=
# Lazily: a process that ends just now may still read there, and a failure here would be the script's.
unmount_all() {
  for tree in $mounted; do umount --lazy "$trees/$tree/proc"; done
}

inside() { # SUITE COMMAND...
  suite=$1
  shift
  chroot "$trees/$suite" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive "$@"
}

# install_inside SUITE PACKAGE... A tree that a crash of the machine damaged is made again: without
# fsync() 400 packages take a minute instead of ten on a busy disk.
install_inside() {
  suite=$1
  shift
  inside "$suite" apt-get -o DPkg::Lock::Timeout=600 -o DPkg::Options::=--force-unsafe-io \
    install -y -qq --no-install-recommends "$@"
}

# The tree of a release, with packages; SUITE-NAME is another tree of it.
prepare() { # SUITE PACKAGE...
  suite=$1 tree=$trees/$1
  shift
  if [ ! -e "$tree/prepared" ]; then
    [ -e "$tree/usr/bin/apt-get" ] ||
      debootstrap --variant=minbase "${suite%%-*}" "$tree" ${MIRROR:+"$MIRROR"} || return
    # A mirror may be older than its lists allow.
    inside "$suite" apt-get -o Acquire::Check-Valid-Until=false update -qq || return
    touch "$tree/prepared"
  fi
  # The command finds its own file in /proc.
  if ! mountpoint -q "$tree/proc"; then
    mount -t proc proc "$tree/proc" || return
    mounted="$mounted $suite"
  fi
  install_inside "$suite" "$@"
}

# copy_sources SUITE DIRECTORY: the files of this checkout, without what git ignores.
copy_sources() {
  rm -rf "${trees:?}/$1$2"
  mkdir -p "$trees/$1$2"
  git ls-files -z --cached --others --exclude-standard | tar -c --null -T - | tar -x -C "$trees/$1$2"
}
