#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The quickstart's main job in its shortest form: check_main_job.sh SCRIPT BUILD.
# What a busy machine makes of heart rates is not looked at; that beats are missing
# where a run was cut short does not depend on the load.
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
sh "$1" --rounds 1 --size tiny --programs cg --output "$folder" "$2" >"$folder/printed"
grep -q '^shutdown  *0  *0  *2 ' "$folder/printed" && grep -q '^macro F-score' "$folder/printed" &&
  grep -q '</svg>' "$folder/heart_rates_cg.svg" && exit
cat "$folder/printed"
exit 1
