# Included by tools/python where it is a project of its own: when pip builds it.
#
# The package is made of a build of Gist, the folder GIST_BUILD. Without one it is
# build/release, which samples/quickstart.sh builds too, so that nothing is
# compiled twice. A folder that does not exist is configured.
#
# The compiler is part of the package where MLIR 22 and Clang 22 are found, unless
# GIST_RUNTIME_ONLY says. CMAKE_CXX_COMPILER names another Clang; CXX does not,
# which pip's builds set to what Python was built with.
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH gist_root)
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
    set(GIST_RUNTIME_ONLY ON)
  endif()
endif()
if(NOT GIST_RUNTIME_ONLY AND NOT DEFINED CMAKE_CXX_COMPILER AND
   GIST_CLANG AND GIST_CLANGXX)
  set(CMAKE_C_COMPILER "${GIST_CLANG}" CACHE FILEPATH "")
  set(CMAKE_CXX_COMPILER "${GIST_CLANGXX}" CACHE FILEPATH "")
endif()
if(GIST_RUNTIME_ONLY)
  set(gist_preset runtime-only)
  set(gist_components runtime)
else()
  set(gist_preset release)
  set(gist_components runtime compiler)
endif()
set(GIST_BUILD "build/${gist_preset}" CACHE STRING "The build of Gist")
cmake_path(ABSOLUTE_PATH GIST_BUILD BASE_DIRECTORY "${gist_root}")

function(gist_run_cmake)
  execute_process(COMMAND "${CMAKE_COMMAND}" ${ARGN}
    WORKING_DIRECTORY "${gist_root}" COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# Brings the build up to date and installs it in the folder `prefix`, where
# find_package(Gist) finds it.
function(gist_install_build prefix)
  if(NOT EXISTS "${GIST_BUILD}/CMakeCache.txt")
    foreach(name MLIR_DIR CMAKE_C_COMPILER CMAKE_CXX_COMPILER)
      if(DEFINED ${name})
        list(APPEND options "-D${name}=${${name}}")
      endif()
    endforeach()
    gist_run_cmake(--preset ${gist_preset} -B "${GIST_BUILD}"
      -DGIST_BUILD_TESTS=OFF ${options})
  endif()
  cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
  gist_run_cmake(--build "${GIST_BUILD}" -j ${cores})
  foreach(component ${gist_components})
    gist_run_cmake(--install "${GIST_BUILD}" --prefix "${prefix}" --strip
      --component ${component})
  endforeach()
endfunction()
