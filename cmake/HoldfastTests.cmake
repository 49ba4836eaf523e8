include(GoogleTest)

# With a sanitizer, code that only tests is not optimised, and what it includes is compiled beforehand: it
# builds in half the time. What is tested is optimised; and the other builds see a header that was forgotten.
function(holdfast_test_code target)
  if(HOLDFAST_SANITIZE)
    target_compile_options(${target} PRIVATE -O0)
    target_precompile_headers(${target} PRIVATE <chrono> <functional> <map> <memory> <string> <thread> <vector>
                              <gtest/gtest.h>)
  endif()
endfunction()

# holdfast_tests(<program> [PREFIX <prefix>] [TIMEOUT <seconds>]): the GoogleTest program's tests become
# tests of ctest, named `<prefix><Suite>.<Test>`, and it is compiled as all of our own code is.
function(holdfast_tests program)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PREFIX;TIMEOUT" "")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  holdfast_compile_options(${program})
  holdfast_test_code(${program})
  if(CMAKE_CXX_CLANG_TIDY)
    # On GoogleTest's macros the analyzer takes longer than all the other checks together.
    set_property(TARGET ${program} APPEND PROPERTY CXX_CLANG_TIDY "--checks=-clang-analyzer-*")
  endif()
  gtest_discover_tests(
    ${program}
    TEST_PREFIX "${arg_PREFIX}"
    # A parameter's value may be an address, and a test's name must not change between runs.
    NO_PRETTY_VALUES
    # When ctest runs: a build then never runs what it builds.
    DISCOVERY_MODE PRE_TEST
    DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT ${arg_TIMEOUT})
endfunction()
