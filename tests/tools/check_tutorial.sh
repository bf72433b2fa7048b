#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check_tutorial.sh SOURCES COMMAND CC: what docs/tutorial.md tells the reader to type, and
# what it says he will see.
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

# The repaired program's threads are alike unless something else took the processor of
# one of them, which does not happen each time.
for try in 1 2 3; do
  (follow "$try")
  if grep -q '^there are 1 kinds of processes' "$try/output"; then break; fi
done
cd "$try"

grep -qx 'momentum kept' output
if grep -q LOST output; then exit 1; fi
grep -q '^there are 2 kinds of processes' output
grep -q '^CCCR: attract' output
grep -q '^there are 1 kinds of processes' output
[ -s shares.svg ]
"$command" period --json slow | grep -q '"period": 2'
