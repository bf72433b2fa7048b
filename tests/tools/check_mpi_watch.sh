#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check_mpi_watch.sh SOURCES COMMAND MPI TRIALS: watch 4 ranks TRIALS times of each kind. A rank
# that is stopped, killed, or in an endless loop must be named, by its own cause; no other rank may
# be named within a second, and none in a normal run. Of a killed rank, the launcher kills the
# others. Half of the trials have two threads in each rank, and in half of them the watch begins
# before the program. Those of the kind `totals` are loops behind the events of `--profile`.
set -eu
sources=$1 command=$(realpath "$2") mpi=$3 trials=$4
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
# By default Open MPI starts no ranks for root, and not more than there are processors.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1
"mpicc.$mpi" -g -O1 -fopenmp "$sources/tests/tools/programs/silent_ranks.c" -o ranks
# After a second, so that all that are named by then are in the list.
cat >act <<'END'
echo "$TSANOM_RUN $TSANOM_CAUSE" >>named
[ "$TSANOM_CAUSE" != hang ] || (sleep 1; kill -CONT "$(cat pid)") >/dev/null 2>&1 &
END

# watch_one KIND RANK THREADS LATE: the names are in the file `named`.
watch_one() {
  rm -rf run named pid
  set -- "$@" 75
  if [ "$1" = totals ]; then
    set -- loop "$2" "$3" "$4" 500 --profile
  fi
  # shellcheck disable=SC2086
  timeout 100 "mpirun.$mpi" -n 4 "$command" record -o run ${6-} -- \
    ./ranks $(($5 + 75)) "$3" "$1" "$2" "$5" >output 2>&1 &
  [ "$4" -eq 0 ] || sleep 0.5
  "$command" watch --wait --every 0.1 --on-anomaly 'sh ./act' run >lines
  wait $! || [ "$1" = kill ]
  [ -z "${6-}" ] || [ -s run/rank.0/regions/profile ]
  touch named
}

failed=0
for kind in none stop kill loop totals; do
  right=0
  for trial in $(seq "$trials"); do
    rank=$((trial % 4))
    watch_one "$kind" "$rank" $((1 + trial / 2 % 2)) $((trial / 4 % 2))
    cause=hang
    [ "$kind" != kill ] || cause=shutdown
    if [ "$kind" = none ]; then
      [ -s named ] || right=$((right + 1))
    elif grep -q "^run/rank.$rank $cause$" named &&
      { [ "$kind" = kill ] || ! grep -v -q "^run/rank.$rank " named; }; then
      right=$((right + 1))
    else
      echo "rank $rank, $kind: $(cat named)" >&2
      cp lines "lines.$kind.$trial"
    fi
  done
  echo "$mpi, $kind: right in $right of $trials runs"
  [ "$right" -eq "$trials" ] || failed=1
done
[ "$failed" -eq 0 ]
