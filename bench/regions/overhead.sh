#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Usage: overhead.sh BUILD [PAIRS [SIZE]]
# Processor time (user and system) of the workloads, plain and recorded in turn: the
# medians, and the median of the differences in per cent. BUILD is a build folder.
set -eu
build=$(cd "$1" && pwd)
pairs=${2:-5}
size=${3:-short}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive
TIMEFORMAT='%U %S'

seconds() { { time "$@" >/dev/null; } 2>&1 | awk '{ print $1 + $2 }'; }
median() { sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

printf '%-11s %9s %9s %11s\n' workload plain recorded 'added, %'
for name in arraybench bt cg jacobi lu sp; do
  program=$build/examples/workloads/$name
  : >plain; : >recorded; : >added
  for ((i = 0; i < pairs; i++)); do
    a=$(seconds "$program" --size "$size")
    b=$(seconds "$build/tools/tsanom/tsanom" record -o run.$i -- "$program" --size "$size")
    rm -rf run.$i
    echo "$a" >>plain
    echo "$b" >>recorded
    echo "$a $b" | awk '{ print 100 * ($2 - $1) / $1 }' >>added
  done
  printf '%-11s %9s %9s %11s\n' $name "$(median <plain)" "$(median <recorded)" \
    "$(median <added)"
done
