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
set(TSANOM_OPTIMIZATION_base -O3)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  list(APPEND TSANOM_ISA_LEVELS v3 v4)
  if(TSANOM_SMALL_BASE)
    set(TSANOM_OPTIMIZATION_base -Os)
    set(TSANOM_ISA_FLAGS_base -DTSN_SMALL)
  endif()
  set(TSANOM_OPTIMIZATION_v3 -O3)
  set(TSANOM_OPTIMIZATION_v4 -O3)
  set(TSANOM_ISA_FLAGS_v3 -march=x86-64-v3)
  set(TSANOM_ISA_FLAGS_v4 -march=x86-64-v4 -mprefer-vector-width=512)
endif()

# Objects of a library whose internal symbols are hidden; tsanom_objects() also adds them to
# libtsanom.
function(tsanom_hidden target)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/include
                                               ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${target} PRIVATE tsanom_flags)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON
                                             C_VISIBILITY_PRESET hidden)
endfunction()

function(tsanom_objects target)
  tsanom_hidden(${target})
  set_property(GLOBAL APPEND PROPERTY TSANOM_OBJECTS $<TARGET_OBJECTS:${target}>)
endfunction()

# One object library per precision that has files. `suffix` is "" or "_f32".
function(tsanom_module_precision module suffix sources kernels)
  if(sources)
    set(target tsanom_${module}_objects${suffix})
    add_library(${target} OBJECT ${sources})
    tsanom_objects(${target})
    target_link_libraries(${target} PRIVATE OpenMP::OpenMP_C PkgConfig::LAPACKE)
    target_compile_definitions(${target} PRIVATE $<$<BOOL:${suffix}>:TSN_F32>)
  endif()
  if(kernels)
    if(TSANOM_BUILD_FUZZERS)
      # clang takes a minute per file for these checks in vector code. gcc's build with
      # sanitizers (preset asan) has them.
      set_property(SOURCE ${kernels} APPEND PROPERTY COMPILE_OPTIONS -fno-sanitize=undefined)
    endif()
    foreach(level IN LISTS TSANOM_ISA_LEVELS)
      set(target tsanom_${module}_kernels${suffix}_${level})
      add_library(${target} OBJECT ${kernels})
      tsanom_objects(${target})
      target_compile_definitions(${target} PRIVATE TSN_ISA=${level}
                                                   $<$<BOOL:${suffix}>:TSN_F32>)
      target_compile_options(${target} PRIVATE
        -fopenmp-simd $<$<NOT:$<CONFIG:Debug>>:${TSANOM_OPTIMIZATION_${level}}>
        ${TSANOM_ISA_FLAGS_${level}})
    endforeach()
  endif()
endfunction()

function(tsanom_module module)
  cmake_parse_arguments(ARG "" "" "SOURCES;HOT;WARM;KERNELS;F32_SOURCES;F32_KERNELS" ${ARGN})
  if(NOT TSANOM_SANITIZE AND NOT TSANOM_COVERAGE)
    set(cold ${ARG_SOURCES})
    list(REMOVE_ITEM cold ${ARG_HOT} ${ARG_WARM})
    set_property(SOURCE ${cold} APPEND PROPERTY
                 COMPILE_OPTIONS $<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:-Os>)
    if(ARG_WARM)
      set_property(SOURCE ${ARG_WARM} APPEND PROPERTY
                   COMPILE_OPTIONS $<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:-O2>)
    endif()
  endif()
  tsanom_module_precision(${module} "" "${ARG_SOURCES}" "${ARG_KERNELS}")
  tsanom_module_precision(${module} _f32 "${ARG_F32_SOURCES}" "${ARG_F32_KERNELS}")
endfunction()
