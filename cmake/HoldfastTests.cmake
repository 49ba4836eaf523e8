function(_holdfast_test_options target)
  if(HOLDFAST_SANITIZE)
    target_compile_options(${target} PRIVATE -O0)
  elseif(HOLDFAST_PRECOMPILE_HEADERS AND CMAKE_BUILD_TYPE STREQUAL "Release")
    target_compile_options(${target} PRIVATE -O1)
  endif()
endfunction()

# Where a build is to be quick, code that only tests is optimised less than what it tests: it builds in two
# thirds of the time.
function(holdfast_test_code target)
  _holdfast_test_options(${target})
  holdfast_use_precompiled(${target} holdfast_precompiled_tests)
endfunction()

# holdfast_tests(<program>
#   [PREFIX <prefix>]
#   [TIMEOUT <seconds>]    for a suite, or for a slice of one; 600 if not given
#   [ALONE <suite>...]     suites whose tests need a process each: they fork where no other thread may be,
#                          or limit the whole process; `*` for all
#   [ONE_THREAD <regex>...])  suites that ThreadSanitizer does not run: one thread, or nothing of ours that
#                          other suites do not run in several
#
# The GoogleTest program's suites become tests of ctest, named `<prefix><Suite>` (see AddSuites.cmake), and
# it is compiled as all of our own code is.
function(holdfast_tests program)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PREFIX;TIMEOUT" "ALONE;ONE_THREAD")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 600)
  endif()
  holdfast_compile_options(${program})
  holdfast_test_code(${program})
  set(skipped "")
  if(HOLDFAST_SANITIZE MATCHES "thread")
    set(skipped "${arg_ONE_THREAD}")
  endif()
  # When ctest runs: a build then never runs what it builds.
  set(suites "${CMAKE_CURRENT_BINARY_DIR}/${program}_suites")
  file(
    GENERATE
    OUTPUT "${suites}.cmake"
    CONTENT
      "set(program \"$<TARGET_FILE:${program}>\")\nset(prefix \"${arg_PREFIX}\")\nset(timeout ${arg_TIMEOUT})
set(list \"${suites}.txt\")\nset(alone \"${arg_ALONE}\")\nset(skipped [[${skipped}]])\ninclude(\"${PROJECT_SOURCE_DIR}/cmake/AddSuites.cmake\")\n"
  )
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${suites}.cmake")
endfunction()
