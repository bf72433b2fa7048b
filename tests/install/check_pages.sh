#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check_pages.sh SOURCES COMMAND: the manual pages name every subcommand and every header.
# (tests/api/names.py checks the names of functions.)
set -eu
sources=$1 command=$2
failures=0
complain() {
  echo "$*"
  failures=$((failures + 1))
}

subcommands=$("$command" --help | awk 'NF > 1 && /^  [a-z]/ { print $1 }')
[ "$(echo "$subcommands" | wc -l)" -ge 12 ] || complain "no subcommands in --help"
for subcommand in $subcommands; do
  grep -qx ".It Cm $subcommand" "$sources/docs/man/tsanom.1" ||
    complain "tsanom.1 lacks $subcommand"
  grep -q "^## tsanom $subcommand " "$sources/docs/command.md" ||
    complain "command.md lacks $subcommand"
done
for header in "$sources"/include/tsanom/*.h; do
  name=tsanom/$(basename "$header")
  grep -q "^.I[nt].* $name\$" "$sources/docs/man/libtsanom.3" ||
    complain "libtsanom.3 lacks $name"
done
[ "$failures" -eq 0 ]
