#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Usage: region_cost.sh BUILD [REPEATS]
# What recording adds to an empty parallel region: for each compiler and number of threads
# the least of five runs, plain and recorded in turn. BUILD is a build folder.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
command=$(cd "$1" && pwd)/tools/tsanom/tsanom
repeats=${2:-31}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export OMP_WAIT_POLICY=active

least() { printf '%s\n' "$@" | sort -g | head -1; }

printf '%-8s %7s %9s %9s %9s %14s\n' compiler threads plain recorded added 'added, N=1000'
for compiler in gcc clang; do
  "$compiler" -O2 -fopenmp "$here/region_cost.c" -o cost 2>/dev/null || continue
  for threads in 1 2; do
    export OMP_NUM_THREADS=$threads
    plain= recorded= counted=
    for run in 1 2 3 4 5; do
      plain="$plain $(./cost "$repeats")"
      recorded="$recorded $("$command" record -o r.$run -- ./cost "$repeats")"
      counted="$counted $("$command" record --heartbeat-every 1000 -o n.$run -- \
                          ./cost "$repeats")"
      rm -rf r.$run n.$run
    done
    # shellcheck disable=SC2086
    p=$(least $plain) r=$(least $recorded) n=$(least $counted)
    printf '%-8s %7d %9s %9s %9s %14s\n' "$compiler" "$threads" "$p" "$r" \
      "$(echo "$r - $p" | bc)" "$(echo "$n - $p" | bc)"
  done
done
