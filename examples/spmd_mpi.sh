#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# usage: spmd_mpi.sh TSANOM MPIEXEC ARGUMENT... PROGRAM
#
# Runs the MPI example and analyses both runs that its ranks wrote: in the first the
# triangle is to blame, in the second all ranks are alike. The ranks may share
# processors, so that times differ by more than the default tolerance.
set -eu
tsanom=$1
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Open MPI starts neither more ranks than processors nor any for root, unless told so.
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
OMPI_MCA_rmaps_base_oversubscribe=1 "$@" "$folder/run"

echo
"$tsanom" similar "$folder/run.rows" --fixed --tolerance 0.15 | tee "$folder/before"
grep -q '^CCCR: triangle$' "$folder/before"
grep -q '^solve (1-CCR) ---> triangle (2-CCR & CCCR)$' "$folder/before"
grep -q '^root cause: steps$' "$folder/before"
echo
"$tsanom" similar "$folder/run.steps" --fixed --tolerance 0.3 --check
