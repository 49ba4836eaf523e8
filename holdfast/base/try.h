#pragma once

#include <expected>
#include <utility>

// Macros that pass an error on, for the sources of Holdfast alone: this header is not installed, so
// no installed header may include it.
//
// HOLDFAST_TRY(expression) evaluates a Result and returns its error from the enclosing function,
// which must return a Result too. The value, if there is one, is dropped.
//
// HOLDFAST_TRY_LET(declaration, expression) does the same, and initializes the declared variable
// with the value. It is more than one statement: it stands in a block, never alone after an `if`.
//
//   HOLDFAST_TRY(check_name(name));
//   HOLDFAST_TRY_LET(const Record record, read_record(name));
#define HOLDFAST_TRY(...)                                         \
  do {                                                            \
    if (auto holdfast_result = (__VA_ARGS__); !holdfast_result) { \
      return std::unexpected(std::move(holdfast_result).error()); \
    }                                                             \
  } while (false)

#define HOLDFAST_TRY_LET(declaration, ...) \
  HOLDFAST_INTERNAL_TRY_LET(HOLDFAST_INTERNAL_TRY_NAME(__LINE__), declaration, __VA_ARGS__)

#define HOLDFAST_INTERNAL_TRY_LET(result, declaration, ...)       \
  auto result = (__VA_ARGS__);                                    \
  if (!result) return std::unexpected(std::move(result).error()); \
  declaration = *std::move(result)

#define HOLDFAST_INTERNAL_TRY_NAME(line) HOLDFAST_INTERNAL_TRY_JOIN(holdfast_result_, line)
#define HOLDFAST_INTERNAL_TRY_JOIN(left, right) left##right
