# Read by ctest when it starts: asks a GoogleTest program for its tests and registers them. What to register
# is in variables that HoldfastTests.cmake writes: program, prefix, timeout, list (where to keep the answer),
# alone (suites whose tests have a process each), skipped (suites that are not registered, as regular
# expressions).
#
# A suite is one test of ctest, `<prefix><Suite>`: a process and the servers it starts are shared by a suite.
# A suite of more than 40 tests becomes slices, `<prefix><Suite>.1of3`, that run side by side. Where
# HOLDFAST_EACH_TEST is set in the environment, as by `./test --each`, every test is one of ctest's.
cmake_minimum_required(VERSION 3.25)
set(slice_size 40)

function(add_single suite test)
  set(name "${prefix}${suite}.${test}")
  add_test("${name}" "${program}" "--gtest_filter=${suite}.${test}")
  set_tests_properties("${name}" PROPERTIES TIMEOUT ${timeout} SKIP_REGULAR_EXPRESSION "\\[  SKIPPED \\]")
endfunction()

function(add_slice suite slice slices)
  set(name "${prefix}${suite}")
  if(slices GREATER 1)
    math(EXPR number "${slice} + 1")
    string(APPEND name ".${number}of${slices}")
  endif()
  add_test("${name}" "${program}" "--gtest_filter=${suite}.*")
  set_tests_properties("${name}" PROPERTIES TIMEOUT ${timeout} ENVIRONMENT
                                            "GTEST_TOTAL_SHARDS=${slices};GTEST_SHARD_INDEX=${slice}")
endfunction()

function(add_suite suite tests)
  foreach(expression IN LISTS skipped)
    if(suite MATCHES "^${expression}$")
      return()
    endif()
  endforeach()
  if(suite IN_LIST alone OR "*" IN_LIST alone OR DEFINED ENV{HOLDFAST_EACH_TEST})
    foreach(test IN LISTS tests)
      add_single("${suite}" "${test}")
    endforeach()
    return()
  endif()
  list(LENGTH tests count)
  math(EXPR slices "(${count} + ${slice_size} - 1) / ${slice_size}")
  math(EXPR last "${slices} - 1")
  foreach(slice RANGE ${last})
    add_slice("${suite}" ${slice} ${slices})
  endforeach()
endfunction()

if(NOT EXISTS "${program}")
  add_test("${prefix}NOT_BUILT" "${program}")
  return()
endif()

if("${program}" IS_NEWER_THAN "${list}")
  # Without the values of parameters, which may be anything.
  execute_process(
    COMMAND "${program}" --gtest_list_tests
    COMMAND sed "s/ *#.*//"
    OUTPUT_VARIABLE output
    RESULTS_VARIABLE results
    TIMEOUT 60)
  if(NOT results STREQUAL "0;0")
    message(FATAL_ERROR "${program} --gtest_list_tests failed (${results}):\n${output}")
  endif()
  file(WRITE "${list}" "${output}")
endif()

set(suite "")
set(tests "")
file(STRINGS "${list}" lines)
foreach(line IN LISTS lines)
  if(line MATCHES "^  (.+)$")
    list(APPEND tests "${CMAKE_MATCH_1}")
  elseif(line MATCHES "^([^ ]+)[.]$")
    if(tests)
      add_suite("${suite}" "${tests}")
    endif()
    set(suite "${CMAKE_MATCH_1}")
    set(tests "")
  endif()
endforeach()
if(tests)
  add_suite("${suite}" "${tests}")
endif()
