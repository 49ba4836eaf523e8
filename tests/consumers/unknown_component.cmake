# A component that does not exist must stop the configuration, and say which do.
execute_process(
  COMMAND
    "${CMAKE_COMMAND}" --fresh -G Ninja -S "${CMAKE_CURRENT_LIST_DIR}/unknown_component" -B
    "${WORK}" -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_PREFIX_PATH=${PREFIX}
  RESULT_VARIABLE result
  OUTPUT_VARIABLE output
  ERROR_VARIABLE output)
if(result EQUAL 0)
  message(FATAL_ERROR "An unknown component was accepted:\n${output}")
endif()

# CMake wraps what it prints.
string(REGEX REPLACE "[ \n]+" " " text "${output}")
if(NOT text MATCHES "holdfast has no component 'no_such_layer'; it has: base, local")
  message(FATAL_ERROR "The configuration failed, but without the expected message:\n${output}")
endif()
