#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# processors.sh PROGRAM LAPACK
# The same fits with the kernels that OpenBLAS chooses on four processors, of which this one has the
# instructions: all bits are equal in a
# build without LAPACKE (LAPACK is OFF), those of the lines "all" in every build.
set -eu
program=$1 lapack=$2 failed=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
lines=all
[ "$lapack" = ON ] || lines='\(all\|own\)'
has() {
  grep -q "^flags.* $1\( \|$\)" /proc/cpuinfo
}
cores=Prescott
if has sse4_2; then cores="$cores Nehalem"; fi
if has avx2 && has fma; then cores="$cores Haswell"; fi
if has avx512dq && has avx512vl; then cores="$cores SkylakeX"; fi
for core in $cores; do
  OPENBLAS_CORETYPE=$core "$program" >"$scratch/$core"
  grep "^$lines " "$scratch/$core" >"$scratch/$core.equal"
  echo "$core: $(diff "$scratch/Prescott" "$scratch/$core" | grep -c '^>' || true) of $(wc -l <"$scratch/$core") lines differ from Prescott's"
  diff "$scratch/Prescott.equal" "$scratch/$core.equal" || failed=1
done
exit $failed
