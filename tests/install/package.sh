#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# package.sh SOURCES BUILD SCRATCH CC
# The package as other projects meet it: with an old minimum of CMake, with components that are
# not there, moved, embedded, built with the settings of a parent project. Each line of the output
# is one observation.
set -eu
sources=$1 build=$2 scratch=$3 cc=$4
rm -rf "$scratch"
mkdir -p "$scratch"
failures=0
complain() {
  echo "wrong: $*"
  failures=$((failures + 1))
}
expect() { # TITLE PATTERN SEEN
  # shellcheck disable=SC2254
  case $3 in
    $2) echo "$1: $3" ;;
    *) complain "$1: $3; expected $2" ;;
  esac
}

# configure NAME PREFIX [OPTION...]: the project of the standard input; its log is NAME.log.
configure() {
  name=$1 prefix=$2
  shift 2
  mkdir -p "$scratch/$name"
  cat >"$scratch/$name/CMakeLists.txt"
  cp "$(dirname "$0")"/consumer/*.c "$scratch/$name"
  cp "$scratch/$name/consumer.c" "$scratch/$name/consumer.cc"
  cmake -S "$scratch/$name" -B "$scratch/$name/build" -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_C_COMPILER="$cc" "$@" >"$scratch/$name.log" 2>&1
}
make() { cmake --build "$scratch/$1/build" >>"$scratch/$1.log" 2>&1; }

# record_only DIRECTORY PREFIX [OPTION...]: build and install libtsanom-record.
record_only() {
  directory=$1 prefix=$2
  shift 2
  cmake -S "$sources" -B "$directory" -DTSANOM_RECORD_ONLY=ON -DCMAKE_C_COMPILER="$cc" "$@" \
    >"$scratch/record.log" 2>&1
  cmake --build "$directory" >>"$scratch/record.log" 2>&1
  cmake --install "$directory" --prefix "$prefix" >>"$scratch/record.log" 2>&1
}

# seen PREFIX TARGET 'ARGUMENTS of find_package' [VARIABLE=VALUE...]: what a project sees. The commands
# before and after find_package() are the variables `before` and `after`.
before="project(p C)" after=
seen() {
  prefix=$1 target=$2 arguments=$3
  shift 3
  rm -rf "$scratch/seen"
  if (
    for assignment in "$@"; do export "${assignment?}"; done
    configure seen "$prefix" <<END
cmake_minimum_required(VERSION 3.18)
$before
find_package(tsanom 0.3 $arguments)
$after
set(there no)
if(TARGET $target)
  set(there yes)
endif()
message(STATUS "SEEN found=\${tsanom_FOUND} target=\${there} \${tsanom_NOT_FOUND_MESSAGE}")
END
  ); then
    sed -n 's/^-- SEEN //p' "$scratch/seen.log"
  else
    echo "CMake stops"
  fi
}

installed=$scratch/an\ installation
cmake --install "$build" --prefix "$installed" >"$scratch/install.log"
if [ -x "$installed/bin/tsanom" ]; then
  echo "== what programs and libraries need"
  /usr/bin/env python3 "$(dirname "$0")/libraries.py" "$(dirname "$0")/libraries.tsv" "$installed" --lapack ||
    complain "see libraries.tsv"
fi
nowhere="PKG_CONFIG_LIBDIR=$scratch PKG_CONFIG_PATH="

echo "== the minimum of CMake of a project"
for version in 3.0 3.5 3.25; do
  configure "old$version" "$installed" -Wno-dev -Wno-deprecated <<END || true
cmake_minimum_required(VERSION $version)
project(p C)
find_package(tsanom 0.3 REQUIRED)
add_executable(p consumer.c)
target_link_libraries(p tsanom::tsanom)
END
  if make "old$version" && "$scratch/old$version/build/p"; then
    echo "$version works"
  else
    complain "$version: see old$version.log"
  fi
done

echo "== components"
record_only "$scratch/both-build" "$scratch/both"
record_only "$scratch/shared-build" "$scratch/shared" -DBUILD_SHARED_LIBS=ON -DCMAKE_BUILD_TYPE=Debug
record_only "$scratch/static-build" "$scratch/static" -DBUILD_SHARED_LIBS=OFF -DCMAKE_BUILD_TYPE=Debug
# shellcheck disable=SC2086
{
  expect "optional static without pkg-config's modules" "found=[1T]* target=yes*" \
    "$(seen "$installed" tsanom::tsanom 'QUIET OPTIONAL_COMPONENTS static' $nowhere)"
  expect "static without them" "found=[0F]* target=no component static: lacks *pkg-config*" \
    "$(seen "$installed" tsanom::tsanom_static 'QUIET COMPONENTS static' $nowhere)"
}
expect "static" "found=[1T]* target=yes " \
  "$(seen "$installed" tsanom::tsanom_static 'COMPONENTS static')"
expect "an unknown component" "found=[0F]*component fortran: no component of this name*" \
  "$(seen "$installed" tsanom::tsanom 'QUIET COMPONENTS fortran')"
expect "optional static, only shared installed" "found=[1T]* target=yes*" \
  "$(seen "$scratch/shared" tsanom::record 'QUIET OPTIONAL_COMPONENTS static')"
expect "runs, only the recorder installed" "found=[0F]* target=no*component runs:*not installed*" \
  "$(seen "$scratch/both" tsanom::runs 'QUIET COMPONENTS runs')"
expect "nothing named, only the recorder installed" "found=[0F]*only libtsanom-record*" \
  "$(seen "$scratch/both" tsanom::tsanom 'QUIET')"
expect "shared, only static installed" "found=[0F]*only static libraries*" \
  "$(seen "$scratch/static" tsanom::record 'QUIET COMPONENTS shared')"
expect "record, only static installed" "found=[1T]* target=yes*" \
  "$(seen "$scratch/static" tsanom::record 'QUIET COMPONENTS record')"
expect "before project()" "found=[0F]* target=no project() comes before*" \
  "$(before='' after='project(p C)' && seen "$installed" tsanom::tsanom 'QUIET')"
expect "static, without a language" "found=[0F]* target=no component static: lacks C or C++*" \
  "$(before='project(p NONE)' && seen "$installed" tsanom::tsanom_static 'QUIET COMPONENTS static')"
expect "a build directory" "found=[1T]* target=yes*" \
  "$(seen "$scratch/both-build" tsanom::record 'COMPONENTS record')"

echo "== a project that builds the library and finds an installed one, too"
configure twice "$installed" -DTSANOM_RECORD_ONLY=ON <<END || complain "see twice.log"
cmake_minimum_required(VERSION 3.18)
project(p C)
add_subdirectory("$sources" tsanom)
find_package(tsanom 0.3 REQUIRED COMPONENTS record)
END

echo "== what a project added to the target of OpenMP"
configure openmp "$installed" <<'END' || complain "see openmp.log"
cmake_minimum_required(VERSION 3.18)
project(p C)
find_package(OpenMP REQUIRED)
target_compile_options(OpenMP::OpenMP_C INTERFACE -DOWN)
find_package(tsanom 0.3 REQUIRED COMPONENTS static)
get_target_property(options OpenMP::OpenMP_C INTERFACE_COMPILE_OPTIONS)
if(NOT options MATCHES "-DOWN")
  message(FATAL_ERROR "${options}")
endif()
END

echo "== a program without OpenMP links the archive"
language=CXX suffix=cc
command -v "${CXX:-c++}" >/dev/null || language=C suffix=c
configure leak "$installed" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON <<END
cmake_minimum_required(VERSION 3.18)
project(p $language)
find_package(tsanom 0.3 REQUIRED COMPONENTS static)
add_executable(p consumer.$suffix)
target_link_libraries(p PRIVATE tsanom::tsanom_static)
END
make leak && "$scratch/leak/build/p" || complain "a program: see leak.log"
if grep -E -- '-fopenmp|-pthread|openblas' "$scratch/leak/build/compile_commands.json"; then
  complain "the program is compiled with options of the library"
fi
lib=$(dirname "$(find "$installed" -name libtsanom.a)")
export PKG_CONFIG_PATH="$lib/pkgconfig"
flags=$(pkg-config --cflags tsanom tsanom-runs | sed 's/\\ / /g; s/ *$//')
expect "pkg-config --cflags" "-I*lib/pkgconfig/../../include" "$flags"

echo "== archives"
needs=$(PKG_CONFIG_PATH=$lib/pkgconfig pkg-config --static --libs-only-l tsanom tsanom-runs |
  sed 's/-ltsanom[a-z-]*//g')
openblas=$(pkg-config --libs-only-L openblas)
"$cc" -I"$installed/include" -c "$scratch/leak/consumer.c" -o "$scratch/consumer.o"
# shellcheck disable=SC2086
"$cc" -shared -Wl,--whole-archive "$lib/libtsanom.a" "$lib/libtsanom-record.a" \
  "$lib/libtsanom-runs.a" -Wl,--no-whole-archive $openblas $needs -o "$scratch/whole.so" ||
  complain "the archives cannot be linked as a whole"
expect "a plug-in of all of it exports" "0" \
  "$(nm -D --defined-only "$scratch/whole.so" | grep -c ' tsanom_' || true)"
mkdir "$scratch/members"
for name in tsanom tsanom-record tsanom-runs; do (cd "$scratch/members" && ar x "$lib/lib$name.a"); done
expect "members with the same name" "0" \
  "$(($(ar t "$lib/libtsanom.a" | wc -l) + $(ar t "$lib/libtsanom-record.a" | wc -l) + \
    $(ar t "$lib/libtsanom-runs.a" | wc -l) - $(find "$scratch/members" -type f | wc -l)))"
# shellcheck disable=SC2086
{
  ar rcs "$scratch/libbundle.a" "$scratch"/members/*.o
  "$cc" "$scratch/consumer.o" "$scratch/libbundle.a" $openblas $needs -o "$scratch/bundled"
} && "$scratch/bundled" || complain "a bundle of the members"

echo "== settings of a parent project, and a path with a comma and a space"
odd="$scratch/a, b"
record_only "$odd/build" "$odd/prefix" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_DEBUG_POSTFIX=d \
  -DCMAKE_UNITY_BUILD=ON -DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON || complain "see record.log"
lib=$(dirname "$(find "$odd/prefix" -name tsanom-record.pc)")
words=$(PKG_CONFIG_PATH=$lib pkg-config --cflags --libs tsanom-record)
(eval "'$cc' '$scratch/leak/heartbeat.c' -o '$scratch/postfix' $words") || complain "pkg-config: $words"

echo "== what is not supported"
mkdir "$scratch/no_glibc"
printf '#include_next <features.h>\n#undef __GLIBC__\n' >"$scratch/no_glibc/features.h"
printf '#!/bin/sh\nexec "%s" "$@" -U__GNUC__ -D__GNUC__=8\n' "$cc" >"$scratch/gcc-8"
chmod +x "$scratch/gcc-8"
# stops PATTERN OPTION...: the reason why CMake stops.
stops() {
  pattern=$1
  shift
  rm -rf "$scratch/stops"
  expect "CMake stops" "libtsanom $pattern" "$(cmake -S "$sources" -B "$scratch/stops" -DTSANOM_RECORD_ONLY=ON "$@" \
    2>&1 | sed -n 's/^ *\(libtsanom .*\)/\1/p')"
}
stops "needs Linux, not FreeBSD." -DCMAKE_SYSTEM_NAME=FreeBSD -DCMAKE_C_COMPILER="$cc"
stops "needs the GNU C library (glibc), not musl or another one." "-DCMAKE_C_FLAGS=-I$scratch/no_glibc" \
  -DCMAKE_C_COMPILER="$cc"
stops "needs gcc 9 or clang 11 or later, not *" -DCMAKE_C_COMPILER="$scratch/gcc-8"

echo "== what a parent project gets"
# CMake's own modules (FindOpenMP, FindPkgConfig, FindThreads, GNUInstallDirs) have variables, too.
sh "$(dirname "$0")/parent.sh" "$sources" "$scratch" -DCMAKE_C_COMPILER="$cc" >"$scratch/parent.list"
foreign=$(grep -v -e '^target tsanom_' -e '^target tsanom$' -e '^variable TSANOM_' -e '^variable tsanom_' \
    -e '^variable _*OpenMP_' -e '^variable PKG_CONFIG_' -e '^variable pkgcfg_lib_TSANOM_' \
    -e '^variable __pkg_config_' -e '^variable CMAKE_' -e '^variable prefix_result$' -e '^variable _GNUInstallDirs_' \
    -e '^variable FIND_PACKAGE_MESSAGE_DETAILS_' "$scratch/parent.list" || true)
[ -z "$foreign" ] || complain "$foreign"
[ "$(grep -c '^target' "$scratch/parent.list")" -ge 10 ] ||
  complain "no targets: see parent.log"
[ "$failures" -eq 0 ]
