#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check_workload.sh PROGRAM: every way a workload can end, at its smallest size.
set -u
program=$1
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
failures=0

complain() {
  echo "FAILED: $*"
  sed 's/^/    /' "$scratch/output"
  failures=$((failures + 1))
}

# expect STATUS PATTERN ARGUMENT...: the exit status, and a line of the output.
expect() {
  status=$1
  pattern=$2
  shift 2
  "$program" --size tiny "$@" >"$scratch/output" 2>&1
  got=$?
  [ "$got" -eq "$status" ] || complain "status $got, not $status: $*"
  [ -z "$pattern" ] || grep -q -- "$pattern" "$scratch/output" ||
    complain "no line with '$pattern': $*"
}

# recorded EXPECT-ARGUMENT...: the same into a new run folder, which must be there.
runs=0
# shellcheck disable=SC2317 # called by its name in a variable
recorded() {
  runs=$((runs + 1))
  run=$scratch/run$runs
  expect "$@" --record "$run"
  [ -d "$run" ] || complain "no run folder: $*"
}

killed=137
for threads in 1 2 4; do
  for how in expect recorded; do
    $how 0 'answer VERIFIED' --threads $threads
    $how 0 'answer VERIFIED' --threads $threads --anomaly leak --leak-cap 4M
    $how $killed '' --threads $threads --anomaly shutdown
    $how 4 'answer VOID' --threads $threads --anomaly thread-shutdown
  done
done

for seed in 2 3 4 5 18446744073709551615; do
  expect 0 'answer VERIFIED' --threads 2 --seed $seed
done

expect 0 ' 3 steps' --threads 2 --steps 3
expect 2 'from 1 to' --steps 0
expect 2 '^.*--points 9: not a whole number from' --points 9

expect 0 'leaked' --threads 2 --anomaly leak --anomaly-thread 1 --leak-cap 4M
awk '/ leaked / { enough = $3 > 3 && $3 <= 4 } END { exit !enough }' \
  "$scratch/output" || complain "the leak does not fill its cap"
expect 0 'leaked' --threads 2 --anomaly leak --leak-rate 1K --leak-cap 16K
awk '/ leaked / { capped = $3 * 1024 <= 16 } END { exit !capped }' \
  "$scratch/output" || complain "the leak does not stop at its cap"

# The moment of an anomaly follows from the seed alone.
expect 4 'thread 0 was stopped' --threads 2 --anomaly thread-shutdown --anomaly-thread 0
sed -n 's/.*VOID//p' "$scratch/output" >"$scratch/first"
expect 4 'thread 0 was stopped' --threads 2 --anomaly thread-shutdown --anomaly-thread 0
sed -n 's/.*VOID//p' "$scratch/output" | cmp -s - "$scratch/first" ||
  complain "one seed, two moments"
expect 4 'thread 0' --threads 2 --anomaly thread-shutdown --anomaly-thread 0 --seed 2
sed -n 's/.*VOID//p' "$scratch/output" | cmp -s - "$scratch/first" &&
  complain "two seeds, one moment"

# Blocks with and without heartbeats.
recorded 0 'thread 1 round: beating [0-9.]* s, reading [0-9.]* s, silent [0-9.]* s' \
  --threads 2 --alternate 1
grep -q ': helper [0-9.-]* s' "$scratch/output" || complain "no time of the helper"
expect 2 'too few beats for a round' --threads 2 --alternate 4294967295 \
  --record "$scratch/unmade"

expect 0 'VERIFIED' --threads 2 --record "$scratch/unmade" --no-heartbeat
[ ! -e "$scratch/unmade" ] || complain "--no-heartbeat made a run folder"
expect 3 "$scratch/run1" --threads 1 --record "$scratch/run1"
expect 3 '/dev/null/run' --threads 1 --record /dev/null/run

expect 0 'Exit status' --help
expect 0 '^ *tiny: [0-9]* points, [0-9]* steps' --help
expect 2 '^.*--size huge: not one of' --size huge
expect 2 'from 1 to 256' --threads 0
expect 2 'from 1 to 256' --threads two
expect 2 'not one of leak' --anomaly fire
expect 2 'numbered 0 to 1' --threads 2 --anomaly leak --anomaly-thread 2
expect 2 'only a leak' --threads 2 --anomaly shutdown --anomaly-thread all
expect 2 'number of bytes' --leak-rate 0
expect 2 'number of bytes' --leak-cap 4T
expect 2 'whole number' --seed -1
expect 2 'record is needed' --alternate 10
expect 2 'unexpected argument' surplus

[ "$failures" -eq 0 ] && echo "all as expected"
exit "$((failures > 0))"
