# Configures the folder PROJECT, builds it and runs its programs. --fresh: the cache of an earlier
# run could hide a package that is no longer found. Not optimised, and with the compiler cache where there is
# one: whether it can be built is the question.
set(ENV{CCACHE_BASEDIR} "${HOLDFAST_SOURCE}")
set(ENV{CCACHE_NOHASHDIR} 1)
file(REMOVE_RECURSE "${WORK}/bin")
execute_process(
  COMMAND
    "${CMAKE_COMMAND}" --fresh -G Ninja -S "${CMAKE_CURRENT_LIST_DIR}/${PROJECT}" -B "${WORK}"
    -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DCMAKE_CXX_COMPILER=${COMPILER}
    -DCMAKE_CXX_COMPILER_LAUNCHER=${CCACHE} -DCMAKE_PREFIX_PATH=${PREFIX}
    -DCMAKE_RUNTIME_OUTPUT_DIRECTORY=${WORK}/bin -DCONSUMERS=${CONSUMERS}
    -DHOLDFAST_SOURCE=${HOLDFAST_SOURCE} --no-warn-unused-cli
    COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${CMAKE_COMMAND}" --build "${WORK}" COMMAND_ERROR_IS_FATAL ANY)
file(GLOB programs "${WORK}/bin/*")
list(LENGTH programs count)
if(NOT count EQUAL EXPECTED_PROGRAMS)
  message(FATAL_ERROR "${PROJECT} has made ${count} programs instead of ${EXPECTED_PROGRAMS}")
endif()
foreach(program IN LISTS programs)
  execute_process(COMMAND "${program}" COMMAND_ERROR_IS_FATAL ANY COMMAND_ECHO STDOUT)
endforeach()
