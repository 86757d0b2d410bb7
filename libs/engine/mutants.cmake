# Broken on purpose, each must turn a test of its id red. The mutated source is linked before the
# library, so that the library's own object of that name is never taken.
function(engine_mutant id source)
  set(sources "${CMAKE_CURRENT_LIST_DIR}/src/${source}.cpp")
  foreach(test IN LISTS ARGN)
    list(APPEND sources "${CMAKE_CURRENT_LIST_DIR}/tests/${test}.cpp")
  endforeach()
  reprise_mutant(${id} SOURCES ${sources} LINK reprise::engine reprise::wire reprise::base
                 INCLUDE "${CMAKE_CURRENT_LIST_DIR}/src" "${CMAKE_CURRENT_LIST_DIR}/tests")
endfunction()

engine_mutant(RH-12 shipped_strategies shipped_strategies_test)
engine_mutant(RH-13 orchestrator orchestrator_test)
engine_mutant(RH-16 orchestrator orchestrator_test)
engine_mutant(RH-29 operation_end retry_flow_test)
engine_mutant(VB-03 route route_test)
engine_mutant(VB-04 route route_test)
engine_mutant(EM-04 bootstrap_fsm bootstrap_test)
