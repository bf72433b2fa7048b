# SPDX-License-Identifier: BSD-3-Clause
# Functions of the scripts: find missing packages, ask, install, build. For POSIX shells.
# The caller sets `assume_yes`.

BUILD_PACKAGES="gcc g++ libc6-dev make cmake ninja-build pkg-config
  libopenblas-openmp-dev liblapacke-dev libjansson-dev libcsv-dev"
RUN_PACKAGES="gnuplot-nox"
TEST_PACKAGES="libcriterion-dev python3"
# Without one of these, the tests that need it are skipped; their messages name it.
PYTHON_PACKAGES="python3-cffi python3-numpy python3-pip python3-venv python3-setuptools
  python3-wheel python3-pytest python3-scipy python3-sklearn python3-pandas python3-tqdm
  python3-distributed python3-mpi4py python3-matplotlib openmpi-bin mypy"
OPTIONAL_PACKAGES="clang libomp-dev gfortran universal-ctags groff-base libopenmpi-dev mpich
  libmpich-dev r-base-core $PYTHON_PACKAGES"
CHECK_PACKAGES="git libomp-14-dev libclang-rt-14-dev gcovr clang-format clang-tidy doxygen
  doxygen-awesome-css libjs-mathjax libbenchmark-dev pyflakes3 reuse abigail-tools"

say() {
  printf '== %s\n' "$*"
}

fail() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

confirm() {
  [ "$assume_yes" = yes ] && return 0
  [ -t 0 ] || fail "standard input is not a terminal; use --yes to install without asking"
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

# check_without_apt NAME...: without apt-get the packages NAME cannot be installed here. Print
# the commands and libraries that are missing, and fail.
check_without_apt() {
  lacking=
  for command in cc c++ cmake ninja pkg-config gnuplot; do
    command -v $command >/dev/null || lacking="$lacking  the command $command\n"
  done
  case " $* " in *" python3 "*)
    command -v python3 >/dev/null || lacking="$lacking  the command python3\n"
    ;;
  esac
  if command -v pkg-config >/dev/null; then
    modules="lapacke openblas jansson"
    case " $* " in *" libcriterion-dev "*) modules="$modules criterion" ;; esac
    for module in $modules; do
      pkg-config --exists $module || lacking="$lacking  the library $module (pkg-config)\n"
    done
  fi
  [ -z "$lacking" ] && return 0
  printf 'apt-get not found; install these by other means:\n' >&2
  # shellcheck disable=SC2059
  printf "$lacking" >&2
  fail "packages are missing; their names in Debian are: $(echo $*)"
}

# print_sizes NAME...: what apt-get would load and what it would need on the disk. The lists of
# packages may be missing, as in a new container: then nothing. Without a lock it needs no root.
print_sizes() {
  {
    LC_ALL=C apt-get -o Debug::NoLocking=1 install --assume-no --no-install-recommends "$@" 2>&1 ||
      true # the answer is no
  } |
    sed -n -e 's/^[0-9]* upgraded, \([0-9]*\) newly installed.*/\1 packages, with those they need./p' \
      -e '/^Need to get\|^After this operation/p' |
    xargs
}

# ensure_packages NAME...: install the missing packages after asking.
ensure_packages() {
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    check_without_apt "$@"
    return
  fi
  missing=$(missing_packages "$@")
  if [ -z "$missing" ]; then
    say "all required Debian packages are installed"
    return
  fi
  say "missing Debian packages: $missing"
  privileged=
  [ "$(id -u)" -eq 0 ] || privileged=sudo
  # shellcheck disable=SC2086
  sizes=$(print_sizes $missing)
  if [ -z "$sizes$privileged" ]; then
    apt-get update -qq || fail "apt-get failed; its own message is above"
    # shellcheck disable=SC2086
    sizes=$(print_sizes $missing)
  fi
  say "${sizes:-their size is not known: 'apt-get update' was never run}"
  [ -z "$privileged" ] || command -v sudo >/dev/null ||
    fail "installation needs root; run 'apt-get install $missing' as root"
  confirm "Install them with '${privileged:+sudo }apt-get install'?" ||
    fail "packages are missing: $missing"
  # shellcheck disable=SC2086
  {
    $privileged apt-get update -qq
    $privileged env DEBIAN_FRONTEND=noninteractive \
      apt-get -o DPkg::Lock::Timeout=600 install -y -qq --no-install-recommends $missing
  } || fail "apt-get failed; its own message is above"
}

# build_preset NAME [OPTION...]: configure a preset of CMakePresets.json, with options of
# cmake(1), and build it.
build_preset() {
  preset=$1
  shift
  say "configuring: cmake --preset $preset $*"
  cmake --preset "$preset" "$@" || return
  say "building: cmake --build --preset $preset"
  cmake --build --preset "$preset"
}

# print_usage: print the opening comment of the script.
print_usage() {
  sed -n '/^# Usage/,/^$/s/^# \{0,1\}//p' "$0"
}

# parse_options "$@": --yes and --help.
parse_options() {
  assume_yes=no
  for argument in "$@"; do
    case $argument in
      --yes) assume_yes=yes ;;
      --help | -h)
        print_usage
        exit 0
        ;;
      *) fail "unknown argument '$argument'; try --help" ;;
    esac
  done
}
