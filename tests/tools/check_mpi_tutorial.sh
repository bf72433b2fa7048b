#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check_mpi_tutorial.sh SOURCES COMMAND: run the commands of docs/mpi.md with each MPI that is
# installed, and check the results that it describes. Exit status 77 (skipped) without any.
set -eu
sources=$1 command=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
awk '/^```sh$/ { inside = 1; next } /^```$/ { inside = 0 } inside' \
  "$sources/docs/mpi.md" >commands.sh
[ "$(grep -c 'tsanom' commands.sh)" -ge 4 ]

# By default Open MPI starts no ranks for root, and not more than there are processors.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1
mkdir bin
ln -s "$command" bin/tsanom
PATH=$scratch/bin:$PATH

mpicc() {
  "mpicc.$mpi" "$@"
}
mpirun() {
  "mpirun.$mpi" "$@"
}
balance_of() {
  tsanom similar "$1" --json | sed -n 's/.*"load_balance": \([0-9.]*\).*/\1/p'
}
follow() {
  mkdir "$1"
  cp "$sources/examples/tutorial/rows.c" "$1"
  cd "$1"
  # shellcheck disable=SC1091
  . ../commands.sh >output
  cat output
}
# is_as_described DIRECTORY: the ranks' times depend on what else the machine does.
is_as_described() {
  grep -q '^Rank 3 takes .* times as long as the others in total_energy' "$1/output" &&
    [ "$(grep '^mean energy' "$1/output" | cut -c 1-15 | uniq | wc -l)" -eq 1 ] &&
    awk "BEGIN { exit !($(balance_of "$1/rows-run") < 0.75 && $(balance_of "$1/cyclic-run") > 0.75) }"
}

found=
for mpi in openmpi mpich; do
  if ! command -v mpirun.$mpi >/dev/null || ! command -v mpicc.$mpi >/dev/null; then
    case $mpi in
      openmpi) echo "skipped: needs the Debian packages openmpi-bin libopenmpi-dev" ;;
      mpich) echo "skipped: needs the Debian packages mpich libmpich-dev" ;;
    esac
    continue
  fi
  found=$mpi
  # A busy machine needs some tries.
  try=1
  while :; do
    (follow "$mpi.$try")
    if is_as_described "$mpi.$try"; then break; fi
    [ "$try" -lt 4 ]
    try=$((try + 1))
  done
done
[ -n "$found" ] || exit 77
