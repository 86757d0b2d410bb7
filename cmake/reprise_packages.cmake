# `./dev packages`: three Debian packages from one build with BUILD_SHARED_LIBS. The runtime package
# has the shared libraries, the development package everything to build programs with, and the
# command line one its program, man pages and completions.

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME reprise)
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_CONTACT "the Reprise developers <reprise@localhost>")
set(CPACK_PACKAGE_DIRECTORY "${PROJECT_BINARY_DIR}/packages")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${PROJECT_BINARY_DIR}/libs/retry"
    "${PROJECT_BINARY_DIR}/libs/retry_asio")
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)

# The runtime package's name carries the SONAME's version, so that two can be installed together.
set(soversion "${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME "libreprise${soversion}")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION "Retries for C++ programs: shared libraries")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libreprise-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libreprise${soversion} (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS
    "libboost-json1.81-dev | libboost-json-dev, libssl-dev, libsnappy-dev, libc-ares-dev, pkg-config")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION
    "Retries for C++ programs, and a Couchbase client: headers and static libraries")
set(CPACK_DEBIAN_CLI_PACKAGE_NAME reprise)
set(CPACK_DEBIAN_CLI_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_CLI_PACKAGE_DEPENDS "libreprise${soversion} (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_CLI_DESCRIPTION
    "Command line of Reprise: a Couchbase client, a test cluster, models of retry storms")

# reprise_copyright(group package): Debian requires a copyright file in each package. It belongs to the
# packages alone, so a plain `cmake --install` leaves it out.
function(reprise_copyright group package)
  install(FILES "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/copyright" DESTINATION "share/doc/${package}"
    COMPONENT ${group}_copyright EXCLUDE_FROM_ALL)
  cpack_add_component(${group}_copyright GROUP ${group})
endfunction()

include(CPack)
cpack_add_component_group(runtime)
cpack_add_component_group(development)
cpack_add_component_group(cli)
cpack_add_component(runtime GROUP runtime)
foreach(component IN LISTS REPRISE_INSTALLED_COMPONENTS)
  cpack_add_component(${component} GROUP development)
endforeach()
if(TARGET reprise_app)
  cpack_add_component(app GROUP cli)
  reprise_copyright(cli ${CPACK_DEBIAN_CLI_PACKAGE_NAME})
endif()
reprise_copyright(runtime ${CPACK_DEBIAN_RUNTIME_PACKAGE_NAME})
reprise_copyright(development ${CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME})
