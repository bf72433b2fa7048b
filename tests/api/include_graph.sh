#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# include_graph.sh SOURCE
# Fails if the command includes more than public headers, if a library other than
# libtsanom-runs uses JSON, or if libtsanom-runs uses more than core and the format of runs.
set -eu
cd "$1"
status=0
report() {
  if [ -n "$2" ]; then
    printf '%s\n%s\n' "$1" "$2"
    status=1
  fi
}
# The launcher shares the format of a run with the recorder that it starts, and the analysis program
# with libtsanom-runs how a file is replaced.
foreign=$(for file in tools/tsanom/*/*.[ch]; do
  sed -n 's/^#include "\(.*\)"/\1/p' "$file" | while read -r name; do
    case $file:$name in tools/tsanom/launcher/*:record/* | *:core/replace_file.h) continue ;; esac
    [ -e "tools/$name" ] || ls tools/tsanom/*/"$name" >/dev/null 2>&1 || printf '%s: %s\n' "$file" "$name"
  done
done)
report 'The command includes internal headers:' "$foreign"
report 'Libraries other than libtsanom-runs use JSON:' \
  "$(grep -l '#include <jansson' -r src include | grep -v '^src/runs/' || true)"
report 'libtsanom-runs includes headers of other modules:' \
  "$(grep -n '^#include "' -r src/runs | grep -v -e '"core/' -e '"runs/' -e '/format\.h"' -e '/regions\.h"' -e '/identity\.h"' -e '/vital_proc\.h"' || true)"
exit $status
