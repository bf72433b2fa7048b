#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Usage: ucr-error-rates.sh TSANOM [FOLDER]
# 1-NN error rates of the data sets in FOLDER by the command TSANOM, as a table
# beside those that the UCR archive publishes; fails if one differs.
set -eu
tsanom=$1
folder=${2:-$(dirname "$0")/../data/ucr}
status=0

# SET RADIUS PUBLISHED: one cell of the table.
rate() {
  found=$("$tsanom" search --classify "$folder/$1_TRAIN.tsv" "$folder/$1_TEST.tsv" \
          --cost squared $2 | sed -n 's/^error rate \([0-9.]*\):.*/\1/p')
  printf ' %s (%s) |' "$found" "$3"
  [ "$found" = "$3" ] || status=1
}

# The archive's learned width of w % stands for a radius of ceil(w length / 100);
# it is 0 for these three sets.
printf '| set | Euclidean (published) | DTW, learned width | DTW, any width |\n'
printf '|---|---|---|---|\n'
while read -r set euclidean learned_radius learned full; do
  printf '| %s |' "$set"
  rate "$set" "--radius 0" "$euclidean"
  rate "$set" "--radius $learned_radius" "$learned"
  rate "$set" "" "$full"
  printf '\n'
done <<END
GunPoint 0.0867 0 0.0867 0.0933
ItalyPowerDemand 0.0447 0 0.0447 0.0496
ArrowHead 0.2000 0 0.2000 0.2971
END
exit $status
