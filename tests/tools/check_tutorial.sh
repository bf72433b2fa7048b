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

# The repaired program's threads behave the same unless something else took the processor of
# one of them, which does not happen each time.
for try in 1 2 3; do
  (follow "$try")
  if grep -q '^there are 1 kinds of threads' "$try/output"; then break; fi
done
cd "$try"

grep -qx 'momentum kept' output
if grep -q LOST output; then exit 1; fi
grep -q '^there are 2 kinds of threads' output
grep -q '^CCCR: attract' output
grep -q '^there are 1 kinds of threads' output
[ -s shares.svg ]
"$command" period --json slow | grep -q '"period": 2'
