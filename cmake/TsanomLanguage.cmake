# SPDX-License-Identifier: BSD-3-Clause
# Languages that are used where they have a compiler.
include(CheckLanguage)

# Enable a language if there is a compiler for it. In a cross build that is one which the
# toolchain names: CMake would find that of the host.
macro(tsanom_find_language language)
  if(NOT CMAKE_${language}_COMPILER)
    unset(CMAKE_${language}_COMPILER CACHE) # it may have been installed since
  endif()
  if(NOT CMAKE_CROSSCOMPILING)
    check_language(${language})
  endif()
  if(CMAKE_${language}_COMPILER)
    enable_language(${language})
  endif()
endmacro()
