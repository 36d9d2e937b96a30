# Included before project() when pip builds the Python package.
#
# The compiler is part of the wheel where MLIR 22 and Clang 22 are found, unless
# GIST_RUNTIME_ONLY says. CMAKE_CXX_COMPILER names another Clang; CXX does not,
# which pip's builds set to what Python was built with.
find_program(GIST_CLANG clang-22)
find_program(GIST_CLANGXX clang++-22)
if(NOT DEFINED GIST_RUNTIME_ONLY)
  if(NOT DEFINED MLIR_DIR AND NOT EXISTS /usr/lib/llvm-22/lib/cmake/mlir)
    set(missing "MLIR 22")
  elseif(NOT DEFINED CMAKE_CXX_COMPILER AND NOT (GIST_CLANG AND GIST_CLANGXX))
    set(missing "Clang 22")
  endif()
  if(missing)
    message(STATUS "${missing} was not found: the package will have the runtime and no compiler")
    set(GIST_RUNTIME_ONLY ON CACHE BOOL "")
  endif()
endif()
if(NOT GIST_RUNTIME_ONLY AND NOT DEFINED CMAKE_CXX_COMPILER AND
   GIST_CLANG AND GIST_CLANGXX)
  set(CMAKE_C_COMPILER "${GIST_CLANG}" CACHE FILEPATH "")
  set(CMAKE_CXX_COMPILER "${GIST_CLANGXX}" CACHE FILEPATH "")
endif()
