# The project's CMake functions; folders use nothing else of ours.

include(GNUInstallDirs)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# Debian keeps LLVM in a folder of its own; installed tools must still find it.
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

find_program(GIST_CCACHE ccache)
if(GIST_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER "${GIST_CCACHE}")
  # ccache caches no code with precompiled headers by default.
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env
    CCACHE_SLOPPINESS=pch_defines,time_macros "${GIST_CCACHE}")
endif()

# Large pieces: files share the headers that they read. It takes 1 GB a piece.
if(NOT DEFINED CMAKE_UNITY_BUILD_BATCH_SIZE)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 24)
endif()

# gist_group_sources(<target>): what CMAKE_UNITY_BUILD compiles as one file. Two
# files that define something of the same name for themselves are kept apart; run
# CMake again when an edit gave them one.
function(gist_group_sources target)
  set(most "${CMAKE_UNITY_BUILD_BATCH_SIZE}")
  if(NOT most)
    set(most 1000)
  endif()
  set(groups 0)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  foreach(source ${sources})
    # As clang-format leaves it: what a file declares begins its line, and the name
    # of a function that has no room beside its type begins the next.
    file(READ "${source}" text)
    string(REGEX REPLACE "\n([a-z][A-Za-z0-9]*\\()" " \\1" text "${text}")
    string(REGEX MATCHALL "\n[A-Za-z][^][\n;={(]* [^][\n;={(]+" names "${text}")
    list(FILTER names EXCLUDE REGEX "^\n(using|namespace|extern) ")
    list(TRANSFORM names REPLACE "( final| :).*" "")
    list(TRANSFORM names STRIP)
    list(TRANSFORM names REPLACE ".*[ *&>]" "")
    list(REMOVE_ITEM names "")
    set(at 0)
    while(at LESS groups)
      list(LENGTH members_${at} count)
      set(shared "${names_${at}}")
      list(REMOVE_ITEM shared ${names} " ")
      if(count LESS most AND shared STREQUAL "${names_${at}}")
        break()
      endif()
      math(EXPR at "${at} + 1")
    endwhile()
    if(at EQUAL groups)
      math(EXPR groups "${groups} + 1")
    endif()
    list(APPEND members_${at} "${source}")
    list(APPEND names_${at} ${names})
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${target}_${at}")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
endfunction()

# Warnings and sanitizers for our own code; `target` links no LLVM.
function(gist_configure_target target)
  if(CMAKE_UNITY_BUILD)
    gist_group_sources(${target})
  endif()
  target_compile_options(${target} PRIVATE -Wall -Wextra)
  # GCC 12 sees overlapping copies in its own std::string.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND
     CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE -Wno-restrict)
  endif()
  if(GIST_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  # Libraries do the work; code of executables has to compile fast instead.
  get_target_property(type ${target} TYPE)
  if(GIST_QUICK_EXECUTABLES AND type STREQUAL "EXECUTABLE")
    target_compile_options(${target} PRIVATE -O0)
  endif()
  if(GIST_SANITIZE OR GIST_FUZZ)
    target_compile_options(${target} PRIVATE
      -fsanitize=address,undefined -fno-sanitize-recover=undefined
      -fno-omit-frame-pointer)
    target_link_options(${target} PRIVATE -fsanitize=address,undefined)
  endif()
  if(GIST_SANITIZE_THREADS)
    target_compile_options(${target} PRIVATE -fsanitize=thread)
    target_link_options(${target} PRIVATE -fsanitize=thread)
  endif()
  # libFuzzer is guided by the branches that were taken.
  if(GIST_FUZZ)
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
  if(GIST_COVERAGE)
    target_compile_options(${target} PRIVATE
      -fprofile-instr-generate -fcoverage-mapping)
    target_link_options(${target} PRIVATE -fprofile-instr-generate)
  endif()
endfunction()

# The same for code that uses LLVM and MLIR, whose headers get no warnings.
function(gist_configure_mlir_target target)
  gist_configure_target(${target})
  target_include_directories(${target} SYSTEM PRIVATE
    ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
  target_compile_definitions(${target} PRIVATE ${GIST_LLVM_DEFINITIONS})
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-fno-rtti -fno-exceptions -Wno-unused-parameter>)
  # vptr checks need RTTI, which LLVM is built without.
  if(GIST_SANITIZE)
    target_compile_options(${target} PRIVATE -fno-sanitize=vptr)
  endif()
endfunction()

# Debian ships LLVM and MLIR as one shared library each. Its package version is
# 22.1, so asking for 22 is refused; the major version is checked here.
macro(gist_find_mlir)
  if(NOT MLIR_DIR AND EXISTS /usr/lib/llvm-22/lib/cmake/mlir)
    set(MLIR_DIR /usr/lib/llvm-22/lib/cmake/mlir)
  endif()
  find_package(MLIR REQUIRED CONFIG)
  if(NOT LLVM_VERSION_MAJOR EQUAL 22)
    message(FATAL_ERROR
      "Gist needs LLVM/MLIR 22, found ${LLVM_PACKAGE_VERSION} in ${MLIR_DIR}")
  endif()
  list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
  include(TableGen)
  include(AddLLVM)
  include(AddMLIR)
  separate_arguments(GIST_LLVM_DEFINITIONS NATIVE_COMMAND "${LLVM_DEFINITIONS}")
endmacro()

# gist_tablegen(<target> <file.td> <generator> <output>...): the outputs land at
# the path of the file in the build folder.
function(gist_tablegen target file)
  set(LLVM_TARGET_DEFINITIONS ${file})
  list(LENGTH ARGN count)
  math(EXPR last "${count} - 1")
  foreach(i RANGE 0 ${last} 2)
    math(EXPR j "${i} + 1")
    list(GET ARGN ${i} output)
    list(GET ARGN ${j} generator)
    separate_arguments(generator NATIVE_COMMAND "${generator}")
    mlir_tablegen(${output} ${generator}
      EXTRA_INCLUDES ${PROJECT_SOURCE_DIR} ${MLIR_INCLUDE_DIRS})
  endforeach()
  add_public_tablegen_target(${target})
  set_property(GLOBAL APPEND PROPERTY GIST_GENERATED_TARGETS ${target})
endfunction()

# gist_use_packages(<target> <package>...): header-only libraries that installed
# code does not need, so nothing of them is exported.
function(gist_use_packages target)
  foreach(package ${ARGN})
    if(package STREQUAL "xxhash")
      # Debian's package has no CMake file.
      find_path(GIST_XXHASH_INCLUDE xxhash.h REQUIRED)
      target_include_directories(${target} SYSTEM PRIVATE
        ${GIST_XXHASH_INCLUDE})
      continue()
    endif()
    if(package STREQUAL "flatbuffers")
      find_package(FlatBuffers REQUIRED CONFIG)
      # The headers suffice; the library is not linked.
      get_target_property(include flatbuffers::flatbuffers
        INTERFACE_INCLUDE_DIRECTORIES)
      target_include_directories(${target} SYSTEM PRIVATE ${include})
      continue()
    endif()
    if(package STREQUAL "Eigen3")
      find_package(Eigen3 REQUIRED NO_MODULE)
      set(library Eigen3::Eigen)
    else()
      find_package(${package} REQUIRED CONFIG)
      set(library ${package}::${package})
    endif()
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:${library}>)
  endforeach()
endfunction()

# Notes that library `name` may call the libraries that follow. Linkers resolve
# calls between static libraries in any direction, so test/check-links.py reads
# these lines and refuses a call that they do not allow.
function(gist_note_links name)
  set(links ${ARGN})
  list(FILTER links INCLUDE REGEX "^Gist")
  list(JOIN links " " links)
  set_property(GLOBAL APPEND PROPERTY GIST_LINKS
    "${name} $<TARGET_FILE:${name}> ${links}")
endfunction()

# Writes what gist_note_links noted, one line a library.
function(gist_write_links file)
  get_property(lines GLOBAL PROPERTY GIST_LINKS)
  list(JOIN lines "\n" lines)
  file(GENERATE OUTPUT "${file}" CONTENT "${lines}\n")
endfunction()

# A static library without LLVM. Includes are written from the root.
function(gist_add_plain_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;PACKAGES" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  add_library(Gist::${name} ALIAS ${name})
  target_compile_features(${name} PUBLIC cxx_std_20)
  target_include_directories(${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/gist>)
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  gist_use_packages(${name} ${ARG_PACKAGES})
  gist_configure_target(${name})
  set_property(GLOBAL APPEND PROPERTY GIST_RUNTIME_TARGETS ${name})
  gist_note_links(${name} ${ARG_LINK})
endfunction()

# A tool without LLVM, installed.
function(gist_add_plain_tool name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;PACKAGES" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  gist_use_packages(${name} ${ARG_PACKAGES})
  target_compile_definitions(${name} PRIVATE
    "GIST_VERSION=\"${PROJECT_VERSION}\"")
  gist_configure_target(${name})
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
    COMPONENT runtime)
endfunction()

# A static library of the compiler. Includes are written from the root.
function(gist_add_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  add_library(Gist::${name} ALIAS ${name})
  # Every library may include what the tables generate.
  get_property(generated GLOBAL PROPERTY GIST_GENERATED_TARGETS)
  add_dependencies(${name} ${generated})
  target_include_directories(${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/gist>)
  target_link_libraries(${name} PUBLIC ${ARG_LINK} MLIR LLVM)
  gist_configure_mlir_target(${name})
  gist_precompile(${name} MlirHeaders.h)
  set_property(GLOBAL APPEND PROPERTY GIST_COMPILER_TARGETS ${name})
  gist_note_links(${name} ${ARG_LINK})
endfunction()

# gist_precompile(<name> <headers>): reads the headers of cmake/<headers> once for
# all targets that name them: they take most of a file's compile time.
# GIST_PRECOMPILE=OFF shows which files forgot to include something.
function(gist_precompile name headers)
  if(NOT GIST_PRECOMPILE)
    return()
  endif()
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    # A timestamp in it would make every build miss in ccache.
    target_compile_options(${name} PRIVATE
      "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
  endif()
  # Code of executables is compiled in another way than code of libraries.
  get_target_property(type ${name} TYPE)
  set(property GIST_PRECOMPILED_${headers}_${type})
  get_property(owner GLOBAL PROPERTY ${property})
  if(owner)
    target_precompile_headers(${name} REUSE_FROM ${owner})
    return()
  endif()
  target_precompile_headers(${name} PRIVATE
    "$<$<COMPILE_LANGUAGE:CXX>:${PROJECT_SOURCE_DIR}/cmake/${headers}>")
  set_property(GLOBAL PROPERTY ${property} ${name})
endfunction()

# A tool of the compiler, installed.
function(gist_add_tool name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} MLIR LLVM)
  gist_configure_mlir_target(${name})
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
    COMPONENT compiler)
endfunction()

# gist_add_c_library(<name> SOURCES ... LINK ... HEADER ... EXPORTS ...): a shared
# library with a C interface. It exports only the symbols of the linker script
# EXPORTS; the number in its name is GIST_ABI_VERSION of HEADER.
function(gist_add_c_library name)
  cmake_parse_arguments(ARG "" "HEADER;EXPORTS" "SOURCES;LINK" ${ARGN})
  file(STRINGS "${ARG_HEADER}" abi REGEX "^#define GIST_ABI_VERSION [0-9]+$")
  string(REGEX MATCH "[0-9]+$" abi "${abi}")
  set(exports "${CMAKE_CURRENT_SOURCE_DIR}/${ARG_EXPORTS}")
  add_library(${name} SHARED ${ARG_SOURCES})
  add_library(Gist::${name} ALIAS ${name})
  set_target_properties(${name} PROPERTIES
    VERSION ${PROJECT_VERSION} SOVERSION ${abi} LINK_DEPENDS "${exports}")
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}"
    INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  target_link_options(${name} PRIVATE "LINKER:--version-script=${exports}")
  # A sanitizer's functions are found in the program that loads it.
  if(NOT GIST_SANITIZE AND NOT GIST_SANITIZE_THREADS)
    target_link_options(${name} PRIVATE LINKER:--no-undefined)
  endif()
  gist_configure_target(${name})
  install(FILES "${ARG_HEADER}" COMPONENT runtime
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/gist")
  set_property(GLOBAL APPEND PROPERTY GIST_RUNTIME_TARGETS ${name})
endfunction()

# Headers, libraries and the package file, so that another project can say
# find_package(Gist). What needs MLIR is the component "compiler", the rest is
# "runtime": `cmake --install BUILD --component runtime` installs that alone.
function(gist_install_package)
  include(CMakePackageConfigHelpers)
  set(destination "${CMAKE_INSTALL_LIBDIR}/cmake/gist")
  foreach(component Runtime Compiler)
    string(TOUPPER ${component} upper)
    string(TOLOWER ${component} lower)
    get_property(targets GLOBAL PROPERTY GIST_${upper}_TARGETS)
    if(NOT targets)
      continue()
    endif()
    install(TARGETS ${targets} EXPORT Gist${component}Targets
      ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${lower}
      LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${lower})
    install(EXPORT Gist${component}Targets NAMESPACE Gist::
      DESTINATION ${destination} COMPONENT ${lower})
  endforeach()
  configure_package_config_file(
    "${PROJECT_SOURCE_DIR}/cmake/GistConfig.cmake.in"
    "${PROJECT_BINARY_DIR}/GistConfig.cmake" INSTALL_DESTINATION ${destination})
  write_basic_package_version_file(
    "${PROJECT_BINARY_DIR}/GistConfigVersion.cmake"
    COMPATIBILITY SameMinorVersion)
  install(FILES "${PROJECT_BINARY_DIR}/GistConfig.cmake"
    "${PROJECT_BINARY_DIR}/GistConfigVersion.cmake" DESTINATION ${destination}
    COMPONENT runtime)
  # From the folder of gist.pc, so that an installed tree may be moved.
  file(RELATIVE_PATH GIST_INCLUDE_FROM_PC
    "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/gist.pc.in"
    "${PROJECT_BINARY_DIR}/gist.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/gist.pc" COMPONENT runtime
    DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
  set(plain passes/Import/Files passes/Plan/File)
  gist_install_headers(runtime FOLDERS runtime tools ${plain})
  if(NOT GIST_RUNTIME_ONLY)
    # Two Debian packages cannot have the same file.
    gist_install_headers(compiler FOLDERS passes dialect WITHOUT ${plain})
  endif()
endfunction()

# gist_install_headers(<component> FOLDERS <folder>... WITHOUT <folder>...): at the
# paths that they have here. gist.h is not among them: it has one place,
# <gist/gist.h>.
function(gist_install_headers component)
  cmake_parse_arguments(ARG "" "" "FOLDERS;WITHOUT" ${ARGN})
  set(without)
  foreach(folder ${ARG_WITHOUT})
    list(APPEND without REGEX "/${folder}$" EXCLUDE)
  endforeach()
  foreach(folder ${ARG_FOLDERS})
    cmake_path(GET folder PARENT_PATH parent)
    foreach(root "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}")
      install(DIRECTORY "${root}/${folder}" COMPONENT ${component}
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/gist/${parent}" FILES_MATCHING
        PATTERN "*.h" PATTERN "*.td" PATTERN "*.inc" PATTERN "*.def" PATTERN "*.hpp"
        PATTERN "CMakeFiles" EXCLUDE ${without}
        PATTERN "gist.h" EXCLUDE)
    endforeach()
  endforeach()
endfunction()
