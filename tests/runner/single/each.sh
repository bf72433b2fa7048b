#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# each.sh COMMAND...: runs each test of such a program in a process of its own.
count=$("$@") && [ "$count" -gt 0 ] || exit 1
failed=0 number=0
while [ $number -lt "$count" ]; do
  number=$((number + 1))
  "$@" $number
  status=$?
  [ $status -eq 0 ] || [ $status -eq 77 ] || { echo "FAILED: status $status" && failed=$((failed + 1)); }
done
echo "$count tests, $failed failed"
[ $failed -eq 0 ]
