# SPDX-License-Identifier: BSD-3-Clause
# libtsanom, and libtsanom-heartbeat: the emitter of heartbeats alone, which
# links nothing but the C library. Each is shared and static from one set of
# objects.

find_package(Threads REQUIRED)
get_property(all_objects GLOBAL PROPERTY TSANOM_OBJECTS)

# tsanom_library(<target> <export name> <file name> <objects> <libraries>)
function(tsanom_library target export_name file_name objects libraries)
  add_library(${target} SHARED ${objects})
  add_library(${target}_static STATIC ${objects})
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME ${file_name} EXPORT_NAME ${export_name}
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
    LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/tsanom.map)
  set_target_properties(${target}_static PROPERTIES
    OUTPUT_NAME ${file_name} EXPORT_NAME ${export_name}_static)
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
  target_link_libraries(${target} PRIVATE ${libraries})
  target_link_libraries(${target}_static PUBLIC ${libraries})
  add_library(tsanom::${export_name} ALIAS ${target})
  add_library(tsanom::${export_name}_static ALIAS ${target}_static)
  foreach(library IN ITEMS ${target} ${target}_static)
    set_target_properties(${library} PROPERTIES LINKER_LANGUAGE C)
    target_include_directories(${library} PUBLIC
      $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
      $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  endforeach()
endfunction()

tsanom_library(tsanom tsanom tsanom "${all_objects}"
               "OpenMP::OpenMP_C;PkgConfig::LAPACKE;PkgConfig::OPENBLAS;Threads::Threads;m")
tsanom_library(tsanom_heartbeat heartbeat tsanom-heartbeat
  "$<TARGET_OBJECTS:tsanom_heartbeat_emitter>;$<TARGET_OBJECTS:tsanom_heartbeat_ground>"
  Threads::Threads)

# libtsanom-runs: reads runs and model files. It needs jansson, and not libtsanom.
tsanom_library(tsanom_runs runs tsanom-runs
  "$<TARGET_OBJECTS:tsanom_runs_objects>;$<TARGET_OBJECTS:tsanom_base_objects>"
  "PkgConfig::JANSSON;m")
