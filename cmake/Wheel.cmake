# Included before project() when pip builds the Python package.
#
# The compiler is part of the wheel where LLVM and MLIR 22 are found, unless
# GIST_RUNTIME_ONLY is given. It is built with the compiler of the presets.
if(NOT DEFINED GIST_RUNTIME_ONLY AND NOT DEFINED MLIR_DIR AND
   NOT EXISTS /usr/lib/llvm-22/lib/cmake/mlir)
  message(STATUS "MLIR 22 was not found: the package will have the runtime and no compiler")
  set(GIST_RUNTIME_ONLY ON CACHE BOOL "")
endif()
if(NOT GIST_RUNTIME_ONLY AND NOT CMAKE_CXX_COMPILER AND NOT DEFINED ENV{CXX})
  find_program(GIST_CLANG clang-22)
  find_program(GIST_CLANGXX clang++-22)
  if(GIST_CLANG AND GIST_CLANGXX)
    set(CMAKE_C_COMPILER "${GIST_CLANG}" CACHE FILEPATH "")
    set(CMAKE_CXX_COMPILER "${GIST_CLANGXX}" CACHE FILEPATH "")
  endif()
endif()
