# A compiler that is told to use an older standard must stop with a message that names the right one.
file(WRITE "${WORK}/main.cc" "#include <holdfast/holdfast.h>\nint main() {}\n")
execute_process(
  COMMAND "${COMPILER}" -std=c++20 -fsyntax-only "-I${PREFIX}/include" "${WORK}/main.cc"
  RESULT_VARIABLE result
  OUTPUT_VARIABLE output
  ERROR_VARIABLE output)
if(result EQUAL 0)
  message(FATAL_ERROR "C++20 was accepted")
endif()
if(NOT output MATCHES "error: [^\n]*Holdfast needs C\\+\\+23: compile with -std=c\\+\\+23")
  message(FATAL_ERROR "It failed, but without the expected message:\n${output}")
endif()
