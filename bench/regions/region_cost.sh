#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Usage: region_cost.sh BUILD [PIECES]
# What recording adds to an empty parallel region, in nanoseconds of the thread that
# opens it: for each compiler, number of threads and OMP_WAIT_POLICY the least of five
# runs' medians, plain and recorded in turn. BUILD is a build folder.
#
#   added    once the program's iterations are found
#   mean     the same of the means, the pages of the run's files included
#   N=1000   recorded with --heartbeat-every 1000: no iterations are looked for
#   idle     in a program that has a sleeping thread besides, plain and recorded
#   tool     what LLVM's runtime takes for callbacks that do nothing
set -eu
here=$(cd "$(dirname "$0")" && pwd)
command=$(cd "$1" && pwd)/tools/tsanom/tsanom
pieces=${2:-300}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# run OUTPUT COMMAND...
run() {
  output=$1
  shift
  "$@" >>"$output"
  rm -rf run
}
least() { sort -g -k "$2,$2" "$1" | head -1 | cut -d ' ' -f "$2"; }
minus() { echo "$1 - $2" | bc; }

printf '%-8s %7s %-8s %8s %8s %7s %7s %7s %7s %7s\n' compiler threads policy plain \
  recorded added mean N=1000 idle tool
for compiler in gcc clang; do
  "$compiler" -O2 -fopenmp -pthread "$here/region_cost.c" -o cost 2>/dev/null || continue
  rm -f tool.so
  "$compiler" -O2 -shared -fPIC "$here/empty_tool.c" -o tool.so 2>/dev/null || true
  for setting in '1 active' '2 active' '2 passive'; do
    # shellcheck disable=SC2086
    set -- $setting
    export OMP_NUM_THREADS="$1" OMP_WAIT_POLICY="$2"
    count=$((pieces / ($1 * $1)))
    rm -f plain recorded counted plain.idle recorded.idle tool
    for turn in 1 2 3 4 5; do
      run plain ./cost "$count"
      run recorded "$command" record -o run -- ./cost "$count"
      run counted "$command" record --heartbeat-every 1000 -o run -- ./cost "$count"
      run plain.idle ./cost "$count" idle
      run recorded.idle "$command" record -o run -- ./cost "$count" idle
      if [ -e tool.so ]; then run tool env LD_PRELOAD="$work/tool.so" ./cost "$count"; fi
    done
    tool=-
    if [ -e tool.so ]; then tool=$(minus "$(least tool 1)" "$(least plain 1)"); fi
    printf '%-8s %7d %-8s %8s %8s %7s %7s %7s %7s %7s\n' "$compiler" "$1" "$2" \
      "$(least plain 1)" "$(least recorded 1)" \
      "$(minus "$(least recorded 1)" "$(least plain 1)")" \
      "$(minus "$(least recorded 2)" "$(least plain 2)")" \
      "$(minus "$(least counted 1)" "$(least plain 1)")" \
      "$(minus "$(least recorded.idle 1)" "$(least plain.idle 1)")" "$tool"
  done
done
