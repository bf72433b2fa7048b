# SPDX-License-Identifier: BSD-3-Clause
# What `cmake --install` installs: libraries, headers, the CMake package `tsanom` and the
# pkg-config files. The build directory is a package, too.

# The targets are exported even if nothing is installed: a parent project's export() of a library that
# links them needs that.
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tsanom)
foreach(kind IN ITEMS SHARED STATIC)
  if(TSANOM_${kind})
    string(TOLOWER tsanom-${kind}-targets set)
    export(TARGETS ${TSANOM_${kind}_LIBRARIES} NAMESPACE tsanom::
           FILE ${PROJECT_BINARY_DIR}/${set}.cmake)
    if(TSANOM_INSTALL)
      install(TARGETS ${TSANOM_${kind}_LIBRARIES} EXPORT ${set})
      install(EXPORT ${set} NAMESPACE tsanom:: DESTINATION ${package_dir})
    endif()
  endif()
endforeach()
if(NOT TSANOM_INSTALL)
  return()
endif()
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(TSANOM_RECORD_ONLY)
  install(FILES include/tsanom/base.h include/tsanom/heartbeat.h include/tsanom/record.h
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tsanom)
else()
  install(DIRECTORY include/tsanom TYPE INCLUDE FILES_MATCHING PATTERN "*.h" PATTERN "abi.json")
  install(FILES docs/man/libtsanom.3 DESTINATION ${CMAKE_INSTALL_MANDIR}/man3)
endif()

set(TSANOM_PC_MODULES jansson)
if(TSANOM_LAPACK)
  set(TSANOM_PC_MODULES "lapacke openblas jansson")
endif()
configure_package_config_file(cmake/tsanomConfig.cmake.in tsanomConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(tsanomConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tsanomConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/tsanomConfigVersion.cmake
        DESTINATION ${package_dir})

# Directories are found from the file's own place, so that a package may be moved.
set(pc_directory ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH pc_to_prefix ${pc_directory} ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" pc_to_prefix "${pc_to_prefix}")
file(RELATIVE_PATH pc_to_includes ${pc_directory} ${CMAKE_INSTALL_FULL_INCLUDEDIR})

# tsanom_pkgconfig(<package> <target> <description> [REQUIRES package] [PRIVATE package]
#                  NEEDS flag...)
# PRIVATE and NEEDS are for links to the archive: for all programs where there is no shared
# library. NEEDS are flags of the linker and not packages, whose directories of headers would
# be searched for the programs' own sources.
function(tsanom_pkgconfig package target description)
  cmake_parse_arguments(ARG "" "REQUIRES;PRIVATE" "NEEDS" ${ARGN})
  list(JOIN ARG_NEEDS " " needs)
  if(TSANOM_SHARED)
    set(fields "Requires: ${ARG_REQUIRES}\nRequires.private: ${ARG_PRIVATE}\nLibs.private: ${needs}\n")
    set(needs "")
  else()
    set(target ${target}_static)
    set(fields "Requires: ${ARG_REQUIRES} ${ARG_PRIVATE}\n")
  endif()
  set(file ${PROJECT_BINARY_DIR}/pkgconfig-$<CONFIG>/${package}.pc)
  file(GENERATE OUTPUT ${file} CONTENT "prefix=\${pcfiledir}/${pc_to_prefix}
libdir=\${pcfiledir}/..
includedir=\${pcfiledir}/${pc_to_includes}

Name: ${package}
Description: ${description}
Version: ${PROJECT_VERSION}
${fields}Libs: -L\${libdir} -l$<TARGET_FILE_BASE_NAME:${target}> ${needs}
Cflags: -I\${includedir}
")
  install(FILES ${file} DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

set(dl ${CMAKE_DL_LIBS})
list(TRANSFORM dl PREPEND -l)
tsanom_pkgconfig(tsanom-record tsanom_record
                 "The recorder of libtsanom, which needs only the C library" NEEDS -pthread ${dl})
if(NOT TSANOM_RECORD_ONLY)
  set(openmp ${OpenMP_C_LIB_NAMES})
  list(TRANSFORM openmp PREPEND -l)
  tsanom_pkgconfig(tsanom tsanom "${PROJECT_DESCRIPTION}" REQUIRES tsanom-record
                   NEEDS ${TSANOM_LAPACKE_LDFLAGS} ${TSANOM_OPENBLAS_LDFLAGS} ${openmp} -lm)
  tsanom_pkgconfig(tsanom-runs tsanom_runs "Reads runs and model files of libtsanom"
                   PRIVATE tsanom-record NEEDS ${TSANOM_JANSSON_LDFLAGS} -lm)
  file(WRITE ${PROJECT_BINARY_DIR}/tsanom-all.pc "Name: tsanom-all
Description: libtsanom, its reader of runs, and its recorder
Version: ${PROJECT_VERSION}
Requires: tsanom tsanom-runs tsanom-record
")
  install(FILES ${PROJECT_BINARY_DIR}/tsanom-all.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
