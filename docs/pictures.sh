#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# pictures.sh SOURCES COMMAND WORKLOADS OUTPUT: the pictures of the manual, each drawn by
# the command `tsanom` from data of this repository or from a run recorded on the spot.
set -eu
sources=$(cd "$1" && pwd) command=$2 workloads=$3
mkdir -p "$4"
output=$(cd "$4" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" # pictures name files as they are given
export OMP_WAIT_POLICY=passive

# draw SUBCOMMAND PICTURE ARGUMENT...
draw() {
  subcommand=$1 picture=$2
  shift 2
  "$command" "$subcommand" --plot "$output/$picture.svg" "$@" >/dev/null
}

# A wave and the same wave with a pause in it.
awk 'BEGIN { for (i = 0; i < 120; i++) print sin(i / 9) * exp(-i / 90) }' >wave
awk 'BEGIN { for (i = 0; i < 120; i++) {
               t = i < 40 ? i : i < 55 ? 40 : i - 15
               print sin(t / 9) * exp(-t / 90) + 0.3 } }' >delayed
draw dtw dtw --path --radius 25 wave delayed

awk 'BEGIN { srand(7); for (i = 0; i < 2000; i++) {
               x += rand() - 0.5
               print x + (i >= 1200 && i < 1260 ? 4 * sin((i - 1200) / 6) : 0) } }' \
  >long
awk 'BEGIN { for (i = 0; i < 60; i++) print sin(i / 6) }' >pattern
draw search search --stream --z-normalize --radius 6 pattern long

draw fit fit --degree 10 "$sources/tests/data/nist/filip.csv"
# The times of 400 threads in two regions: four clouds of different density, whose tails
# are as sparse as the space between them.
awk 'BEGIN { srand(5); print "solve,exchange"
             for (i = 0; i < 400; i++) {
               c = i < 160 ? 0 : i < 260 ? 1 : i < 340 ? 2 : 3
               r = (0.07 + 0.03 * c) * sqrt(-2 * log(1 - rand())); v = 6.283185 * rand()
               print 1.2 + 0.8 * (c % 2) + r * cos(v) "," \
                     1.2 + 0.8 * (c >= 2) + r * sin(v) } }' >threads.csv
draw cluster cluster --min-pts 10 threads.csv

# The table of adjusted Rand indices of the page Measurements.
awk -F '|' '/^\| data \|/ { on = 1; next } !/^\|/ { on = 0 }
            on && !/---|mean/ { print "\"" $2 "\"", $3, $4, $5 }' \
  "$sources/docs/measurements.md" >scores
gnuplot <<END
set encoding utf8
set terminal svg size 900,420 dynamic noenhanced background 'white'
set output '$output/cluster-scores.svg'
set border 3
set tics nomirror
set xtics rotate by 50 right
set grid
set key above
set ylabel 'adjusted Rand index'
plot [-0.5:] [-0.05:1.05] 'scores' using 0:2:xtic(1) title 'Xi' pt 2 lc rgb '#cc79a7', \
  '' using 0:3 title 'excess of mass' pt 6 ps 1.2 lc rgb '#d55e00', \
  '' using 0:4 title 'libtsanom' pt 7 ps 0.6 lc rgb '#0072b2'
END

# The loop nest of hydro2d in the periodicity paper, and a noisy wave.
awk 'BEGIN { for (i = 0; i < 1076; i++) {
               o = i % 269; k = o < 240 ? o % 24 : o; print k < 12 && o < 240 ? 12 : k } }' \
  >events
draw period events --events events
awk 'BEGIN { srand(3); for (i = 0; i < 600; i++) print sin(i * 0.1428) + 0.3 * rand() }' \
  >values
draw period values values

# Figures 3 and 4 of the periodicity paper.
"${CC:-cc}" -O2 -fopenmp "$sources/tests/tools/programs/levels.c" -o levels
"$command" record -o levels.run -- ./levels 20 1000 >/dev/null
draw period active --active levels.run

"${CC:-cc}" -O2 -g -fopenmp "$sources/examples/tutorial/bodies.c" -o bodies -lm
OMP_NUM_THREADS=2 "$command" record --baseline=1:10 -o run -- ./bodies >/dev/null
draw speedup speedup run
draw similar similar "$sources/docs/pictures/regions.json"

for kind in normal leak; do
  [ $kind = normal ] && anomaly= || anomaly='--anomaly leak'
  # shellcheck disable=SC2086
  "$workloads/bt" --size short --threads 2 --record $kind $anomaly >/dev/null
done
"$command" learn --window 1000 -o model.json normal >/dev/null 2>&1
draw diagnose heart_rates -m model.json normal leak
draw diagnose alignment --alignment -m model.json leak
