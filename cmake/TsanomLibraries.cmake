# SPDX-License-Identifier: BSD-3-Clause
# libtsanom, and libtsanom-record, which links only the C library. Each is built from one
# set of objects:
#
#   BUILD_SHARED_LIBS   built and installed    tsanom::NAME   tsanom::NAME_static
#   not set             shared and static      shared         static
#   ON                  shared                 shared         in the build tree only
#   OFF                 static                 static         static

find_package(Threads REQUIRED)

if(DEFINED BUILD_SHARED_LIBS AND NOT BUILD_SHARED_LIBS)
  set(TSANOM_SHARED OFF)
else()
  set(TSANOM_SHARED ON)
endif()
if(DEFINED BUILD_SHARED_LIBS AND BUILD_SHARED_LIBS)
  set(TSANOM_STATIC OFF)
else()
  set(TSANOM_STATIC ON)
endif()
set(TSANOM_SHARED_LIBRARIES)
set(TSANOM_STATIC_LIBRARIES)

function(tsanom_shared_library target name file_name objects)
  add_library(${target} SHARED ${objects})
  set_target_properties(${target} PROPERTIES
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
    LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/tsanom.map)
  target_link_options(${target} PRIVATE
    -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/tsanom.map
    # The helper thread of a run and the release of streams at a thread's end
    # outlive dlclose().
    -Wl,-z,nodelete)
  # clang leaves the sanitizers' symbols of a shared library to the program. (No
  # generator expression: the list of sanitizers has commas.)
  if(NOT TSANOM_SANITIZE)
    target_link_options(${target} PRIVATE -Wl,--no-undefined)
  endif()
endfunction()

# tsanom_library(<target> <name> <file name> <objects>): <target> and <target>_static.
function(tsanom_library target name file_name objects)
  add_library(${target}_static STATIC ${objects})
  set(libraries ${target}_static)
  if(TSANOM_SHARED)
    tsanom_shared_library(${target} ${name} ${file_name} "${objects}")
    set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
    list(APPEND libraries ${target})
    add_library(tsanom::${name} ALIAS ${target})
    list(APPEND TSANOM_SHARED_LIBRARIES ${target})
  else()
    add_library(${target} ALIAS ${target}_static)
    add_library(tsanom::${name} ALIAS ${target}_static)
  endif()
  set_target_properties(${target}_static PROPERTIES EXPORT_NAME ${name}_static)
  add_library(tsanom::${name}_static ALIAS ${target}_static)
  if(TSANOM_STATIC)
    list(APPEND TSANOM_STATIC_LIBRARIES ${target}_static)
  else()
    set_target_properties(${target}_static PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
  foreach(library IN LISTS libraries)
    set_target_properties(${library} PROPERTIES OUTPUT_NAME ${file_name} LINKER_LANGUAGE C)
    target_include_directories(${library} PUBLIC
      $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
      $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  endforeach()
  set(TSANOM_SHARED_LIBRARIES ${TSANOM_SHARED_LIBRARIES} PARENT_SCOPE)
  set(TSANOM_STATIC_LIBRARIES ${TSANOM_STATIC_LIBRARIES} PARENT_SCOPE)
endfunction()

tsanom_library(tsanom_record record tsanom-record
  "$<TARGET_OBJECTS:tsanom_record_objects>;$<TARGET_OBJECTS:tsanom_base_objects>")
target_link_libraries(tsanom_record_static PUBLIC Threads::Threads)
if(TSANOM_SHARED)
  target_link_libraries(tsanom_record PRIVATE Threads::Threads)
endif()

if(NOT TSANOM_RECORD_ONLY)
  get_property(all_objects GLOBAL PROPERTY TSANOM_OBJECTS)
  tsanom_library(tsanom tsanom tsanom "${all_objects}")
  set(needed OpenMP::OpenMP_C PkgConfig::LAPACKE PkgConfig::OPENBLAS m)
  target_link_libraries(tsanom_static PUBLIC tsanom_record_static ${needed})
  if(TSANOM_SHARED)
    target_link_libraries(tsanom PUBLIC tsanom_record PRIVATE ${needed})
  endif()
endif()

# libtsanom-runs: reads runs and model files. It needs jansson, and not libtsanom.
if(NOT TSANOM_RECORD_ONLY)
  tsanom_library(tsanom_runs runs tsanom-runs
    "$<TARGET_OBJECTS:tsanom_runs_objects>;$<TARGET_OBJECTS:tsanom_base_objects>")
  target_link_libraries(tsanom_runs_static PUBLIC PkgConfig::JANSSON m)
  if(TSANOM_SHARED)
    target_link_libraries(tsanom_runs PRIVATE PkgConfig::JANSSON m)
  endif()
endif()
