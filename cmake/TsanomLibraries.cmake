# SPDX-License-Identifier: BSD-3-Clause
# libtsanom, and libtsanom-record, which links only the C library. Each is built from one
# set of objects:
#
#   BUILD_SHARED_LIBS   built and installed    tsanom::NAME   tsanom::NAME_static
#   not set             shared and static      shared         static
#   ON                  shared                 shared         in the build tree only
#   OFF                 static                 static         static

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

function(tsanom_shared_library target file_name objects)
  set(map ${PROJECT_SOURCE_DIR}/cmake/${file_name}.map)
  add_library(${target} SHARED ${objects})
  # -Xlinker and not -Wl: the path may contain commas.
  set_target_properties(${target} PROPERTIES
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    INSTALL_RPATH $ORIGIN
    LINK_DEPENDS ${map})
  target_link_options(${target} PRIVATE
    "SHELL:-Xlinker \"--version-script=${map}\""
    # The helper thread of a run and the release of streams at a thread's end
    # outlive dlclose().
    -Wl,-z,nodelete)
  # clang leaves the sanitizers' symbols of a shared library to the program. (No
  # generator expression: the list of sanitizers has commas.)
  if(NOT TSANOM_SANITIZE)
    target_link_options(${target} PRIVATE -Wl,--no-undefined)
  endif()
endfunction()

# Members of an archive must have names of their own, or `ar x` loses some: put the objects into
# it again, by the names of their object libraries.
function(tsanom_static_library target objects)
  add_library(${target} STATIC ${objects})
  # The compiler's own know objects of link-time optimization.
  set(ar ${CMAKE_AR})
  set(ranlib ${CMAKE_RANLIB})
  if(CMAKE_C_COMPILER_AR AND CMAKE_C_COMPILER_RANLIB)
    set(ar ${CMAKE_C_COMPILER_AR})
    set(ranlib ${CMAKE_C_COMPILER_RANLIB})
  endif()
  set(list ${CMAKE_CURRENT_BINARY_DIR}/${target}-$<CONFIG>.objects)
  file(GENERATE OUTPUT ${list} CONTENT "$<JOIN:${objects},\n>\n")
  add_custom_command(TARGET ${target} POST_BUILD
    COMMAND ${CMAKE_COMMAND} -DAR=${ar} -DRANLIB=${ranlib} -DARCHIVE=$<TARGET_FILE:${target}>
            -DLIST=${list} -P ${PROJECT_SOURCE_DIR}/cmake/TsanomArchive.cmake
    VERBATIM)
endfunction()

# The objects of the parts `parts` for a library of `kind`, shared or static.
function(tsanom_objects_of variable kind parts)
  set(objects)
  foreach(part IN LISTS parts)
    foreach(property IN ITEMS TSANOM_OBJECTS_${part}_both TSANOM_OBJECTS_${part}_${kind})
      get_property(found GLOBAL PROPERTY ${property})
      list(APPEND objects ${found})
    endforeach()
  endforeach()
  set(${variable} ${objects} PARENT_SCOPE)
endfunction()

# tsanom_library(<target> <name> <file name> PARTS part... [ALSO_SHARED part...]
#                [NEEDS library...] [SHARED_NEEDS library...] [STATIC_NEEDS library...]):
# <target> and <target>_static. The archive takes the parts ALSO_SHARED from another archive, so
# that several can be linked as a whole. NEEDS concern the linker only: what the library itself is
# compiled with is not for programs that use it.
function(tsanom_library target name file_name)
  cmake_parse_arguments(ARG "" "" "PARTS;ALSO_SHARED;NEEDS;SHARED_NEEDS;STATIC_NEEDS" ${ARGN})
  tsanom_objects_of(objects static "${ARG_PARTS}")
  tsanom_static_library(${target}_static "${objects}")
  target_link_libraries(${target}_static PUBLIC ${ARG_STATIC_NEEDS} PRIVATE ${ARG_NEEDS})
  set(libraries ${target}_static)
  if(TSANOM_SHARED)
    tsanom_objects_of(objects shared "${ARG_PARTS};${ARG_ALSO_SHARED}")
    tsanom_shared_library(${target} ${file_name} "${objects}")
    target_link_libraries(${target} PUBLIC ${ARG_SHARED_NEEDS} PRIVATE ${ARG_NEEDS})
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

tsanom_library(tsanom_record record tsanom-record PARTS record base status
               NEEDS Threads::Threads ${CMAKE_DL_LIBS})
if(NOT TSANOM_RECORD_ONLY)
  tsanom_library(tsanom tsanom tsanom PARTS tsanom ALSO_SHARED base
                 NEEDS OpenMP::OpenMP_C ${lapack_targets} m
                 SHARED_NEEDS tsanom_record STATIC_NEEDS tsanom_record_static)
  # libtsanom-runs: reads runs and model files. It needs jansson, and not libtsanom.
  tsanom_library(tsanom_runs runs tsanom-runs PARTS runs ALSO_SHARED base status
                 NEEDS PkgConfig::TSANOM_JANSSON Threads::Threads m STATIC_NEEDS tsanom_record_static)
  add_library(tsanom_all INTERFACE)
  target_link_libraries(tsanom_all INTERFACE tsanom::tsanom tsanom::runs tsanom::record)
  add_library(tsanom::all ALIAS tsanom_all)
endif()
