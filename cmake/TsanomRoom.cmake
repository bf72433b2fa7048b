# SPDX-License-Identifier: BSD-3-Clause
# tsanom_room(<room> SOURCES file... [KERNELS file...])
#
# Adds a room's files to the library. SOURCES are compiled once for the base
# instruction set; KERNELS once per level of TSANOM_ISA_LEVELS, each with
# -DTSN_ISA=<level> and that level's flags, which no other file gets.

if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  set(TSANOM_ISA_LEVELS base v3 v4)
  set(TSANOM_ISA_FLAGS_v3 -march=x86-64-v3)
  set(TSANOM_ISA_FLAGS_v4 -march=x86-64-v4 -mprefer-vector-width=512)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  set(TSANOM_ISA_LEVELS base sve)
  set(TSANOM_ISA_FLAGS_sve -march=armv8.2-a+sve)
else()
  set(TSANOM_ISA_LEVELS base)
endif()

function(tsanom_objects target)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/include
                                               ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${target} PRIVATE tsanom_flags)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON
                                             C_VISIBILITY_PRESET hidden)
  set_property(GLOBAL APPEND PROPERTY TSANOM_OBJECTS $<TARGET_OBJECTS:${target}>)
endfunction()

function(tsanom_room room)
  cmake_parse_arguments(ARG "" "" "SOURCES;KERNELS" ${ARGN})
  add_library(tsanom_${room}_objects OBJECT ${ARG_SOURCES})
  tsanom_objects(tsanom_${room}_objects)
  target_link_libraries(tsanom_${room}_objects PRIVATE OpenMP::OpenMP_C PkgConfig::LAPACKE)
  if(ARG_KERNELS)
    foreach(level IN LISTS TSANOM_ISA_LEVELS)
      set(target tsanom_${room}_kernels_${level})
      add_library(${target} OBJECT ${ARG_KERNELS})
      tsanom_objects(${target})
      target_compile_definitions(${target} PRIVATE TSN_ISA=${level})
      target_compile_options(${target} PRIVATE -fopenmp-simd $<$<NOT:$<CONFIG:Debug>>:-O3>
                             ${TSANOM_ISA_FLAGS_${level}})
    endforeach()
  endif()
endfunction()
