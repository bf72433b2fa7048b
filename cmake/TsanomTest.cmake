# SPDX-License-Identifier: BSD-3-Clause
# Tests of ctest: each has a time limit, and no program that it started outlives it.
set(TSANOM_TEST_SECONDS 1200 CACHE STRING "Time limit of each test")
# Those of more than 20 s begin first, so that no processor waits for them at the end.
set(tsanom_long_tests python_package record tools runs unharmed_by_failures record_only mpi roughset dtw dpd
                      record_failing_calls heartbeat optics polyfit watch diagnosis_watch)

# tsanom_add_test(<name> <command>...): the command may be a target. Its status 77 says that it
# was skipped; a line "skipped: REASON" in the output names the reason, and scripts/test lists it.
function(tsanom_add_test name command)
  set(program ${command})
  if(TARGET ${command})
    set(program $<TARGET_FILE:${command}>)
  endif()
  if(CMAKE_CROSSCOMPILING)
    add_test(NAME ${name} COMMAND ${program} ${ARGN}) # the emulator cannot start tsanom_run_test's program
  else()
    add_test(NAME ${name} COMMAND tsanom_run_test ${program} ${ARGN})
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${TSANOM_TEST_SECONDS} SKIP_RETURN_CODE 77)
  list(FIND tsanom_long_tests ${name} place)
  if(NOT place EQUAL -1)
    math(EXPR cost "100 - ${place}")
    set_tests_properties(${name} PROPERTIES COST ${cost})
  endif()
  # So that the target `all` of a directory builds what its tests need.
  string(MD5 directory ${CMAKE_CURRENT_SOURCE_DIR})
  if(NOT TARGET tsanom_run_test_${directory})
    add_custom_target(tsanom_run_test_${directory} ALL DEPENDS tsanom_run_test)
  endif()
endfunction()

# tsanom_skip_test(<name> <reason>): a test that cannot run here.
function(tsanom_skip_test name reason)
  tsanom_add_test(${name} sh -c "echo 'skipped: ${reason}' && exit 77")
endfunction()
