# What a build of Holdfast can be asked for. Everything beyond the libraries is on only when
# Holdfast is the project being built, so that add_subdirectory(holdfast) costs a consumer nothing.
option(HOLDFAST_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(HOLDFAST_BUILD_BENCH "Build the benchmarks" ${PROJECT_IS_TOP_LEVEL})
option(HOLDFAST_BUILD_APPS "Build the programs" ${PROJECT_IS_TOP_LEVEL})
option(HOLDFAST_BUILD_EXAMPLES "Build the examples" ${PROJECT_IS_TOP_LEVEL})
option(HOLDFAST_INSTALL "Make install rules" ${PROJECT_IS_TOP_LEVEL})
option(HOLDFAST_WERROR "Treat warnings in Holdfast's own code as errors" ${PROJECT_IS_TOP_LEVEL})
option(HOLDFAST_FUZZ "Link the fuzz targets with libFuzzer, which takes Clang" OFF)
option(BUILD_SHARED_LIBS "Build shared libraries" OFF)
set(HOLDFAST_SANITIZE "" CACHE STRING "What to pass to -fsanitize=, e.g. thread")

if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
endif()

# For the whole tree, not per target: a sanitizer misses what happens in uninstrumented objects.
if(HOLDFAST_SANITIZE)
  set(holdfast_sanitizer_flags
      -fsanitize=${HOLDFAST_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_compile_options(${holdfast_sanitizer_flags})
  add_link_options(${holdfast_sanitizer_flags})
endif()

# The language level and the warnings of our own code; a consumer inherits neither the warnings
# nor their being errors.
function(holdfast_compile_options target)
  holdfast_use_precompiled(${target} holdfast_precompiled)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  target_compile_features(${target} PUBLIC cxx_std_23)
  target_compile_options(
    ${target}
    PRIVATE -Wall
            -Wextra
            -Wpedantic
            -Wcast-align
            -Wcast-qual
            -Wconversion
            -Wextra-semi
            -Wformat=2
            -Wimplicit-fallthrough
            -Wnon-virtual-dtor
            -Wold-style-cast
            -Woverloaded-virtual
            -Wshadow
            -Wsign-conversion
            -Wundef
            -Wunused
            $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-branches>
            $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-cond>
            $<$<CXX_COMPILER_ID:GNU>:-Wlogical-op>
            $<$<BOOL:${HOLDFAST_WERROR}>:-Werror>)
  if(HOLDFAST_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # The checks that a sanitizer inserts hide from GCC that a value is always set, and that a coroutine's
    # frame is freed by what allocated it; the plain builds keep the warnings. Boost.Asio has fences, which
    # ThreadSanitizer does not see, beside the mutexes, which it does.
    target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized -Wno-mismatched-new-delete
                                             -Wno-tsan)
  endif()
endfunction()
