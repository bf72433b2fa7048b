#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Records normal, leaking and shut-down runs of two OpenMP programs, learns what is
# normal, diagnoses the rest, and shows how often the diagnosis was right, one
# verdict with its reasons, and a picture of the heart rates.
set -eu

usage() {
  cat <<'USAGE'
Usage: main_job.sh [OPTION...] BUILD
Diagnose real OpenMP programs with what was built in the folder BUILD.

  --rounds N       rounds of recording, seven runs of each program in a round (default 3)
  --threads N      threads of the programs (default 2)
  --size NAME      size of their problems (default short)
  --programs LIST  which programs, of examples/workloads (default "cg bt")
  --output FOLDER  where the pictures go (default BUILD/quickstart)
  --keep           keep the recorded runs and the models, in FOLDER
  --help           this text

A leaking run allocates up to 2 GiB, and at most a quarter of the memory available.
USAGE
}

reject() {
  echo "main_job.sh: $*" >&2
  exit 2
}

rounds=3
threads=2
size=short
programs='cg bt'
output=
keep=false
build=
while [ $# -gt 0 ]; do
  case $1 in
    --rounds | --threads | --size | --programs | --output)
      [ $# -ge 2 ] || reject "$1 needs a value"
      case $1 in
        --rounds) rounds=$2 ;;
        --threads) threads=$2 ;;
        --size) size=$2 ;;
        --programs) programs=$2 ;;
        --output) output=$2 ;;
      esac
      shift 2
      ;;
    --keep) keep=true && shift ;;
    --help) usage && exit 0 ;;
    -*) reject "unknown option $1; see --help" ;;
    *)
      [ -z "$build" ] || reject "one build folder, not also $1"
      build=$1
      shift
      ;;
  esac
done
[ -n "$build" ] || reject "which build folder? see --help"
for number in "$rounds" "$threads"; do
  case $number in
    '' | *[!0-9]* | 0*) reject "--rounds and --threads are whole numbers above 0" ;;
  esac
done

for program in $programs; do
  for file in "$build/tools/tsanom/tsanom" "$build/examples/workloads/$program"; do
    [ -x "$file" ] || reject "$file is missing; build first: cmake --build $build"
  done
done

mkdir -p "${output:=$build/quickstart}"
build=$(cd "$build" && pwd)
tsanom=$build/tools/tsanom/tsanom
output=$(cd "$output" && pwd)
if $keep; then
  runs=$(mktemp -d "$output/runs.XXXXXX")
else
  runs=$(mktemp -d "${TMPDIR:-/tmp}/tsanom-runs.XXXXXX")
fi
clean() {
  cd /
  if $keep; then
    echo "The recorded runs and the models are in $runs."
  else
    rm -rf "$runs"
  fi
}
trap clean EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Waiting threads sleep, so that they do not take the cores from working ones.
OMP_WAIT_POLICY=passive
OMP_DYNAMIC=false
export OMP_WAIT_POLICY OMP_DYNAMIC

# record EXPECTED-STATUS RUN ARGUMENT...: one run of $program, into a folder here.
# The inner shell keeps its word on killed processes to the log.
record() {
  expected=$1
  run=$2
  shift 2
  printf '  %-16s' "$run"
  status=0
  sh -c '"$@"; exit $?' sh "$build/examples/workloads/$program" --size "$size" \
    --threads "$threads" --record "$run" "$@" >../log 2>&1 || status=$?
  if [ "$status" -ne "$expected" ]; then
    echo "exit status $status instead of $expected:"
    cat ../log
    exit 1
  fi
  sed -n 's/.* on a processor \([0-9]*\) %.*/\1/p' ../log >>"../processor-${run%%-*}"
  awk '/ beats\/s$/ { line = $2 " s, " $6 " beats/s" }
       / leaked /   { line = line ", " $3 " MiB leaked" }
       / answer /   { line = line ", answer " tolower($3) }
       END          { gsub(":", "", line); print line ? line : "killed by SIGKILL" }' ../log
}

# test_run STATUS-OF-THE-RUN RECORD-ARGUMENT...
test_run() {
  echo "$3,$1" >>labels.csv
  shift
  record "$@"
}

# Every kind of run comes in every round, so that all kinds meet the same
# disturbances from whatever else the machine does.
record_all() {
  echo 'run,status' >labels.csv
  round=1
  while [ "$round" -le "$rounds" ]; do
    record 0 "learn-$round-a" --seed "$round"
    test_run normal 0 "normal-$round" --seed "$((100 + round))"
    test_run memory_leak 0 "leak-$round" --seed "$round" --anomaly leak
    record 0 "learn-$round-b" --seed "$((200 + round))"
    test_run shutdown 137 "killed-$round" --seed "$round" --anomaly shutdown
    test_run shutdown 4 "stopped-$round" --seed "$round" --anomaly thread-shutdown
    record 0 "learn-$round-c" --seed "$((300 + round))"
    round=$((round + 1))
  done
}

diagnose_all() {
  "$tsanom" learn -o model.json learn-*
  "$tsanom" diagnose -m model.json --labels labels.csv \
    normal-* leak-* killed-* stopped-* >diagnosis.txt
  sed -n '/^runs by true status/,$p' diagnosis.txt
  "$tsanom" diagnose -m model.json --plot "$output/heart_rates_$program.svg" \
    normal-1 leak-1 killed-1 >/dev/null
}

# The tables of all programs added up. A table has the statuses that occur in it.
summarise() {
  cat "$runs"/*/diagnosis.txt | awk '
    /^runs by true status/ { header = 1; next }
    header { header = 0; table = 1; columns = NF - 1
             for (i = 1; i <= columns; ++i) { column[i] = $i } next }
    /^macro F-score/ { table = 0 }
    table && NF == columns + 2 {
      if (!($1 in seen)) { seen[$1] = 1; name[++names] = $1 }
      for (i = 1; i <= columns; ++i) { n[$1, column[i]] += $(i + 1) }
    }
    END {
      printf "%-14s", ""
      for (i = 1; i <= names; ++i) { printf "  %11s", name[i] }
      print "      F-score"
      for (i = 1; i <= names; ++i) {
        truth = found = 0
        printf "%-14s", name[i]
        for (k = 1; k <= names; ++k) {
          truth += n[name[i], name[k]]
          found += n[name[k], name[i]]
          printf "  %11d", n[name[i], name[k]]
        }
        if (truth + found == 0) { print "            -"; continue }
        score = 2 * n[name[i], name[i]] / (truth + found)
        sum += score
        scores++
        printf "  %11.4f\n", score
      }
      printf "macro F-score %.4f\n", sum / scores
    }'
}

# Heart rates are taken by the clock, so what other programs take from a run looks
# like a slow run.
warn_if_busy() {
  awk '{ sum += $1 }
       END { if (sum < 85 * NR) {
               printf "\nThe machine is busy: the normal runs had a processor %d %% of ", sum / NR
               print "the time. What\ndiffers from these runs no more than they do from each " \
                     "other is normal."
             } }' "$runs/processor-learn"
}

for program in $programs; do
  echo
  echo "== $program: recording $((7 * rounds)) runs of $threads threads"
  mkdir "$runs/$program"
  cd "$runs/$program"
  record_all
  echo
  echo "== $program: what is normal, and what was found in the other runs"
  diagnose_all
done

echo
echo "== One run on one page: $program, run leak-1"
"$tsanom" summary -m model.json leak-1
echo
echo "== One verdict with its reasons: $program, run leak-1"
"$tsanom" diagnose -m model.json leak-1
echo
echo "== All programs: runs by true status (rows) and status found (columns)"
summarise
warn_if_busy
echo
echo 'Pictures of the heart rates of a normal, a leaking and a killed run:'
for program in $programs; do
  echo "  $output/heart_rates_$program.svg"
done
