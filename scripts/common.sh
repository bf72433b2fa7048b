# SPDX-License-Identifier: BSD-3-Clause
# Shared by quickstart and test: find out what is missing, ask, install, build.
# Sourced by POSIX shells; `assume_yes` is set by the caller.

BUILD_PACKAGES="gcc g++ libc6-dev make cmake ninja-build pkg-config
  libopenblas-openmp-dev liblapacke-dev libjansson-dev libcsv-dev"
RUN_PACKAGES="gnuplot-nox"
TEST_PACKAGES="libcriterion-dev clang libomp-dev binutils gfortran python3"

say() {
  printf '== %s\n' "$*"
}

fail() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

confirm() {
  [ "$assume_yes" = yes ] && return 0
  [ -t 0 ] || fail "no terminal to ask on; run again with --yes to install without asking"
  printf '%s [y/N] ' "$1"
  read -r answer
  case $answer in
    y | Y | yes) return 0 ;;
    *) return 1 ;;
  esac
}

missing_packages() {
  for package in "$@"; do
    dpkg-query -W -f='${db:Status-Status}\n' "$package" 2>/dev/null |
      grep -qx installed || printf '%s ' "$package"
  done
}

# check_without_apt NAME...: without apt we cannot install the packages NAME; say
# what is to be had by other means.
check_without_apt() {
  lacking=
  for command in cc c++ cmake ninja pkg-config gnuplot; do
    command -v $command >/dev/null || lacking="$lacking  the command $command\n"
  done
  if command -v pkg-config >/dev/null; then
    modules="lapacke openblas jansson"
    case " $* " in *" libcriterion-dev "*) modules="$modules criterion" ;; esac
    for module in $modules; do
      pkg-config --exists $module || lacking="$lacking  the library $module (pkg-config)\n"
    done
  fi
  [ -z "$lacking" ] && return 0
  printf 'This system has no apt-get, so nothing can be installed for you. Missing:\n' >&2
  # shellcheck disable=SC2059
  printf "$lacking" >&2
  fail "install these by your system's means, then run this again
(the Debian packages are: $(echo $*))"
}

# ensure_packages NAME...: install those that are missing, having asked.
ensure_packages() {
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    check_without_apt "$@"
    return
  fi
  missing=$(missing_packages "$@")
  if [ -z "$missing" ]; then
    say "every Debian package needed is installed"
    return
  fi
  say "missing Debian packages: $missing"
  privileged=
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null ||
      fail "installing needs root: run 'apt-get install $missing' as root, then this again"
    privileged=sudo
  fi
  confirm "Install them with '${privileged:+sudo }apt-get install'?" ||
    fail "cannot go on without: $missing"
  # shellcheck disable=SC2086
  {
    $privileged apt-get update -qq
    $privileged env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y -qq --no-install-recommends $missing
  } || fail "apt-get failed; its own message is above"
}

# build_preset NAME: configure and build one of CMakePresets.json.
build_preset() {
  say "configuring: cmake --preset $1"
  cmake --preset "$1"
  say "building: cmake --build --preset $1"
  cmake --build --preset "$1"
}

# parse_options "$@": --yes and --help, which prints the script's opening comment.
parse_options() {
  assume_yes=no
  for argument in "$@"; do
    case $argument in
      --yes) assume_yes=yes ;;
      --help | -h)
        sed -n '/^# Usage/,/^$/s/^# \{0,1\}//p' "$0"
        exit 0
        ;;
      *) fail "unknown argument '$argument'; try --help" ;;
    esac
  done
}
