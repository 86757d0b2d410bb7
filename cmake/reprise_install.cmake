# `cmake --install`: the libraries users link, their headers, `find_package(reprise COMPONENTS ...)`
# and pkg-config. One component per library that users link; `retry` needs nothing but a compiler.
# Public means installed. tests/install checks that nothing else is installed.

include(CMakePackageConfigHelpers)
set(REPRISE_CONFIG_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/reprise")
set(REPRISE_INSTALLED_COMPONENTS)
set(REPRISE_COMPONENT_NEEDS) # text for reprise_config.cmake.in, filled per component

# The .pc file of the component that reprise_install installs. It finds its prefix from its own
# location, so an installed tree can be moved.
file(RELATIVE_PATH REPRISE_PREFIX_FROM_PC "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
function(reprise_install_pc component)
  string(REPLACE "_" "-" pc_name "reprise-${component}")
  list(TRANSFORM arg_REQUIRES REPLACE "_" "-")
  list(TRANSFORM arg_REQUIRES PREPEND "reprise-")
  list(JOIN arg_REQUIRES " " pc_requires)
  list(JOIN arg_PC_REQUIRES " " modules)
  string(STRIP "${pc_requires} ${modules}" pc_requires)
  get_target_property(type ${arg_TARGET} TYPE)
  set(pc_libs "-pthread")
  if(NOT type STREQUAL "INTERFACE_LIBRARY")
    list(JOIN arg_PC_LIBS " " flags)
    string(JOIN " " pc_libs "-L\${libdir} -lreprise_${component}" ${flags} -pthread)
  endif()
  list(TRANSFORM arg_PC_CFLAGS APPEND " ")
  list(JOIN arg_PC_CFLAGS "" pc_cflags)
  configure_file("${PROJECT_SOURCE_DIR}/cmake/reprise.pc.in" "${PROJECT_BINARY_DIR}/${pc_name}.pc"
    @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${pc_name}.pc"
    DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT ${component})
endfunction()

# reprise_install(component DESCRIPTION text [TARGET target] [HEADERS path...]
#                 [REQUIRES component...] [PACKAGES "name arguments"...] [MODULES "name module"...]
#                 [PC_REQUIRES module...] [PC_LIBS flag...] [PC_CFLAGS flag...])
# Installs a library as reprise::<component>. TARGET: the one to install, otherwise
# reprise_<component>. HEADERS: folders whose headers go along (they end in `include/`), and single
# headers; otherwise those of the target. REQUIRES: the components it stands on, in the order of the
# link lines. PACKAGES: what find_package(reprise) must find for it, as arguments of find_dependency;
# MODULES: the same through pkg-config. PC_REQUIRES, PC_LIBS and PC_CFLAGS: what the component's own
# .pc file asks for in addition, as modules and as flags of the linker and the compiler.
function(reprise_install component)
  cmake_parse_arguments(arg "" "DESCRIPTION;TARGET"
    "HEADERS;REQUIRES;PACKAGES;MODULES;PC_REQUIRES;PC_LIBS;PC_CFLAGS" ${ARGN})
  if(NOT arg_TARGET)
    set(arg_TARGET reprise_${component})
  endif()
  if(NOT TARGET ${arg_TARGET})
    return()
  endif()
  if(NOT arg_HEADERS)
    get_target_property(folder ${arg_TARGET} SOURCE_DIR)
    set(arg_HEADERS "${folder}/include/")
  endif()
  install(TARGETS ${arg_TARGET} EXPORT reprise_${component}
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT ${component}
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime NAMELINK_COMPONENT ${component}
    INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
  install(EXPORT reprise_${component} NAMESPACE reprise:: FILE reprise_${component}.cmake
    DESTINATION "${REPRISE_CONFIG_DIR}" COMPONENT ${component})
  foreach(path IN LISTS arg_HEADERS)
    if(path MATCHES "/$")
      install(DIRECTORY "${path}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        COMPONENT ${component} FILES_MATCHING PATTERN "*.hpp")
    else()
      install(FILES "${path}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/reprise"
        COMPONENT ${component})
    endif()
  endforeach()
  reprise_install_pc(${component})
  list(APPEND REPRISE_INSTALLED_COMPONENTS ${component})
  foreach(need IN ITEMS REQUIRES PACKAGES MODULES)
    string(TOLOWER ${need} name)
    string(APPEND REPRISE_COMPONENT_NEEDS "set(reprise_${component}_${name} \"${arg_${need}}\")\n")
  endforeach()
  set(REPRISE_INSTALLED_COMPONENTS "${REPRISE_INSTALLED_COMPONENTS}" PARENT_SCOPE)
  set(REPRISE_COMPONENT_NEEDS "${REPRISE_COMPONENT_NEEDS}" PARENT_SCOPE)
endfunction()

# reprise_archive(component OBJECTS library... LINK target...)
# Target reprise_<component>_archive: one archive with the objects of all those libraries, so that
# the installed package names no private one. LINK: what a program must link with it, by the names
# that the package finds; needed outside of this build only.
function(reprise_archive component)
  cmake_parse_arguments(arg "" "" "OBJECTS;LINK" ${ARGN})
  set(objects)
  foreach(library IN LISTS arg_OBJECTS)
    if(NOT TARGET reprise_${library})
      return()
    endif()
    list(APPEND objects "$<TARGET_OBJECTS:reprise_${library}>")
  endforeach()
  set(target reprise_${component}_archive)
  add_library(${target} STATIC ${objects})
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX
    OUTPUT_NAME reprise_${component} EXPORT_NAME ${component}
    ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/archives")
  target_compile_features(${target} INTERFACE cxx_std_23)
  foreach(library IN LISTS arg_LINK)
    target_link_libraries(${target} INTERFACE "$<INSTALL_INTERFACE:$<LINK_ONLY:${library}>>")
  endforeach()
endfunction()

# Client and test cluster share the protocol's objects, so each archive has them. A program that
# links both takes each object from the archive that comes first.
set(protocol base json http wire)
reprise_archive(couchbase OBJECTS ${protocol} couchbase_types services engine net couchbase
  LINK Boost::json Boost::headers OpenSSL::SSL OpenSSL::Crypto Snappy::snappy PkgConfig::cares
       Threads::Threads)
reprise_archive(retry_json OBJECTS base json retry_json LINK Boost::json Boost::headers)
reprise_archive(sandbox OBJECTS ${protocol} sandbox sandbox_net
  LINK Boost::json Boost::headers OpenSSL::SSL OpenSSL::Crypto Snappy::snappy Threads::Threads)
if(TARGET reprise_retry_json_archive)
  target_link_libraries(reprise_retry_json_archive INTERFACE reprise_retry)
endif()
if(TARGET reprise_couchbase_archive)
  target_link_libraries(reprise_couchbase_archive INTERFACE reprise_retry)
  target_link_libraries(reprise_couchbase_codecs INTERFACE
    "$<INSTALL_INTERFACE:reprise_couchbase_archive>")
endif()

reprise_install(retry DESCRIPTION "Retries for C++ programs, bounded and explained")
reprise_install(retry_adapters REQUIRES retry
  DESCRIPTION "What the errors of other client libraries mean for retries")
reprise_install(retry_testing REQUIRES retry
  DESCRIPTION "Virtual time and scripted failures for tests of programs that retry")
reprise_install(retry_asio REQUIRES retry PACKAGES "Boost 1.81" Threads
  DESCRIPTION "Retries as Boost.Asio operations and in coroutines")
reprise_install(retry_asio_standalone REQUIRES retry PACKAGES Threads
  DESCRIPTION "Retries as operations of the standalone Asio and in coroutines"
  PC_CFLAGS -DREPRISE_STANDALONE_ASIO -DASIO_STANDALONE)
reprise_install(retry_json TARGET reprise_retry_json_archive REQUIRES retry
  DESCRIPTION "Retry strategies from JSON: settings of Reprise, gRPC and Envoy"
  HEADERS "${PROJECT_SOURCE_DIR}/libs/retry_json/include/"
  PACKAGES "Boost 1.81 COMPONENTS json" PC_LIBS -lboost_json)
reprise_install(couchbase TARGET reprise_couchbase_archive REQUIRES retry
  DESCRIPTION "A Couchbase client whose retries are explained"
  HEADERS "${PROJECT_SOURCE_DIR}/libs/couchbase_types/include/"
          "${PROJECT_SOURCE_DIR}/libs/couchbase/include/"
  PACKAGES "Boost 1.81 COMPONENTS json" OpenSSL "Snappy CONFIG" Threads MODULES "cares libcares"
  PC_REQUIRES openssl libcares PC_LIBS -lboost_json -lsnappy)
reprise_install(couchbase_codecs REQUIRES retry couchbase
  DESCRIPTION "JSON libraries as codecs of the Couchbase client")
reprise_install(sandbox TARGET reprise_sandbox_archive REQUIRES retry
  DESCRIPTION "A Couchbase test cluster inside a program, with faults on demand"
  HEADERS "${PROJECT_SOURCE_DIR}/testbed/sandbox_net/include/reprise/sandbox.hpp"
  PACKAGES "Boost 1.81 COMPONENTS json" "OpenSSL 3" "Snappy CONFIG" Threads
  PC_REQUIRES openssl PC_LIBS -lboost_json -lsnappy)

if(TARGET reprise_retry)
  # The package files belong to component `retry`, which every other component requires.
  configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/reprise_config.cmake.in"
    "${PROJECT_BINARY_DIR}/repriseConfig.cmake" INSTALL_DESTINATION "${REPRISE_CONFIG_DIR}"
    NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
  write_basic_package_version_file("${PROJECT_BINARY_DIR}/repriseConfigVersion.cmake"
    COMPATIBILITY SameMinorVersion)
  install(FILES "${PROJECT_BINARY_DIR}/repriseConfig.cmake"
    "${PROJECT_BINARY_DIR}/repriseConfigVersion.cmake"
    DESTINATION "${REPRISE_CONFIG_DIR}" COMPONENT retry)
endif()
