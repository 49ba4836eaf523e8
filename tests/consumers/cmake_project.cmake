# Configures the folder PROJECT, builds it and runs its program. --fresh: the cache of an earlier
# run could hide a package that is no longer found.
execute_process(
  COMMAND
    "${CMAKE_COMMAND}" --fresh -G Ninja -S "${CMAKE_CURRENT_LIST_DIR}/${PROJECT}" -B "${WORK}"
    -DCMAKE_BUILD_TYPE=${BUILD_TYPE} -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_PREFIX_PATH=${PREFIX}
    -DHOLDFAST_SOURCE=${HOLDFAST_SOURCE} --no-warn-unused-cli
    COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${CMAKE_COMMAND}" --build "${WORK}" COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${WORK}/consumer" COMMAND_ERROR_IS_FATAL ANY)
