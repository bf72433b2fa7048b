# SPDX-License-Identifier: BSD-3-Clause
# Flags of our own files; installed targets carry none of them.

add_library(tsanom_flags INTERFACE)
target_compile_definitions(tsanom_flags INTERFACE _GNU_SOURCE)
# No contraction to FMA: results are bitwise equal at every level.
target_compile_options(tsanom_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wundef
  $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes;-Wmissing-prototypes>
  -ffp-contract=off)
# Tests for NaN, and equal bits, need the arithmetic of IEEE 754 whatever a parent project or CFLAGS
# set.
get_directory_property(inherited COMPILE_OPTIONS)
string(TOUPPER "CMAKE_C_FLAGS_${CMAKE_BUILD_TYPE}" flags_of_type)
if("${CMAKE_C_FLAGS} ${${flags_of_type}} ${inherited}" MATCHES
   "-Ofast|-f(fast|unsafe|finite|associative)-math")
  target_compile_options(tsanom_flags INTERFACE -fno-fast-math)
endif()
if(TSANOM_WARNINGS_AS_ERRORS)
  target_compile_options(tsanom_flags INTERFACE -Werror)
endif()
if(CMAKE_C_COMPILER_ID STREQUAL "Clang")
  # "loop not vectorized" under -O0 and sanitizers is no defect. Constants are enumerators.
  target_compile_options(tsanom_flags INTERFACE -Wno-pass-failed -Wno-enum-float-conversion)
endif()
if((CMAKE_C_COMPILER_ID STREQUAL "GNU" AND CMAKE_C_COMPILER_VERSION VERSION_GREATER_EQUAL 15) OR
   (CMAKE_C_COMPILER_ID STREQUAL "Clang" AND CMAKE_C_COMPILER_VERSION VERSION_GREATER_EQUAL 21))
  # The magics of files have eight bytes and no NUL.
  target_compile_options(tsanom_flags INTERFACE
    $<$<COMPILE_LANGUAGE:C>:-Wno-unterminated-string-initialization>)
endif()
if(TSANOM_SANITIZE)
  # clang takes long for checks in vector code; v4 has few lines that v3 has not.
  option(TSANOM_SANITIZE_V4 "Sanitizers also in kernels of the level v4" ON)
  set(is_checked 1)
  if(NOT TSANOM_SANITIZE_V4)
    set(is_checked $<NOT:$<IN_LIST:TSN_ISA=v4,$<TARGET_PROPERTY:COMPILE_DEFINITIONS>>>)
  endif()
  target_compile_options(tsanom_flags INTERFACE $<${is_checked}:-fsanitize=${TSANOM_SANITIZE}>
                         -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${TSANOM_SANITIZE})
endif()
if(TSANOM_COVERAGE)
  add_link_options(--coverage)
endif()
