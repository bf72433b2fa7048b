# SPDX-License-Identifier: BSD-3-Clause
# What `cmake --install` lays down: libraries, headers, the CMake package
# `tsanom` and the pkg-config files. `tsanom::heartbeat` needs nothing else, so
# the package looks for OpenMP and LAPACKE only where the static library does.

install(TARGETS tsanom tsanom_heartbeat EXPORT tsanom-targets)
install(TARGETS tsanom_runs EXPORT tsanom-targets)
install(TARGETS tsanom_runs_static EXPORT tsanom-static-targets)
install(TARGETS tsanom_static tsanom_heartbeat_static EXPORT tsanom-static-targets)
install(DIRECTORY include/tsanom TYPE INCLUDE FILES_MATCHING PATTERN "*.h")
install(FILES docs/man/libtsanom.3 DESTINATION ${CMAKE_INSTALL_MANDIR}/man3)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tsanom)
install(EXPORT tsanom-targets NAMESPACE tsanom:: DESTINATION ${package_dir})
install(EXPORT tsanom-static-targets NAMESPACE tsanom:: DESTINATION ${package_dir})
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
foreach(package IN ITEMS tsanom tsanom-heartbeat tsanom-runs)
  configure_file(cmake/${package}.pc.in ${package}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${package}.pc
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
