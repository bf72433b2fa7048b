# SPDX-License-Identifier: BSD-3-Clause
# The shared and the static library, from the same objects; and the emitter of
# heartbeats alone, which links nothing but the C library.

get_property(objects GLOBAL PROPERTY TSANOM_OBJECTS)

add_library(tsanom SHARED ${objects})
target_link_options(tsanom PRIVATE
  -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/tsanom.map
  # clang leaves the sanitizers' symbols of a shared library to the program
  $<$<NOT:$<BOOL:${TSANOM_SANITIZE}>>:-Wl,--no-undefined>)
set_target_properties(tsanom PROPERTIES
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
  LINKER_LANGUAGE C LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/tsanom.map)
target_link_libraries(tsanom PRIVATE OpenMP::OpenMP_C PkgConfig::LAPACKE
                                     PkgConfig::OPENBLAS m)

add_library(tsanom_static STATIC ${objects})
set_target_properties(tsanom_static PROPERTIES OUTPUT_NAME tsanom LINKER_LANGUAGE C
                                               EXPORT_NAME tsanom_static)
target_link_libraries(tsanom_static PUBLIC OpenMP::OpenMP_C PkgConfig::LAPACKE
                                     PkgConfig::OPENBLAS m)

set(objects $<TARGET_OBJECTS:tsanom_heartbeat_emitter>
            $<TARGET_OBJECTS:tsanom_heartbeat_ground>)
add_library(tsanom_heartbeat SHARED ${objects})
target_link_options(tsanom_heartbeat PRIVATE
  -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/tsanom.map -Wl,--no-undefined)
set_target_properties(tsanom_heartbeat PROPERTIES
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} EXPORT_NAME heartbeat
  LINKER_LANGUAGE C LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/tsanom.map)
add_library(tsanom_heartbeat_static STATIC ${objects})
set_target_properties(tsanom_heartbeat_static PROPERTIES
  OUTPUT_NAME tsanom_heartbeat LINKER_LANGUAGE C EXPORT_NAME heartbeat_static)
add_library(tsanom::heartbeat ALIAS tsanom_heartbeat)
add_library(tsanom::heartbeat_static ALIAS tsanom_heartbeat_static)

# The helper thread of a run and the release of streams at a thread's end outlive
# dlclose().
foreach(library IN ITEMS tsanom tsanom_heartbeat)
  target_link_options(${library} PRIVATE -Wl,-z,nodelete)
endforeach()

find_package(Threads REQUIRED)
foreach(library IN ITEMS tsanom_static tsanom_heartbeat_static)
  target_link_libraries(${library} PUBLIC Threads::Threads)
endforeach()
foreach(library IN ITEMS tsanom tsanom_heartbeat)
  target_link_libraries(${library} PRIVATE Threads::Threads)
endforeach()

foreach(library IN ITEMS tsanom tsanom_static tsanom_heartbeat tsanom_heartbeat_static)
  target_include_directories(${library} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endforeach()
add_library(tsanom::tsanom ALIAS tsanom)
add_library(tsanom::tsanom_static ALIAS tsanom_static)
