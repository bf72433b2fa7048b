# SPDX-License-Identifier: BSD-3-Clause
# cmake -DAR=… -DRANLIB=… -DARCHIVE=FILE -DLIST=FILE -P TsanomArchive.cmake
# Writes ARCHIVE again, of the objects that the lines of LIST name. The member for
# …/tsanom_dtw_kernels_v3.dir/dtw_kernel.c.o is tsanom_dtw_kernels_v3-dtw_kernel.c.o.
file(STRINGS ${LIST} objects)
set(links ${ARCHIVE}.members)
file(REMOVE_RECURSE ${links} ${ARCHIVE})
file(MAKE_DIRECTORY ${links})
set(members)
foreach(object IN LISTS objects)
  string(REGEX REPLACE "^.*/([^/]+)_[a-z]+\\.dir/" "\\1-" member ${object})
  string(REPLACE "/" "_" member ${member})
  file(CREATE_LINK ${object} ${links}/${member} SYMBOLIC)
  list(APPEND members ${member})
endforeach()
execute_process(COMMAND ${AR} qc ${ARCHIVE} ${members} WORKING_DIRECTORY ${links}
                RESULT_VARIABLE failed)
if(NOT failed)
  execute_process(COMMAND ${RANLIB} ${ARCHIVE} RESULT_VARIABLE failed)
endif()
if(failed)
  message(FATAL_ERROR "${AR}: ${failed}")
endif()
