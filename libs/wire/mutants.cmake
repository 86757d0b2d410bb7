# Broken on purpose, each must turn a test of its id red.
reprise_mutant(EM-08 SOURCES "${CMAKE_CURRENT_LIST_DIR}/tests/retry_spec_test.cpp"
                     LINK reprise::wire)
