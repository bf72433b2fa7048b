# SPDX-License-Identifier: BSD-3-Clause
# tsanom_find_python(<variable> <module>...): the first of the interpreters in PATH, and the
# system's, that has the modules; empty if none has.
find_package(Python3 QUIET COMPONENTS Interpreter)

function(tsanom_find_python variable)
  list(JOIN ARGN ", " modules)
  foreach(python IN ITEMS ${Python3_EXECUTABLE} /usr/bin/python3)
    execute_process(COMMAND ${python} -c "import ${modules}" RESULT_VARIABLE failed
                    OUTPUT_QUIET ERROR_QUIET)
    if(failed EQUAL 0)
      set(${variable} ${python} PARENT_SCOPE)
      return()
    endif()
  endforeach()
  set(${variable} "" PARENT_SCOPE)
endfunction()
