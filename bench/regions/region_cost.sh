#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Usage: region_cost.sh BUILD [LAYOUTS [PIECES [COMPILER:THREADS:POLICY...]]]
# What recording adds to an empty parallel region, in nanoseconds of the thread that
# opens it, by compiler, number of threads and OMP_WAIT_POLICY. BUILD is a build folder.
# How long the environment is decides where a runtime's data lie, and by that what a
# region costs, plain or recorded, which differs by more than recording adds. Each of
# LAYOUTS environments is therefore used for all columns, and the medians are compared.
# A setting takes some ten seconds.
#
#   plain    the region as it is
#   added    by recording, once the program's iterations are found
#   mean     the same of the means, the pages of the run's files included
#   N=1000   recorded with --heartbeat-every 1000: no iterations are looked for
#   idle     in a program that has a sleeping thread besides, plain and recorded
#   ompt     LLVM's runtime: recorded with --ompt
set -eu
layouts=${2:-24}
pieces=${3:-200}
here=$(cd "$(dirname "$0")" && pwd)
tsanom=$(cd "$1" && pwd)/tools/tsanom/tsanom
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit
shift $(($# < 3 ? $# : 3))
if [ $# -eq 0 ]; then
  set -- gcc:1:active gcc:2:active gcc:2:passive clang:1:active clang:2:active \
    clang:2:passive
fi

recorded() {
  "$tsanom" record -o run "$@"
  rm -rf run
}
# The median of a column of a file.
median() { cut -d ' ' -f "$2" "$1" | sort -g | sed -n "$(((layouts + 1) / 2))p"; }
# What the first file has more than the second.
added() { echo "$(median "$1" "$3") - $(median "$2" "$3")" | bc; }

printf '%-8s %7s %-8s %7s %7s %7s %7s %7s %7s\n' compiler threads policy plain added \
  mean N=1000 idle ompt
for setting in "$@"; do
  compiler=${setting%%:*} policy=${setting##*:}
  threads=${setting#*:}
  threads=${threads%:*}
  # Where the compiler and its runtime are there.
  "$compiler" -O2 -fopenmp -pthread "$here/region_cost.c" -o region_cost 2>/dev/null || continue
  export OMP_NUM_THREADS="$threads" OMP_WAIT_POLICY="$policy"
  count=$((pieces / (threads * threads)))
  rm -f plain recorded counted plain.idle recorded.idle ompt
  layout=0
  while [ $layout -lt "$layouts" ]; do
    PADDING=$(printf "%$((16 * layout))s" '')
    export PADDING
    ./region_cost "$count" >>plain
    ./region_cost "$count" idle >>plain.idle
    recorded -- ./region_cost "$count" >>recorded
    recorded -- ./region_cost "$count" idle >>recorded.idle
    recorded --heartbeat-every 1000 -- ./region_cost "$count" >>counted
    if [ "$compiler" = clang ]; then recorded --ompt -- ./region_cost "$count" >>ompt; fi
    layout=$((layout + 1))
  done
  ompt=-
  if [ -e ompt ]; then ompt=$(added ompt plain 1); fi
  printf '%-8s %7d %-8s %7s %7s %7s %7s %7s %7s\n' "$compiler" "$threads" "$policy" \
    "$(median plain 1)" "$(added recorded plain 1)" "$(added recorded plain 2)" \
    "$(added counted plain 1)" "$(added recorded.idle plain.idle 1)" "$ompt"
done
