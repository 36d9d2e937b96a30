# CPack makes a Debian package of each component: `cpack -G DEB` in a build folder.
# What they depend on is read from what their programs link.
set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL runtime)
if(NOT GIST_RUNTIME_ONLY)
  list(APPEND CPACK_COMPONENTS_ALL compiler)
endif()
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_CONTACT "The authors of Gist")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(CPACK_COMPONENT_COMPILER_DEPENDS runtime)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME gist-runtime)
set(CPACK_DEBIAN_COMPILER_PACKAGE_NAME gist-compiler)
# Debian's package gist, which uploads texts, has a program of the same name.
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONFLICTS gist)
# For programs that link the compiler.
set(CPACK_DEBIAN_COMPILER_PACKAGE_SUGGESTS libmlir-22-dev)
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION
  "Runs transformer models that were compiled to do less work
The runtime of Gist, its C library, and the programs gist, gist-run, gist-plan and gist-serve.")
set(CPACK_COMPONENT_COMPILER_DESCRIPTION
  "Compiles transformer models so that they do less work
The compiler of Gist: gist-compile, gist-opt, gist-reduce and gist-lsp-server.")
foreach(component ${CPACK_COMPONENTS_ALL})
  install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/gist-${component}"
    RENAME copyright COMPONENT ${component})
endforeach()
include(CPack)
