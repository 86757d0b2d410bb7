# `cmake --install`: the libraries users link, their headers, `find_package(reprise COMPONENTS ...)`
# and pkg-config. One component per user-visible library; `retry` needs nothing but a compiler.

include(CMakePackageConfigHelpers)
set(REPRISE_CONFIG_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/reprise")
set(REPRISE_INSTALLED_COMPONENTS)
set(REPRISE_COMPONENT_NEEDS) # text for reprise_config.cmake.in, filled per component

# reprise_install(component [LIBRARIES library...] [HIDDEN library...] [REQUIRES component...]
#                 [PACKAGES "name arguments"...] [MODULES "name module"...])
# Installs targets reprise_<library> with the headers of their folders. LIBRARIES: what the
# component consists of, in the order of the link lines, otherwise the one of its name; a library is
# in one component. HIDDEN: those of them that are linked only, so their headers stay here.
# REQUIRES: all other components it stands on, in that order, too. PACKAGES: what
# find_package(reprise) must find for it, as arguments of find_dependency; MODULES: the same through
# pkg-config.
function(reprise_install component)
  cmake_parse_arguments(arg "" "" "LIBRARIES;HIDDEN;REQUIRES;PACKAGES;MODULES" ${ARGN})
  if(NOT arg_LIBRARIES)
    set(arg_LIBRARIES ${component})
  endif()
  foreach(library IN LISTS arg_LIBRARIES)
    if(NOT TARGET reprise_${library})
      return()
    endif()
  endforeach()
  foreach(library IN LISTS arg_LIBRARIES)
    install(TARGETS reprise_${library} EXPORT reprise_${library}
      ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT ${component}
      INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
    install(EXPORT reprise_${library} NAMESPACE reprise:: FILE reprise_${library}.cmake
      DESTINATION "${REPRISE_CONFIG_DIR}" COMPONENT ${component})
    if(NOT library IN_LIST arg_HIDDEN)
      get_target_property(folder reprise_${library} SOURCE_DIR)
      install(DIRECTORY "${folder}/include/"
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT ${component}
        FILES_MATCHING PATTERN "*.hpp")
    endif()
  endforeach()
  list(APPEND REPRISE_INSTALLED_COMPONENTS ${component})
  foreach(need IN ITEMS LIBRARIES REQUIRES PACKAGES MODULES)
    string(TOLOWER ${need} name)
    string(APPEND REPRISE_COMPONENT_NEEDS "set(reprise_${component}_${name} \"${arg_${need}}\")\n")
  endforeach()
  set(REPRISE_INSTALLED_COMPONENTS "${REPRISE_INSTALLED_COMPONENTS}" PARENT_SCOPE)
  set(REPRISE_COMPONENT_NEEDS "${REPRISE_COMPONENT_NEEDS}" PARENT_SCOPE)
endfunction()

reprise_install(retry)
reprise_install(retry_testing REQUIRES retry)
reprise_install(retry_asio REQUIRES retry PACKAGES "Boost 1.81" Threads)
# The protocol, which client and sandbox stand on.
reprise_install(wire REQUIRES retry LIBRARIES base json http wire
  PACKAGES "Boost 1.81 COMPONENTS json" OpenSSL "Snappy CONFIG")
reprise_install(couchbase REQUIRES retry wire LIBRARIES couchbase_types services engine net couchbase
  HIDDEN net
  PACKAGES "Boost 1.81" OpenSSL Threads MODULES "cares libcares")
reprise_install(sandbox REQUIRES retry wire LIBRARIES sandbox sandbox_net
  PACKAGES "Boost 1.81" "OpenSSL 3" Threads)

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

  # The .pc file finds its prefix from its own place, so an installed tree may be moved.
  file(RELATIVE_PATH REPRISE_PREFIX_FROM_PC "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  configure_file("${CMAKE_CURRENT_LIST_DIR}/reprise-retry.pc.in"
    "${PROJECT_BINARY_DIR}/reprise-retry.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/reprise-retry.pc"
    DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT retry)
endif()
