# Checks the output of bench_local for --help and for invalid options.
cmake_minimum_required(VERSION 3.25)

# run(<exit status> <regex that the output matches> <argument>...)
function(run status regex)
  execute_process(
    COMMAND "${BENCH}" ${ARGN}
    OUTPUT_VARIABLE output
    ERROR_VARIABLE output
    RESULT_VARIABLE result)
  if(NOT result STREQUAL status OR NOT output MATCHES "${regex}")
    message(FATAL_ERROR "${ARGN}: expected ${status} and '${regex}', got ${result} and ${output}")
  endif()
endfunction()

run(0 "Examples:.*--only W1,W3" --help)
run(64 "unknown workload W9; there are W1, W2, W3, W4, W5, W5b, W6, W7" --only W1,W9)
run(64 "--seconds" --seconds 0)
run(64 "--nonsense" --nonsense)
run(0 "W5b  .*holdfast.*libcuckoo" --only w5b --seconds 0.01 --rounds 1 --keys 1000)
