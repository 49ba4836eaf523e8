# Installs the build to PREFIX by way of another folder, so that a path to where the package was
# first installed cannot go unnoticed.
file(REMOVE_RECURSE "${WORK}" "${PREFIX}")
execute_process(COMMAND "${CMAKE_COMMAND}" --install "${HOLDFAST_BUILD}" --prefix "${WORK}"
                        COMMAND_ERROR_IS_FATAL ANY)
file(RENAME "${WORK}" "${PREFIX}")
