# SPDX-License-Identifier: BSD-3-Clause
# tsanom_check_platform(): stops with one sentence if the system or the compiler is none that the
# library supports (docs/limitations.md). A compiler that is not known may try.
include(CheckCSourceCompiles)

function(tsanom_check_platform)
  set(least_GNU 9)
  set(least_Clang 11)
  set(least ${least_${CMAKE_C_COMPILER_ID}})
  set(reason "")
  if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
    set(reason "needs Linux, not ${CMAKE_SYSTEM_NAME}")
  elseif(NOT CMAKE_SIZEOF_VOID_P EQUAL 8)
    set(reason "needs a 64-bit system")
  elseif(least AND CMAKE_C_COMPILER_VERSION VERSION_LESS least)
    set(reason "needs gcc 9 or clang 11 or later, not ${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}")
  else()
    set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
    check_c_source_compiles("#include <features.h>
#ifndef __GLIBC__
#error another C library
#endif
int in_every_file;" TSANOM_GLIBC)
    if(NOT TSANOM_GLIBC)
      unset(TSANOM_GLIBC CACHE) # the next try may have another compiler
      set(reason "needs the GNU C library (glibc), not musl or another one")
    endif()
  endif()
  if(reason)
    message(FATAL_ERROR "libtsanom ${reason}.")
  endif()
endfunction()
