#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# record_only.sh SOURCES SCRATCH CC CMAKE
# Configures, builds and installs libtsanom-record where there is nothing but a C compiler,
# both libraries and the static one alone, and builds a program against each.
set -eu
sources=$1 scratch=$2 cc=$3 cmake=$4
missing=$scratch/missing
rm -rf "$scratch"
for shared in unset OFF; do
  build=$scratch/$shared
  set -- -DTSANOM_RECORD_ONLY=ON -DTSANOM_WARNINGS_AS_ERRORS=ON
  if [ "$shared" != unset ]; then set -- "$@" "-DBUILD_SHARED_LIBS=$shared" -DCMAKE_BUILD_TYPE=Debug; fi
  # Whatever else is asked for would be found missing.
  env PKG_CONFIG="$missing" CXX="$missing" "$cmake" -S "$sources" -B "$build" \
    -DCMAKE_C_COMPILER="$cc" -DCMAKE_DISABLE_FIND_PACKAGE_OpenMP=ON \
    -DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON "$@" >"$scratch.log"
  "$cmake" --build "$build" >"$scratch.log"
  "$cmake" --install "$build" --prefix "$build/prefix" >"$scratch.log"
  "$cmake" -S "$(dirname "$0")/record_only" -B "$build/program" \
    -DCMAKE_C_COMPILER="$cc" -DCMAKE_PREFIX_PATH="$build/prefix" >"$scratch.log"
  "$cmake" --build "$build/program" >"$scratch.log"
  (cd "$build" && ./program/program)
  kinds=$(find "$build/prefix" -name 'libtsanom-record.*' | sed 's/.*record\.//' | sort)
  case $shared:$(echo "$kinds" | tr '\n' ' ') in
    unset:"a so so.0.3 "*) ;;
    OFF:"a ") ;;
    *) echo "BUILD_SHARED_LIBS $shared installs: $kinds" && exit 1 ;;
  esac
done

# As a part of another project it installs nothing, and gives the same targets, to a library that is
# exported, too.
mkdir "$scratch/outer"
cat >"$scratch/outer/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.21)
project(outer LANGUAGES C)
set(TSANOM_RECORD_ONLY ON)
set(BUILD_SHARED_LIBS ON)
add_subdirectory($sources tsanom)
add_executable(outer_program $sources/tests/install/consumer/heartbeat.c)
target_link_libraries(outer_program PRIVATE tsanom::record)
install(TARGETS outer_program)
add_library(outer_library $sources/tests/install/consumer/heartbeat.c)
target_link_libraries(outer_library PUBLIC tsanom::record)
export(TARGETS outer_library FILE outer-targets.cmake)
END
"$cmake" -S "$scratch/outer" -B "$scratch/outer/build" -DCMAKE_C_COMPILER="$cc" >"$scratch.log"
"$cmake" --build "$scratch/outer/build" >"$scratch.log"
"$cmake" --install "$scratch/outer/build" --prefix "$scratch/outer/prefix" >"$scratch.log"
[ "$(find "$scratch/outer/prefix" -type f | wc -l)" -eq 1 ]
