#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Fails when a shared library needs another library than the C library and its loader.
set -eu
needed=$(readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
other=$(printf '%s\n' "$needed" | grep -v -e '^libc\.so' -e '^ld-linux' \
  -e '^libpthread\.so' || true)
if [ -n "$other" ]; then
  printf '%s needs:\n%s\n' "$1" "$other"
  exit 1
fi
printf '%s\n' "$needed"
