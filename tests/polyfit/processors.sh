#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# processors.sh PROGRAM LAPACK
# The same fits with the kernels that OpenBLAS chooses on four processors: all bits are equal in a
# build without LAPACKE (LAPACK is OFF), those of the lines "all" in every build.
set -eu
program=$1 lapack=$2 failed=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
lines=all
[ "$lapack" = ON ] || lines='\(all\|own\)'
for core in Prescott Nehalem Haswell SkylakeX; do
  OPENBLAS_CORETYPE=$core "$program" >"$scratch/$core"
  grep "^$lines " "$scratch/$core" >"$scratch/$core.equal"
  echo "$core: $(diff "$scratch/Prescott" "$scratch/$core" | grep -c '^>' || true) of $(wc -l <"$scratch/$core") lines differ from Prescott's"
  diff "$scratch/Prescott.equal" "$scratch/$core.equal" || failed=1
done
exit $failed
