#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Usage: overhead.sh BUILD [PAIRS [SIZE [WORKLOAD...]]]
# Processor time (user and system, all processes) that recording adds to the workloads,
# on two threads: plain and recorded runs in turn, the order changing from pair to pair.
# The medians of both, the median over the pairs of what is added, in per cent, and the
# interval that has it with a probability of at least 95 % (by ranks; no distribution is
# assumed). What it takes to start recording is in it: SIZE tiny shows little else.
# BUILD is a build folder.
set -eu
build=$(cd "$1" && pwd)
pairs=${2:-12}
size=${3:-short}
shift $(($# < 3 ? $# : 3))
if [ $# -eq 0 ]; then set -- arraybench bt cg jacobi lu sp; fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive
TIMEFORMAT='%U %S'

seconds() { { time "$@" >/dev/null; } 2>&1 | awk '{ print $1 + $2 }'; }
plain() { seconds "$program" --size "$size" >plain; }
recorded() {
  seconds "$build/tools/tsanom/tsanom" record -o run -- "$program" --size "$size" >recorded
  rm -rf run
}

# The median of column $1 of the pairs.
median() {
  sort -g -k "$1,$1" pairs | awk -v c="$1" '
    { v[NR] = $c }
    END { print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'
}

# Of column 3 the values of the ranks that leave out at most 2.5 % at each end, if as
# many are above the median as below: the binomial distribution of 1/2.
interval() {
  sort -g -k 3,3 pairs | awk '
    { v[NR] = $3 }
    END {
      p = 0.5 ^ NR
      for (rank = 0; rank < NR / 2 && tail + p <= 0.025; rank++) {
        tail += p
        p *= (NR - rank) / (rank + 1)
      }
      if (rank) print v[rank], v[NR + 1 - rank]
      else print "- -"
    }'
}

printf '%-11s %9s %9s %9s %9s %9s\n' workload plain recorded 'added, %' from to
for name in "$@"; do
  program=$build/examples/workloads/$name
  plain
  for ((i = 0; i < pairs; i++)); do
    if ((i % 2)); then plain; recorded; else recorded; plain; fi
    echo "$(cat plain) $(cat recorded)" | awk '{ print $1, $2, 100 * ($2 - $1) / $1 }'
  done >pairs
  # shellcheck disable=SC2046
  printf '%-11s %9.3f %9.3f %9.2f %9.2f %9.2f\n' "$name" "$(median 1)" "$(median 2)" \
    "$(median 3)" $(interval)
done
