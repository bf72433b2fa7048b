#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check_tutorial.sh SOURCES COMMAND CC: run the commands of docs/tutorial.md and check the
# results that it describes.
set -eu
sources=$1 command=$2 compiler=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
awk '/^```sh$/ { inside = 1; next } /^```$/ { inside = 0 } inside' \
  "$sources/docs/tutorial.md" >commands.sh
[ "$(grep -c '^tsanom' commands.sh)" -ge 8 ]

tsanom() {
  "$command" "$@"
}
cc() {
  "$compiler" "$@"
}
follow() {
  mkdir "$1"
  cp "$sources/examples/tutorial/bodies.c" "$1"
  cd "$1"
  # shellcheck disable=SC1091
  . ../commands.sh >output
  cat output
}

# The kinds of threads depend on times: where something else takes the processor of one of
# them, there are others. A busy machine needs some tries.
has_kinds() {
  grep -q '^there are 2 kinds of threads' "$1" && grep -q '^CCCR: attract' "$1" &&
    grep -q '^there are 1 kinds of threads' "$1"
}
try=1
while :; do
  (follow "$try")
  if has_kinds "$try/output"; then break; fi
  [ "$try" -lt 12 ]
  try=$((try + 1))
done
cd "$try"

grep -qx 'momentum kept' output
if grep -q LOST output; then exit 1; fi
[ -s shares.svg ]
"$command" period --json slow | grep -q '"period": 2'
