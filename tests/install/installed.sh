#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# installed.sh PREFIX SCRATCH [CC]
# What PREFIX contains works on this system: a program for each shared library, the command, and a
# recording of a program with OpenMP that the command reads. SCRATCH contains the programs of
# tests/install/consumer and gets the programs `consumer` and `parallel`. Needs a compiler only.
set -eu
prefix=$1 scratch=$2 cc=${3:-cc}
lib=$(dirname "$(find "$prefix" -name libtsanom.so.0.3)")
for program in consumer heartbeat runs; do
  "$cc" "$scratch/$program.c" -o "$scratch/$program" -I"$prefix/include" -L"$lib" -ltsanom -ltsanom-runs \
    -ltsanom-record -Wl,-rpath,"$lib" -Wl,-rpath-link,"$lib"
  "$scratch/$program"
done
"$cc" -fopenmp "$scratch/parallel.c" -o "$scratch/parallel"
tsanom=$prefix/bin/tsanom
"$tsanom" --version
printf '1\n2\n3\n1\n2\n3\n1\n2\n3\n' | "$tsanom" period --events - | grep -w 3
rm -rf "$scratch/run"
"$tsanom" record -o "$scratch/run" -- "$scratch/parallel"
"$tsanom" rate "$scratch/run" | tee "$scratch/rate"
grep -q 60 "$scratch/rate"
