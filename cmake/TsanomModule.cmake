# SPDX-License-Identifier: BSD-3-Clause
# tsanom_module(<module> SOURCES file... [HOT file...] [WARM file...] [KERNELS file...]
#               [F32_SOURCES file...] [F32_KERNELS file...])
#
# Adds a module's files to the library. SOURCES are compiled once for the base
# instruction set; KERNELS once per level of TSANOM_ISA_LEVELS, each with
# -DTSN_ISA=<level> and that level's flags, which no other file gets. The files named
# again in F32_SOURCES and F32_KERNELS are compiled a second time in single precision,
# with -DTSN_F32.
#
# An optimized build makes SOURCES small, and fast only those named again in HOT: those
# where a row of the benchmarks spends more than 2 % of its time. WARM are those of them
# that are as fast at -O2, which is smaller. Kernels are always fast:
# at -O2 they save 0.1 MB and take up to 1.6 times as long.

# Processors without AVX2 are rare: where there are other levels, the base level is small
# rather than fast. With TSN_SMALL a kernel leaves out what only makes it faster.
option(TSANOM_SMALL_BASE "Keep the base level small where there are others" ON)
set(TSANOM_ISA_LEVELS base)
# With -O3 and sanitizers, clang takes twice as long for kernels, which run no faster.
set(optimization -O3)
if(TSANOM_SANITIZE)
  set(optimization -O2)
endif()
set(TSANOM_OPTIMIZATION_base ${optimization})
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  list(APPEND TSANOM_ISA_LEVELS v3 v4)
  if(TSANOM_SMALL_BASE)
    set(TSANOM_OPTIMIZATION_base -Os)
    set(TSANOM_ISA_FLAGS_base -DTSN_SMALL)
  endif()
  set(TSANOM_OPTIMIZATION_v3 ${optimization})
  set(TSANOM_OPTIMIZATION_v4 ${optimization})
  # What -march=x86-64-v3 and -v4 stand for, which gcc 11 and clang 12 are the first to know.
  set(TSANOM_ISA_FLAGS_v3 -mcx16 -msahf -mpopcnt -msse4.2 -mavx2 -mbmi -mbmi2 -mf16c -mfma -mlzcnt
      -mmovbe -mxsave)
  set(TSANOM_ISA_FLAGS_v4 ${TSANOM_ISA_FLAGS_v3} -mavx512f -mavx512bw -mavx512cd -mavx512dq
      -mavx512vl -mprefer-vector-width=512)
endif()

# Of all files but kernels: the caller's stack may be small. Without optimization, with
# sanitizers, and by clang, which puts more functions into one, frames are larger.
set(TSANOM_SOURCE_OPTIONS)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND NOT TSANOM_SANITIZE AND NOT TSANOM_COVERAGE)
  list(APPEND TSANOM_SOURCE_OPTIONS $<$<NOT:$<CONFIG:Debug>>:-Wframe-larger-than=8192>)
endif()

# tsanom_objects(<library> <name> SOURCES file... [DEFINITIONS definition...]
#                [OPTIONS option...] [LIBRARIES library...])
#
# Adds object libraries to a library or to a part of several. Internal symbols are hidden.
# Files that define public functions are compiled twice: the shared library exports these
# functions, and in the archive they are hidden too, so that a plug-in that contains the
# archive exports none of them.
function(tsanom_objects library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEFINITIONS;OPTIONS;LIBRARIES" ${ARGN})
  set(both)
  set(public)
  foreach(source IN LISTS ARG_SOURCES)
    file(STRINGS ${source} definitions LIMIT_COUNT 1 REGEX "^[a-z].*[ *]tsanom_[a-z0-9_]+\\(")
    if(definitions)
      list(APPEND public ${source})
    else()
      list(APPEND both ${source})
    endif()
  endforeach()
  set(shared ${public})
  set(static ${public})
  foreach(kind IN ITEMS both shared static)
    if(${kind})
      set(target ${name}_${kind})
      add_library(${target} OBJECT EXCLUDE_FROM_ALL ${${kind}})
      target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/include
                                                   ${PROJECT_SOURCE_DIR}/src)
      target_compile_definitions(${target} PRIVATE ${ARG_DEFINITIONS}
                                 $<$<STREQUAL:${kind},static>:TSANOM_API=>)
      if(NOT "${ARG_DEFINITIONS}" MATCHES "TSN_ISA")
        # An exception out of a poll of C++ passes (core/cleanup.h); the other libraries need only
        # the C library, and no runtime for it.
        if(library STREQUAL "tsanom")
          target_compile_options(${target} PRIVATE -fexceptions)
        endif()
        target_compile_options(${target} PRIVATE ${TSANOM_SOURCE_OPTIONS})
      endif()
      target_compile_options(${target} PRIVATE ${ARG_OPTIONS})
      target_link_libraries(${target} PRIVATE tsanom_flags ${ARG_LIBRARIES})
      set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON
                                                 C_VISIBILITY_PRESET hidden)
      set_property(GLOBAL APPEND PROPERTY TSANOM_OBJECTS_${library}_${kind}
                   $<TARGET_OBJECTS:${target}>)
    endif()
  endforeach()
  list(TRANSFORM ARG_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  set_property(GLOBAL APPEND PROPERTY TSANOM_SOURCES_${library} ${ARG_SOURCES})
endfunction()

# Object libraries of one precision. `suffix` is "" or "_f32".
function(tsanom_module_precision module suffix sources kernels)
  set(precision $<$<BOOL:${suffix}>:TSN_F32>)
  if(sources)
    tsanom_objects(tsanom tsanom_${module}_objects${suffix} SOURCES ${sources}
                   DEFINITIONS ${precision}
                   LIBRARIES OpenMP::OpenMP_C ${lapack_targets})
  endif()
  if(kernels)
    if(TSANOM_BUILD_FUZZERS)
      # clang takes a minute per file for these checks in vector code. The build with
      # sanitizers (preset asan) has them.
      set_property(SOURCE ${kernels} APPEND PROPERTY COMPILE_OPTIONS -fno-sanitize=undefined)
    endif()
    foreach(level IN LISTS TSANOM_ISA_LEVELS)
      tsanom_objects(tsanom tsanom_${module}_kernels${suffix}_${level} SOURCES ${kernels}
                     DEFINITIONS TSN_ISA=${level} ${precision}
                     OPTIONS -fopenmp-simd $<$<NOT:$<CONFIG:Debug>>:${TSANOM_OPTIMIZATION_${level}}>
                             ${TSANOM_ISA_FLAGS_${level}})
    endforeach()
  endif()
endfunction()

function(tsanom_module module)
  cmake_parse_arguments(ARG "" "" "SOURCES;HOT;WARM;KERNELS;F32_SOURCES;F32_KERNELS" ${ARGN})
  if(NOT TSANOM_SANITIZE AND NOT TSANOM_COVERAGE)
    set(optimized $<OR:$<CONFIG:Release>,$<CONFIG:RelWithDebInfo>,$<CONFIG:MinSizeRel>>)
    set(cold ${ARG_SOURCES})
    if(ARG_HOT OR ARG_WARM)
      list(REMOVE_ITEM cold ${ARG_HOT} ${ARG_WARM})
    endif()
    set_property(SOURCE ${cold} APPEND PROPERTY COMPILE_OPTIONS $<${optimized}:-Os>)
    if(ARG_WARM)
      set_property(SOURCE ${ARG_WARM} APPEND PROPERTY COMPILE_OPTIONS $<${optimized}:-O2>)
    endif()
  endif()
  tsanom_module_precision(${module} "" "${ARG_SOURCES}" "${ARG_KERNELS}")
  tsanom_module_precision(${module} _f32 "${ARG_F32_SOURCES}" "${ARG_F32_KERNELS}")
endfunction()
