# Where Boost is too old for the component, the configuration must stop, and say which one it needs.
file(WRITE "${WORK}/old/include/boost/config.hpp" "")  # what CMake looks for
file(WRITE "${WORK}/old/include/boost/version.hpp"
     "#define BOOST_VERSION 107400\n#define BOOST_LIB_VERSION \"1_74\"\n")
execute_process(
  COMMAND
    "${CMAKE_COMMAND}" --fresh -G Ninja -S "${CMAKE_CURRENT_LIST_DIR}/async" -B "${WORK}/build"
    -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_PREFIX_PATH=${PREFIX} -DBOOST_ROOT=${WORK}/old
    -DBoost_NO_BOOST_CMAKE=ON -DBoost_NO_SYSTEM_PATHS=ON
  RESULT_VARIABLE result
  OUTPUT_VARIABLE output
  ERROR_VARIABLE output)
if(result EQUAL 0)
  message(FATAL_ERROR "Boost 1.74 was accepted:\n${output}")
endif()

# CMake wraps what it prints.
string(REGEX REPLACE "[ \n]+" " " text "${output}")
if(NOT text MATCHES "Boost.*1\\.74.*required is at least \"1\\.77\"")
  message(FATAL_ERROR "The configuration failed, but without the expected message:\n${output}")
endif()
