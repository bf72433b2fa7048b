#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Fails when a shared library exports a symbol that does not begin with tsanom_
# (TSANOM_* are version nodes), or exports none at all.
set -eu
symbols=$(nm -D --defined-only "$1" | awk '{ sub(/@.*/, "", $3); print $3 }')
foreign=$(printf '%s\n' "$symbols" | grep -v -e '^tsanom_' -e '^TSANOM_' || true)
if [ -n "$foreign" ]; then
  printf '%s exports foreign symbols:\n%s\n' "$1" "$foreign"
  exit 1
fi
printf '%s\n' "$symbols" | grep -c '^tsanom_'
