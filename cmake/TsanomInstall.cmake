# SPDX-License-Identifier: BSD-3-Clause
# What `cmake --install` installs: libraries, headers, the CMake package `tsanom` and the
# pkg-config files. `tsanom::record` needs nothing else, so the package looks for OpenMP and
# LAPACKE only for the static libtsanom.

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tsanom)
if(TSANOM_SHARED)
  install(TARGETS ${TSANOM_SHARED_LIBRARIES} EXPORT tsanom-targets)
  install(EXPORT tsanom-targets NAMESPACE tsanom:: DESTINATION ${package_dir})
endif()
if(TSANOM_STATIC)
  install(TARGETS ${TSANOM_STATIC_LIBRARIES} EXPORT tsanom-static-targets)
  install(EXPORT tsanom-static-targets NAMESPACE tsanom:: DESTINATION ${package_dir})
endif()
if(TSANOM_RECORD_ONLY)
  install(FILES include/tsanom/base.h include/tsanom/heartbeat.h include/tsanom/record.h
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tsanom)
else()
  install(DIRECTORY include/tsanom TYPE INCLUDE FILES_MATCHING PATTERN "*.h")
  install(FILES docs/man/libtsanom.3 DESTINATION ${CMAKE_INSTALL_MANDIR}/man3)
endif()

configure_package_config_file(cmake/tsanomConfig.cmake.in tsanomConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(tsanomConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tsanomConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/tsanomConfigVersion.cmake
        DESTINATION ${package_dir})

# The prefix is found from the file's own place, so that a package may be moved.
file(RELATIVE_PATH TSANOM_PC_TO_PREFIX
     ${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" TSANOM_PC_TO_PREFIX "${TSANOM_PC_TO_PREFIX}")
set(TSANOM_PC_OPENMP_FLAGS ${OpenMP_C_FLAGS})
set(packages tsanom-record)
if(NOT TSANOM_RECORD_ONLY)
  list(APPEND packages tsanom tsanom-runs)
endif()
foreach(package IN LISTS packages)
  configure_file(cmake/${package}.pc.in ${package}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${package}.pc
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
