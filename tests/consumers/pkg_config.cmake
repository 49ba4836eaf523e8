# Compiles the consumer with what pkg-config says, and nothing else.
set(ENV{PKG_CONFIG_LIBDIR} "${LIBDIR}/pkgconfig")
set(ENV{LD_LIBRARY_PATH} "${LIBDIR}")

execute_process(
  COMMAND "${PKG_CONFIG}" --modversion holdfast-local
  OUTPUT_VARIABLE version OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
if(NOT version STREQUAL VERSION)
  message(FATAL_ERROR "pkg-config says version ${version}, the project says ${VERSION}")
endif()

execute_process(COMMAND "${PKG_CONFIG}" --cflags --libs holdfast-local OUTPUT_VARIABLE flags
                        COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(flags UNIX_COMMAND "${flags}")
file(MAKE_DIRECTORY "${WORK}")
execute_process(COMMAND "${COMPILER}" -std=c++23 "${CMAKE_CURRENT_LIST_DIR}/main.cc" ${flags} -o
                        "${WORK}/consumer" COMMAND_ERROR_IS_FATAL ANY COMMAND_ECHO STDOUT)
execute_process(COMMAND "${WORK}/consumer" COMMAND_ERROR_IS_FATAL ANY)
