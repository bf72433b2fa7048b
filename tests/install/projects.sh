#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# projects.sh SOURCES BUILD SCRATCH CC [--without-fetch]
# Builds and runs each project of docs/use.md, as it stands there, against what BUILD installs. A
# project whose tools are not installed is skipped.
set -eu
sources=$1 build=$2 scratch=$3 cc=$4
rm -rf "$scratch"
mkdir -p "$scratch"
prefix=$scratch/installed
cmake --install "$build" --prefix "$prefix" >"$scratch/install.log"
lib=$(dirname "$(find "$prefix" -name libtsanom.so)")
export CC="$cc" PKG_CONFIG_PATH="$lib/pkgconfig" LD_LIBRARY_PATH="$lib"
# What these tools keep is kept here.
export CARGO_HOME="$scratch/cargo" CARGO_NET_OFFLINE=true GOCACHE="$scratch/go-cache" GOFLAGS=-mod=mod
export GOTOOLCHAIN=local

# Files of the page: "`NAME`:" and the indented lines after it.
awk -v scratch="$scratch" '
  /^`[a-z_]+\/[A-Za-z.]+`:$/ {
    file = scratch "/" substr($0, 2, length($0) - 3)
    directory = file
    sub("/[^/]*$", "", directory)
    system("mkdir -p \"" directory "\"")
    next
  }
  file && /^    / { print substr($0, 5) >file; next }
  file && /^$/ { next }
  { file = "" }' "$sources/docs/use.md"
awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$sources/README.md" >"$scratch/program.c"
for project in find_package fetch meson autotools; do cp "$scratch/program.c" "$scratch/$project"; done

failed=
skipped=
# project NAME TOOL FUNCTION: must print "distance 1".
project() {
  if ! command -v "$2" >/dev/null; then
    skipped="$skipped $1"
    return
  fi
  if (cd "$scratch/$1" && set -e && "$3") >"$scratch/$1.log" 2>&1 &&
    tail -n 1 "$scratch/$1.log" | grep -q -x -E 'distance 1(\.0?)? ?'; then
    echo "$1: builds and runs"
  else
    echo "$1: failed"
    tail -n 20 "$scratch/$1.log"
    failed="$failed $1"
  fi
}

by_cmake() {
  cmake -S . -B build "-DCMAKE_PREFIX_PATH=$prefix" "$@"
  cmake --build build --target program
  build/program
}
find_package() { by_cmake; }
# A repository of the sources as they stand here, with the tag that the page names.
fetch() {
  tag=$(sed -n 's/.*GIT_TAG \(v[0-9.]*\).*/\1/p' CMakeLists.txt)
  git init -q --bare "$scratch/repository.git"
  (
    export GIT_DIR="$scratch/repository.git" GIT_WORK_TREE="$sources"
    git add -A
    git -c user.name=test -c user.email=test commit -q -m "$tag"
    git tag "$tag"
  )
  sed "s|GIT_REPOSITORY URL|GIT_REPOSITORY file://$scratch/repository.git|" CMakeLists.txt >filled
  mv filled CMakeLists.txt
  by_cmake
}
meson_() {
  meson setup build
  meson compile -C build
  build/program
}
autotools() {
  autoreconf -i
  ./configure
  make
  ./program
}
rust() {
  mkdir -p src
  cp "$sources/examples/calling/call.rs" src/main.rs
  cargo build --offline
  target/debug/program
}
go_() {
  cp "$sources/examples/calling/call.go" program.go
  go build -o program .
  ./program
}
fortran() {
  cp "$sources/examples/calling/call.f90" .
  make
  ./program
}
r() {
  cp "$sources/examples/calling/call_r.c" "$sources/examples/calling/call.R" .
  R CMD SHLIB call_r.c
  Rscript call.R ./call_r.so
}

project find_package cmake find_package
project meson meson meson_
project autotools autoreconf autotools
project rust cargo rust
project go go go_
project fortran gfortran fortran
project r Rscript r
# Compiles the library once more.
[ "${5:-}" = --without-fetch ] || project fetch cmake fetch
[ -z "$skipped" ] || echo "skipped:$skipped: their tools are not installed"
[ -z "$failed" ]
