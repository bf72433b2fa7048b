#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# alone.sh PROGRAM: the program runs, and needs no shared library but those of libc.
set -eu
needed=$(readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p' |
         grep -v -E '^(libc|libm|ld-linux[^.]*)\.so' || true)
if [ -n "$needed" ]; then
  echo "$1 needs $needed" >&2
  exit 1
fi
"$1"
