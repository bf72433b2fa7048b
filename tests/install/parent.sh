#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# parent.sh SOURCES SCRATCH [OPTION...]
# Lists what add_subdirectory(SOURCES) adds to a project without anything of its own: "target NAME",
# "variable NAME" of the cache, and "test". OPTION is for cmake, such as -DTSANOM_RECORD_ONLY=ON.
set -eu
sources=$1 scratch=$2
shift 2
rm -rf "$scratch/parent"
mkdir -p "$scratch/parent"
cat >"$scratch/parent/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.18)
project(parent C)
get_cmake_property(before CACHE_VARIABLES)
add_subdirectory("$sources" tsanom)
get_cmake_property(after CACHE_VARIABLES)
list(REMOVE_ITEM after \${before})
function(targets_of directory)
  get_property(targets DIRECTORY \${directory} PROPERTY BUILDSYSTEM_TARGETS)
  get_property(below DIRECTORY \${directory} PROPERTY SUBDIRECTORIES)
  foreach(target IN LISTS targets)
    message(STATUS "SEEN target \${target}")
  endforeach()
  foreach(directory IN LISTS below)
    targets_of(\${directory})
  endforeach()
endfunction()
targets_of("\${CMAKE_SOURCE_DIR}")
foreach(variable IN LISTS after)
  message(STATUS "SEEN variable \${variable}")
endforeach()
get_property(tests DIRECTORY PROPERTY TESTS)
foreach(test IN LISTS tests)
  message(STATUS "SEEN test \${test}")
endforeach()
END
cmake -S "$scratch/parent" -B "$scratch/parent/build" "$@" >"$scratch/parent.log" 2>&1
sed -n 's/^-- SEEN //p' "$scratch/parent.log" | sort
