# Bugs on purpose in the engine: each must be found. The engine's sources stand among the program's own
# objects, so that the library's objects of these names are never taken. Sanitizers have nothing to
# say about bugs on purpose.
if(REPRISE_BUILD_TESTS AND NOT REPRISE_SANITIZED)
  reprise_tests(planted_bugs LABELS sim
    LINK reprise::sim reprise::engine reprise::sandbox reprise::wire reprise::retry reprise::base
    SOURCES tests/planted/planted_bugs_test.cpp $<TARGET_OBJECTS:engine_planted>)
  target_compile_definitions(planted_bugs_tests PRIVATE REPRISE_PLANTED_BUGS_SELECTABLE)
  target_include_directories(planted_bugs_tests PRIVATE "${PROJECT_SOURCE_DIR}/libs/engine/src")
endif()
