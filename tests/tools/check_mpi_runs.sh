#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check_mpi_runs.sh SOURCES COMMAND MPI RUNS: record a program of 6 ranks RUNS times; each time
# the rank with double work must be named, with its function.
set -eu
sources=$1 command=$(realpath "$2") mpi=$3 runs=$4
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
# By default Open MPI starts no ranks for root, and not more than there are processors.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1
"mpicc.$mpi" -g -O1 -pthread "$sources/tests/tools/programs/ranks.c" -o ranks
named=0
for run in $(seq "$runs"); do
  "mpirun.$mpi" -n 6 "$command" record -o "run$run" -- ./ranks plain 20 400000 3 >output
  "$command" similar "run$run" >output
  if head -n 1 output | grep -q '^Rank 3 does .* in solve'; then named=$((named + 1)); fi
  rm -r "run$run"
done
echo "$mpi: named in $named of $runs runs"
[ "$named" -eq "$runs" ]
