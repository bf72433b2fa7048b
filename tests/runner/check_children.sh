#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check_children.sh RUN_TEST CTEST: what a test started ends with it, also programs that are
# stopped, that have a session of their own, and that ignore signals: when it ends, when it is
# killed, when its runner is, and at the time limit of ctest.
set -eu
run_test=$1 ctest=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

fail() {
  echo "$*"
  exit 1
}

# Each writes its number when it is as described; the output stays open.
cat >test.sh <<'END'
rm -f deaf grandchild stopped
setsid sh -c 'trap "" HUP INT TERM; echo $$ >deaf; while :; do sleep 1; done' &
sh -c 'sh -c "sleep 1000 & echo \$! >grandchild; wait" & wait' &
sh -c 'echo $$ >stopped; kill -STOP $$' &
for name in deaf grandchild stopped; do
  while [ ! -s $name ]; do sleep 0.01; done
done
until grep -q '^State:.*stopped' "/proc/$(cat stopped)/status"; do sleep 0.01; done
eval "$1"
END


# A killed program takes a moment to end.
check_ended() {
  for name in deaf grandchild stopped; do
    process=$(cat $name) tries=0
    while kill -0 "$process" 2>/dev/null; do
      tries=$((tries + 1))
      [ $tries -lt 1000 ] || fail "$1: the program '$name' lives on"
      sleep 0.01
    done
  done
}

# check_status EXPECTED COMMAND...
check_status() {
  expected=$1
  shift
  status=0
  "$@" >output 2>&1 || status=$?
  [ $status -eq "$expected" ] || fail "status $status, not $expected: $(cat output)"
}

check_status 0 "$run_test" sh test.sh true
check_ended "a test that passes"
check_status 3 "$run_test" sh test.sh 'exit 3'
check_ended "a test that fails"
check_status 137 "$run_test" sh test.sh 'kill -KILL $$'
check_ended "a test that is killed"
grep -q 'ended by signal 9' output || fail "the signal is not named"
check_status 2 "$run_test" ./missing

rm -f ready
"$run_test" sh test.sh ': >ready; sleep 1000' &
runner=$!
while [ ! -e ready ]; do sleep 0.01; done
kill -TERM $runner
check_status 143 wait $runner
check_ended "a runner that is ended"

cat >CTestTestfile.cmake <<END
add_test(hangs "$run_test" "sh" "test.sh" "sleep 1000")
set_tests_properties(hangs PROPERTIES TIMEOUT 5)
END
"$ctest" 2>&1 | tee output | grep -q 'hangs.*Timeout' || fail "no time limit: $(cat output)"
check_ended "a test at its time limit"
