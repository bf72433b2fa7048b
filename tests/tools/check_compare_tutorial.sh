#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check_compare_tutorial.sh SOURCES COMMAND CC: run the commands of docs/compare.md, with
# fewer steps of the program, and check the results that it describes.
set -eu
sources=$1 command=$2 compiler=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
sed 's/BODIES = 3000/BODIES = 600/' "$sources/examples/tutorial/bodies.c" >bodies.c
awk '/^```sh$/ { inside = 1; next } /^```$/ { inside = 0 } inside' \
  "$sources/docs/compare.md" >commands.sh
[ "$(grep -c 'tsanom' commands.sh)" -ge 6 ]

tsanom() {
  "$command" "$@"
}
cc() {
  "$compiler" "$@"
}
# A busy machine needs some tries.
try=1
while :; do
  mkdir "$try"
  # shellcheck disable=SC1091
  (cd "$try" && cp ../bodies.c . && . ../commands.sh) >output
  if grep -q '^B is slower: an execution takes' output; then break; fi
  [ "$try" -lt 4 ]
  try=$((try + 1))
done
grep -q '"verdict"' "$try/comparison.json"
grep -Eq '^(attract|[0-9]+ of|No slow|Since|Until)' output
