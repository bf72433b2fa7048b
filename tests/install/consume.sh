#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# consume.sh BUILD SCRATCH CC [CXX]
# Installs BUILD below SCRATCH, moves the prefix (a package may be relocated),
# and builds and runs the consumers by CMake and by pkg-config, in C and C++,
# against the shared and the static library.
set -eu
build=$1 scratch=$2 cc=$3 cxx=${4-}
sources=$(cd "$(dirname "$0")/consumer" && pwd)
rm -rf "$scratch/first" "$scratch/moved" "$scratch/cmake"

cmake --install "$build" --prefix "$scratch/first" >"$scratch/install.log"
mv "$scratch/first" "$scratch/moved"
prefix=$scratch/moved

echo "== CMake package"
cmake -S "$sources" -B "$scratch/cmake" -DCMAKE_PREFIX_PATH="$prefix" \
      -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx" >"$scratch/configure.log"
cmake --build "$scratch/cmake"
for program in shared_c ${cxx:+shared_cxx} static_c heartbeat_c runs_c; do
  "$scratch/cmake/$program"
done

echo "== libraries, command and recorder"
if [ -x "$prefix/bin/tsanom" ]; then
  rm -rf "$scratch/programs"
  cp -R "$sources" "$scratch/programs"
  sh "$(dirname "$0")/installed.sh" "$prefix" "$scratch/programs" "$cc"
fi

echo "== pkg-config"
pc=$(dirname "$(find "$prefix" -name tsanom.pc)")
export PKG_CONFIG_PATH="$pc"
lib=$(dirname "$pc")
# Unquoted on purpose: pkg-config answers with words.
# shellcheck disable=SC2046
{
  "$cc" "$sources/consumer.c" -o "$scratch/pc_c" $(pkg-config --cflags --libs tsanom)
  [ -z "$cxx" ] || "$cxx" -x c++ "$sources/consumer.c" -o "$scratch/pc_cxx" \
    $(pkg-config --cflags --libs tsanom)
  "$cc" "$sources/heartbeat.c" -o "$scratch/pc_heartbeat" \
    $(pkg-config --cflags --libs tsanom-record)
  "$cc" "$sources/runs.c" -o "$scratch/pc_runs" $(pkg-config --cflags --libs tsanom-runs)
}
for program in pc_c ${cxx:+pc_cxx} pc_heartbeat pc_runs; do
  LD_LIBRARY_PATH=$lib "$scratch/$program"
done

echo "== the example of the README"
awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' \
  "$(dirname "$0")/../../README.md" >"$scratch/readme.c"
# shellcheck disable=SC2046
"$cc" "$scratch/readme.c" -o "$scratch/readme" $(pkg-config --cflags --libs tsanom)
LD_LIBRARY_PATH=$lib "$scratch/readme" | grep -x 'distance 1'

for program in pc_heartbeat pc_runs; do
  if LD_LIBRARY_PATH=$lib ldd "$scratch/$program" | grep -E 'gomp|libomp|blas|lapack'; then
    echo "$program must not need OpenMP or BLAS"
    exit 1
  fi
done
