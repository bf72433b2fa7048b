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

  --rounds N       rounds of recording, six runs of each program in a round (default 3)
  --threads N      threads of the programs (default 2)
  --size NAME      size of their problems (default small)
  --programs LIST  which programs, of examples/workloads (default "cg bt")
  --output FOLDER  where the pictures go (default BUILD/quickstart)
  --keep           keep the recorded runs and the models, in FOLDER/runs
  --help           this text

A leaking run allocates up to 2 GiB, and at most a quarter of the memory available.
USAGE
}

refuse() {
  echo "main_job.sh: $*" >&2
  exit 2
}

rounds=3
threads=2
size=small
programs='cg bt'
output=
keep=false
build=
while [ $# -gt 0 ]; do
  case $1 in
    --rounds | --threads | --size | --programs | --output)
      [ $# -ge 2 ] || refuse "$1 needs a value"
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
    -*) refuse "unknown option $1; see --help" ;;
    *)
      [ -z "$build" ] || refuse "one build folder, not also $1"
      build=$1
      shift
      ;;
  esac
done
[ -n "$build" ] || refuse "which build folder? see --help"
case $rounds$threads in
  *[!0-9]* | 0*) refuse "--rounds and --threads are whole numbers above 0" ;;
esac

tsanom=$build/tools/tsanom/tsanom
for program in $programs; do
  for file in "$tsanom" "$build/examples/workloads/$program"; do
    [ -x "$file" ] || refuse "$file is missing; build first: cmake --build $build"
  done
done

output=${output:-$build/quickstart}
mkdir -p "$output"
runs=$(mktemp -d "${TMPDIR:-/tmp}/tsanom-runs.XXXXXX")
clean() {
  if $keep; then
    rm -rf "$output/runs"
    mv "$runs" "$output/runs"
    echo "The recorded runs and the models are in $output/runs."
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

# record EXPECTED-STATUS RUN ARGUMENT...: one run of $program. The inner shell
# keeps its word on killed processes to the log.
record() {
  expected=$1
  run=$2
  shift 2
  printf '  %-22s' "$(basename "$run")"
  status=0
  sh -c '"$@"; exit $?' sh "$build/examples/workloads/$program" --size "$size" \
    --threads "$threads" --record "$run" "$@" >"$runs/log" 2>&1 || status=$?
  if [ "$status" -ne "$expected" ]; then
    echo "exit status $status instead of $expected:"
    cat "$runs/log"
    exit 1
  fi
  sed -n "s/^$program: \(.* beats\/s\)$/\1/p; s/^$program: answer //p
          s/^$program: \(leaked .*\)/\1/p" "$runs/log" |
    awk '{ printf "%s%s", separator, $0; separator = "; " }
         END { print separator ? "" : "killed by SIGKILL" }'
}

label() {
  echo "$(basename "$1"),$2" >>"$folder/labels.csv"
}

# Every kind of run comes in every round, so that all kinds meet the same
# disturbances from whatever else the machine does.
record_all() {
  folder=$runs/$program
  mkdir "$folder"
  echo 'run,status' >"$folder/labels.csv"
  round=1
  while [ "$round" -le "$rounds" ]; do
    record 0 "$folder/learn-$round-a" --seed "$round"
    record 0 "$folder/test-normal-$round" --seed "$((100 + round))"
    label "$folder/test-normal-$round" normal
    record 0 "$folder/test-leak-$round" --seed "$round" --anomaly leak
    label "$folder/test-leak-$round" memory_leak
    record 0 "$folder/learn-$round-b" --seed "$((200 + round))"
    record 137 "$folder/test-killed-$round" --seed "$round" --anomaly shutdown
    label "$folder/test-killed-$round" shutdown
    record 4 "$folder/test-stopped-$round" --seed "$round" --anomaly thread-shutdown
    label "$folder/test-stopped-$round" shutdown
    round=$((round + 1))
  done
}

diagnose_all() {
  "$tsanom" learn -o "$folder/model.json" "$folder"/learn-*
  "$tsanom" diagnose -m "$folder/model.json" --labels "$folder/labels.csv" \
    "$folder"/test-* >"$folder/diagnosis.txt"
  sed -n '/^runs by true status/,$p' "$folder/diagnosis.txt"
}

draw() {
  "$tsanom" diagnose -m "$folder/model.json" --plot "$output/heart_rates_$program.svg" \
    "$folder/test-normal-1" "$folder/test-leak-1" "$folder/test-killed-1" >/dev/null
}

for program in $programs; do
  echo
  echo "== $program: recording $((6 * rounds)) runs of $threads threads"
  record_all
  echo
  echo "== $program: what was found in runs that were not learned from"
  diagnose_all
  draw
  shown=$folder
done

echo
echo '== One verdict with its reasons'
"$tsanom" diagnose -m "$shown/model.json" "$shown/test-leak-1"
echo
echo "Heart rates of a normal, a leaking and a killed run:"
for program in $programs; do
  echo "  $output/heart_rates_$program.svg"
done
