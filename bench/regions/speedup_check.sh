#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Usage: speedup_check.sh BUILD [ITERATIONS]
# Plain timed runs of a steady program, on one thread and on two (the least of three each,
# in turn), against the output of `tsanom speedup`: of one recorded run, the first
# iterations of which ran on one thread, and of two recorded runs, on one thread and on
# two. And the time predicted when a quarter of the first had passed against the time it
# took. BUILD is a build folder. The fewer ITERATIONS, the more of that quarter ran on
# one thread, and the less is known of two.
set -eu
iterations=${2:-400}
# shellcheck source=bench/regions/common.sh
. "$(dirname "$0")/common.sh"
export OMP_NUM_THREADS=2

# The first number of that name in JSON on the standard input.
number() { sed -n "s/^ *\"$1\": \([-0-9.e+]*\),*\$/\1/p" | "$2" -n 1; }

for compiler in gcc clang; do
  build "$compiler" steady || continue
  rm -f ones twos
  for _ in 1 2 3; do
    OMP_NUM_THREADS=1 ./steady "$iterations" >>ones
    ./steady "$iterations" >>twos
  done
  one=$(sort -g ones | head -1) two=$(sort -g twos | head -1)
  "$tsanom" record --baseline 1:20 -o "$compiler" -- ./steady "$iterations" >seconds
  "$tsanom" speedup "$compiler" --baseline 1 --json >all
  OMP_NUM_THREADS=1 "$tsanom" record -o "$compiler.1" -- ./steady "$iterations" >seconds
  "$tsanom" record -o "$compiler.2" -- ./steady "$iterations" >seconds
  "$tsanom" speedup "$compiler.2" --baseline "$compiler.1" --json >both
  took=$(number last_s head <all)
  quarter=$(echo "$took / 4" | bc -l)
  "$tsanom" speedup "$compiler" --until "$quarter" --iterations "$iterations" --json >part
  sed -n '/"prediction"/,/}/p' part >prediction
  predicted=$(number total_s tail <prediction)
  printf '%s: plain %s s and %s s, speedup %.3f; of one recorded run %.3f, of two %.3f\n' \
    "$compiler" "$one" "$two" "$(echo "$one / $two" | bc -l)" \
    "$(number speedup head <all)" "$(number speedup head <both)"
  printf '%s: after a quarter %.3f s in all were predicted; it took %.3f s: %+.2f %%\n' \
    "$compiler" "$predicted" "$took" \
    "$(echo "100 * ($predicted - $took) / $took" | bc -l)"
done
