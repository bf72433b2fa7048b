#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Fails if libtsanom-runs ($1) needs more than the C library and jansson, or if libtsanom
# ($2) needs jansson.
set -eu
needed() {
  readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p'
}
other=$(needed "$1" | grep -v -e '^libc\.so' -e '^libm\.so' -e '^libjansson\.so' \
          -e '^ld-linux' -e '^libgcov' || true)
if [ -n "$other" ]; then
  printf '%s needs\n%s\n' "$1" "$other"
  exit 1
fi
if needed "$2" | grep jansson; then
  printf '%s needs jansson\n' "$2"
  exit 1
fi
