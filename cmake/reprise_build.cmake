# The one way to declare a library, its tests and its fuzz targets. The link lines are the
# architecture: a target sees only the headers of what it links.

include(GNUInstallDirs)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_STANDARD_REQUIRED ON)

# Hardening against memory errors, for everything that ships: the program and the libraries.
# Sanitizers and fuzzers have their own checks, and without optimisation hardening has no benefit.
if(NOT PROJECT_IS_TOP_LEVEL OR CMAKE_BUILD_TYPE STREQUAL "Debug" OR REPRISE_SANITIZED
   OR REPRISE_BUILD_FUZZ)
  set(hardened_default OFF)
else()
  set(hardened_default ON)
endif()
option(REPRISE_HARDENED "Stack protector, fortified calls, control-flow checks, PIE, RELRO, no lazy binding"
       ${hardened_default})
option(REPRISE_LIBRARY_ASSERTIONS "Check the preconditions of the standard library (libstdc++)" OFF)

if(REPRISE_HARDENED)
  include(CheckPIESupported)
  check_pie_supported(LANGUAGES CXX)
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
  add_compile_options(-fstack-protector-strong)
  if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug" OR CMAKE_CXX_FLAGS_DEBUG MATCHES "-O[1-3s]")
    add_compile_options(-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2) # needs optimisation
  endif()
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|i[3-6]86")
    add_compile_options(-fcf-protection=full)
  endif()
  add_link_options(-Wl,-z,relro -Wl,-z,now)
endif()
if(REPRISE_LIBRARY_ASSERTIONS)
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
endif()

if(REPRISE_BUILD_TESTS)
  enable_testing()
  # A GTest that was built with another standard library cannot be linked: build it from its sources.
  set(REPRISE_GTEST_SOURCE "" CACHE PATH "GoogleTest's sources; empty: the installed library")
  if(REPRISE_GTEST_SOURCE)
    set(INSTALL_GTEST OFF)
    set(BUILD_GMOCK OFF)
    add_subdirectory("${REPRISE_GTEST_SOURCE}" googletest EXCLUDE_FROM_ALL SYSTEM)
  else()
    find_package(GTest REQUIRED)
  endif()
  find_package(Threads REQUIRED)
  # Each test program writes its results here; docs/conformance.md is generated from them.
  set(REPRISE_RESULTS_DIR "${CMAKE_BINARY_DIR}/test-results")
  file(MAKE_DIRECTORY "${REPRISE_RESULTS_DIR}")
  # The tests labelled `threaded`. ThreadSanitizer builds run only these and build nothing else.
  add_custom_target(threaded_tests)
endif()

if(REPRISE_BUILD_FUZZ)
  add_custom_target(fuzz_targets) # `./dev fuzz` builds only the targets and what they link
endif()

set(REPRISE_TEST_OPTIONS "" CACHE STRING
    "Compile options of tests and examples alone, after all others; for example -O0")

function(reprise_compile_options target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                                           -Wsign-conversion -Wnon-virtual-dtor -Woverloaded-virtual)
  if(REPRISE_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC 12 reports false positives through inlined std::string and std::variant.
    target_compile_options(${target} PRIVATE -Wno-restrict -Wno-maybe-uninitialized
                                             -Wno-stringop-overflow -Wno-array-bounds)
    # In a unity build GCC treats every source as a header and warns about private classes there.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
endfunction()

# For programs that are run once after they were built.
function(reprise_test_options target)
  reprise_compile_options(${target})
  target_compile_options(${target} PRIVATE ${REPRISE_TEST_OPTIONS})
endfunction()

# reprise_library(name [SHAREABLE] [STANDARD 20|23] [PUBLIC target...] [PRIVATE target...])
# Sources are src/**/*.cpp. Headers in include/ are installed; those in private/ are for the other
# libraries of this repository. Without sources it is an interface library.
# BUILD_SHARED_LIBS builds a SHAREABLE library as a shared one, which exports what is marked with
# REPRISE_EXPORT; the others are always static.
function(reprise_library name)
  cmake_parse_arguments(arg "SHAREABLE" "STANDARD" "PUBLIC;PRIVATE" ${ARGN})
  if(NOT arg_STANDARD)
    set(arg_STANDARD 23)
  endif()
  set(target reprise_${name})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/src/*.cpp")
  if(sources)
    if(arg_SHAREABLE AND BUILD_SHARED_LIBS)
      add_library(${target} SHARED ${sources})
      # Before 1.0 a minor version may break programs, so it is part of the library's name.
      set_target_properties(${target} PROPERTIES VERSION ${PROJECT_VERSION}
        SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
        CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
    else()
      add_library(${target} STATIC ${sources})
    endif()
    set(scope PUBLIC)
    reprise_compile_options(${target})
    target_include_directories(${target} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/src")
    target_link_libraries(${target} PRIVATE ${arg_PRIVATE})
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    # Nobody replaces our functions by others of the same name. In position-independent code GCC may
    # call a function of the same unit directly, or inline it, only if it may assume that.
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      target_compile_options(${target} PRIVATE $<$<NOT:$<CONFIG:Debug>>:-fno-semantic-interposition>)
    endif()
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(reprise::${name} ALIAS ${target})
  target_compile_features(${target} ${scope} cxx_std_${arg_STANDARD})
  foreach(folder include private)
    if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${folder}")
      target_include_directories(${target} ${scope}
        "$<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/${folder}>")
    endif()
  endforeach()
  target_include_directories(${target} ${scope} "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  target_link_libraries(${target} ${scope} ${arg_PUBLIC})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
endfunction()

# reprise_tests(name [STANDARD n] [LABELS label...] [LINK target...] [SOURCES file...])
# Builds one program <name>_tests, which is one ctest entry, from tests/*_test.cpp and from the
# subfolders of tests/ that also exist in src/. Other subfolders have their own programs.
function(reprise_tests name)
  if(NOT REPRISE_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(arg "" "STANDARD" "LABELS;LINK;SOURCES" ${ARGN})
  if(NOT arg_STANDARD)
    set(arg_STANDARD 23)
  endif()
  if(NOT arg_LABELS)
    set(arg_LABELS unit)
  endif()
  if(NOT arg_SOURCES)
    file(GLOB_RECURSE tests RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}/tests" CONFIGURE_DEPENDS
         "${CMAKE_CURRENT_SOURCE_DIR}/tests/*_test.cpp")
    foreach(test IN LISTS tests)
      get_filename_component(folder "${test}" DIRECTORY)
      if(folder STREQUAL "" OR EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/src/${folder}")
        list(APPEND arg_SOURCES "tests/${test}")
      endif()
    endforeach()
  endif()
  set(target ${name}_tests)
  add_executable(${target} ${arg_SOURCES})
  reprise_test_options(${target})
  target_compile_features(${target} PRIVATE cxx_std_${arg_STANDARD})
  if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/src")
    target_include_directories(${target} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/src")
  endif()
  target_include_directories(${target} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/tests")
  target_link_libraries(${target} PRIVATE ${arg_LINK} GTest::gtest GTest::gtest_main Threads::Threads)
  add_test(NAME ${target}
    COMMAND ${target} "--gtest_output=json:${REPRISE_RESULTS_DIR}/${target}.json" --gtest_brief=1)
  set_tests_properties(${target} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT 300)
  if("threaded" IN_LIST arg_LABELS)
    add_dependencies(threaded_tests ${target})
  endif()
endfunction()

# reprise_embed(library name input)
# Embeds a file into target reprise_<library> as reprise::<library>::embedded::<name>(), which the
# library declares in its "embedded.hpp".
function(reprise_embed library name input)
  get_filename_component(input "${input}" ABSOLUTE)
  set(output "${CMAKE_CURRENT_BINARY_DIR}/embedded_${name}.cpp")
  set(script "${PROJECT_SOURCE_DIR}/cmake/embed_file.cmake")
  add_custom_command(OUTPUT "${output}"
    COMMAND "${CMAKE_COMMAND}" "-DINPUT=${input}" "-DOUTPUT=${output}" -DNAMESPACE=${library}
            -DNAME=${name} -P "${script}"
    DEPENDS "${input}" "${script}"
    COMMENT "Embedding ${name}" VERBATIM)
  target_sources(reprise_${library} PRIVATE "${output}")
endfunction()

# reprise_fuzz(name LINK target...)
# Builds one libFuzzer program for each tests/fuzz/*_fuzz.cpp of this library.
function(reprise_fuzz name)
  if(NOT REPRISE_BUILD_FUZZ)
    return()
  endif()
  cmake_parse_arguments(arg "" "" "LINK" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/tests/fuzz/*_fuzz.cpp")
  foreach(source IN LISTS sources)
    get_filename_component(target ${source} NAME_WE)
    add_executable(${target} ${source})
    reprise_compile_options(${target})
    set_target_properties(${target} PROPERTIES UNITY_BUILD OFF
      RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin/fuzz")
    target_compile_features(${target} PRIVATE cxx_std_23)
    target_include_directories(${target} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/src")
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer)
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
    target_link_libraries(${target} PRIVATE ${arg_LINK})
    add_dependencies(fuzz_targets ${target})
  endforeach()
endfunction()

find_package(Python3 QUIET COMPONENTS Interpreter)
