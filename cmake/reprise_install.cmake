# `cmake --install`: the libraries users link, their headers, `find_package(reprise COMPONENTS ...)`
# and pkg-config. One component per user-visible library; `retry` needs nothing but a compiler.

include(CMakePackageConfigHelpers)
set(REPRISE_CONFIG_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/reprise")
set(REPRISE_INSTALLED_COMPONENTS)
set(REPRISE_COMPONENT_NEEDS) # text for reprise_config.cmake.in, filled per component

# reprise_install(component [REQUIRES component...] [PACKAGES "name arguments"...])
# Installs target reprise_<component> with the headers of libs/<component>. REQUIRES: components it
# links. PACKAGES: what find_package(reprise) must find for it, as arguments of find_dependency.
function(reprise_install component)
  cmake_parse_arguments(arg "" "" "REQUIRES;PACKAGES" ${ARGN})
  if(NOT TARGET reprise_${component})
    return()
  endif()
  install(TARGETS reprise_${component} EXPORT reprise_${component}
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT ${component}
    INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/libs/${component}/include/"
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT ${component} FILES_MATCHING PATTERN "*.hpp")
  install(EXPORT reprise_${component} NAMESPACE reprise:: FILE reprise_${component}.cmake
    DESTINATION "${REPRISE_CONFIG_DIR}" COMPONENT ${component})
  list(APPEND REPRISE_INSTALLED_COMPONENTS ${component})
  list(JOIN arg_REQUIRES " " requires)
  string(APPEND REPRISE_COMPONENT_NEEDS "set(reprise_${component}_requires ${requires})\n")
  list(JOIN arg_PACKAGES ";" packages)
  string(APPEND REPRISE_COMPONENT_NEEDS "set(reprise_${component}_packages \"${packages}\")\n")
  set(REPRISE_INSTALLED_COMPONENTS "${REPRISE_INSTALLED_COMPONENTS}" PARENT_SCOPE)
  set(REPRISE_COMPONENT_NEEDS "${REPRISE_COMPONENT_NEEDS}" PARENT_SCOPE)
endfunction()

reprise_install(retry)
reprise_install(retry_testing REQUIRES retry)
reprise_install(retry_asio REQUIRES retry PACKAGES "Boost 1.81" Threads)

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
