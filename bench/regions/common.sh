# shellcheck shell=sh
# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the scripts of this folder, whose first argument is a build folder: its
# command as $tsanom, and an empty folder to work in that goes when the script ends.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck disable=SC2034
tsanom=$(cd "$1" && pwd)/tools/tsanom/tsanom
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit

# build COMPILER NAME: that program of this folder; fails where the compiler or its
# runtime is not there.
build() { "$1" -O2 -fopenmp -pthread "$here/$2.c" -o "$2" 2>/dev/null; }
