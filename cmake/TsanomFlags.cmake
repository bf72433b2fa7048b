# SPDX-License-Identifier: BSD-3-Clause
# Flags of our own files; installed targets carry none of them.

add_library(tsanom_flags INTERFACE)
target_compile_definitions(tsanom_flags INTERFACE _GNU_SOURCE)
# No contraction to FMA: results are bitwise equal at every level.
target_compile_options(tsanom_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wundef
  $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes;-Wmissing-prototypes>
  -ffp-contract=off)
if(TSANOM_WARNINGS_AS_ERRORS)
  target_compile_options(tsanom_flags INTERFACE -Werror)
endif()
if(CMAKE_C_COMPILER_ID STREQUAL "Clang")
  # "loop not vectorized" under -O0 and sanitizers is no defect.
  target_compile_options(tsanom_flags INTERFACE -Wno-pass-failed)
endif()
if(TSANOM_SANITIZE)
  target_compile_options(tsanom_flags INTERFACE -fsanitize=${TSANOM_SANITIZE}
                         -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${TSANOM_SANITIZE})
endif()
if(TSANOM_COVERAGE)
  add_link_options(--coverage)
endif()
