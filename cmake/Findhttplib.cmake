# cpp-httplib as the target httplib::httplib: by its own CMake file where there
# is one. Debian 12's package has a compiled library and a file for pkg-config,
# which says what the library was compiled with.
find_package(httplib QUIET CONFIG)
if(NOT httplib_FOUND)
  find_package(PkgConfig QUIET)
  if(PKG_CONFIG_FOUND)
    pkg_check_modules(HTTPLIB QUIET cpp-httplib)
  endif()
  find_path(HTTPLIB_INCLUDE httplib.h HINTS ${HTTPLIB_INCLUDE_DIRS})
  find_library(HTTPLIB_LIBRARY cpp-httplib HINTS ${HTTPLIB_LIBRARY_DIRS})
  include(FindPackageHandleStandardArgs)
  find_package_handle_standard_args(httplib
    REQUIRED_VARS HTTPLIB_LIBRARY HTTPLIB_INCLUDE HTTPLIB_FOUND
    VERSION_VAR HTTPLIB_VERSION)
  if(httplib_FOUND AND NOT TARGET httplib::httplib)
    find_package(Threads REQUIRED)
    add_library(httplib::httplib INTERFACE IMPORTED)
    target_include_directories(httplib::httplib SYSTEM INTERFACE
      "${HTTPLIB_INCLUDE}")
    target_compile_options(httplib::httplib INTERFACE ${HTTPLIB_CFLAGS_OTHER})
    target_link_libraries(httplib::httplib INTERFACE "${HTTPLIB_LIBRARY}"
      Threads::Threads)
  endif()
endif()
