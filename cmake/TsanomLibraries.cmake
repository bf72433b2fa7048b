# SPDX-License-Identifier: BSD-3-Clause
# The shared and the static library, from the same objects.

get_property(objects GLOBAL PROPERTY TSANOM_OBJECTS)

add_library(tsanom SHARED ${objects})
target_link_options(tsanom PRIVATE
  -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/tsanom.map -Wl,--no-undefined)
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

foreach(library IN ITEMS tsanom tsanom_static)
  target_include_directories(${library} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  add_library(tsanom::${library} ALIAS ${library})
endforeach()
