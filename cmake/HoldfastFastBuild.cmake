# What makes a build quick and changes nothing about its result. A project that adds Holdfast to its own
# build decides about these itself.
option(HOLDFAST_PRECOMPILE_HEADERS "Compile the standard library's headers once for all targets" OFF)

# A compiler cache and a quick linker, where they are installed. Two checkouts share what they compile:
# the cache's keys have paths relative to the checkout.
if(PROJECT_IS_TOP_LEVEL)
  find_program(HOLDFAST_CCACHE ccache)
  find_program(HOLDFAST_MOLD mold)
  mark_as_advanced(HOLDFAST_CCACHE HOLDFAST_MOLD)
  if(HOLDFAST_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER
        env
        CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
        CCACHE_NOHASHDIR=1
        # The compiler's list of headers does for a key: without it, a miss costs a run of the preprocessor.
        CCACHE_DEPEND=1
        CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
        "${HOLDFAST_CCACHE}")
  endif()
  if(HOLDFAST_MOLD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU"
     AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 12.1)
    add_link_options(-fuse-ld=mold)
  endif()
endif()

# _holdfast_precompiled_headers(<name> <header>...): makes a target whose precompiled headers others can use
# if they are compiled with the same options.
function(_holdfast_precompiled_headers name)
  set(source "${PROJECT_BINARY_DIR}/${name}.cc")
  file(CONFIGURE OUTPUT "${source}" CONTENT "")
  add_library(${name} OBJECT "${source}")
  holdfast_compile_options(${name})
  target_precompile_headers(${name} PRIVATE ${ARGN})
endfunction()

# The sets of large headers that only some targets use, and what these headers are compiled with.
set(_holdfast_headers_of_asio
    <boost/asio/as_tuple.hpp> <boost/asio/awaitable.hpp> <boost/asio/bind_cancellation_slot.hpp>
    <boost/asio/bind_executor.hpp> <boost/asio/cancellation_signal.hpp> <boost/asio/co_spawn.hpp>
    <boost/asio/io_context.hpp> <boost/asio/post.hpp> <boost/asio/steady_timer.hpp> <boost/asio/strand.hpp>
    <boost/asio/thread_pool.hpp> <boost/asio/use_awaitable.hpp> <boost/asio/use_future.hpp>)
set(_holdfast_links_of_asio Boost::headers)
set(_holdfast_headers_of_json <nlohmann/json.hpp>)
set(_holdfast_links_of_json nlohmann_json::nlohmann_json)
set(_holdfast_headers_of_fmt <fmt/format.h>)
set(_holdfast_links_of_fmt fmt::fmt-header-only)
set(_holdfast_headers_of_tests <fstream> <future> <iostream> <gtest/gtest.h>)

# holdfast_precompile(<set> <target>...): the targets are compiled with the headers of this set, asio, json or fmt,
# in addition to those that every target uses, precompiled once for all of them.
function(holdfast_precompile set)
  if(NOT HOLDFAST_PRECOMPILE_HEADERS)
    return()
  endif()
  get_property(headers GLOBAL PROPERTY HOLDFAST_PRECOMPILED)
  foreach(target IN LISTS ARGN)
    get_target_property(reused ${target} PRECOMPILE_HEADERS_REUSE_FROM)
    set(name holdfast_precompiled_${set})
    set(more ${_holdfast_headers_of_${set}})
    if(reused STREQUAL "holdfast_precompiled_tests")
      string(APPEND name _tests)
      list(APPEND more ${_holdfast_headers_of_tests})
    endif()
    if(NOT TARGET ${name})
      _holdfast_precompiled_headers(${name} ${headers} ${more})
      target_link_libraries(${name} PRIVATE ${_holdfast_links_of_${set}})
      if(reused STREQUAL "holdfast_precompiled_tests")
        target_link_libraries(${name} PRIVATE GTest::gtest)
        _holdfast_test_options(${name})
      endif()
    endif()
    holdfast_use_precompiled(${target} ${name})
  endforeach()
endfunction()

# holdfast_use_precompiled(<target> <name>): the target is compiled with the headers of <name>, made by
# _holdfast_precompiled_headers(), instead of those it used before. Nothing happens where there are none.
function(holdfast_use_precompiled target name)
  if(TARGET ${name} AND NOT target MATCHES "^holdfast_precompiled")
    set_target_properties(${target} PROPERTIES PRECOMPILE_HEADERS_REUSE_FROM ${name})
  endif()
  if(HOLDFAST_PRECOMPILE_HEADERS AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Without -fpch-preprocess, ccache cannot tell whether a precompiled header has changed. GCC 12 no longer
    # knows which of its lines are the standard library's, and reports mistakes in std::string that are none;
    # a build without precompiled headers, such as the preset `dev`, keeps these warnings.
    target_compile_options(
      ${target} PRIVATE -fpch-preprocess -Wno-array-bounds -Wno-maybe-uninitialized -Wno-restrict
                        -Wno-stringop-overflow -Wno-stringop-overread)
  endif()
endfunction()

# holdfast_precompile_headers(): makes the precompiled headers of our own code and of our tests.
function(holdfast_precompile_headers)
  if(NOT HOLDFAST_PRECOMPILE_HEADERS)
    return()
  endif()
  set(headers
      <algorithm>
      <array>
      <atomic>
      <chrono>
      <condition_variable>
      <expected>
      <filesystem>
      <functional>
      <map>
      <memory>
      <mutex>
      <optional>
      <span>
      <stop_token>
      <string>
      <thread>
      <unordered_map>
      <variant>
      <vector>)
  set_property(GLOBAL PROPERTY HOLDFAST_PRECOMPILED ${headers})
  if(HOLDFAST_BUILD_TESTS)
    _holdfast_precompiled_headers(holdfast_precompiled_tests ${headers} ${_holdfast_headers_of_tests})
    target_link_libraries(holdfast_precompiled_tests PRIVATE GTest::gtest)
    holdfast_test_code(holdfast_precompiled_tests)
  endif()
  # The last: from now on every target uses it that does not ask for another.
  _holdfast_precompiled_headers(holdfast_precompiled ${headers})
endfunction()
