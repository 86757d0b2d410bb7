# The engine's sources once more, with bugs on purpose that the program chooses while it runs. They
# stand among the program's own sources, so that the library's objects of these names are never
# taken. Sanitizers have nothing to say about bugs on purpose.
if(REPRISE_BUILD_TESTS AND NOT REPRISE_SANITIZED)
  set(engine_folder "${PROJECT_SOURCE_DIR}/libs/engine")
  file(GLOB planted_sources CONFIGURE_DEPENDS
       "${engine_folder}/src/*.cpp" "${engine_folder}/tests/planted/*_test.cpp"
       "${CMAKE_CURRENT_SOURCE_DIR}/tests/planted/*_test.cpp")
  reprise_tests(planted_bugs LABELS sim
    LINK reprise::sim reprise::engine reprise::sandbox reprise::wire reprise::retry reprise::base
    SOURCES ${planted_sources})
  target_compile_definitions(planted_bugs_tests PRIVATE REPRISE_PLANTED_BUGS_SELECTABLE)
  target_include_directories(planted_bugs_tests PRIVATE
    "${engine_folder}/src" "${engine_folder}/tests")
endif()
