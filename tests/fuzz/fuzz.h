#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <holdfast/base/error.h>
#include <holdfast/base/printable.h>

// The part that every target has: the function that libFuzzer or driver.cc calls with one input.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace holdfast::fuzz {

// Ends the program, with the input shown, if the statement is false.
inline void require(bool holds, std::string_view statement) {
  if (!holds) {
    std::fprintf(stderr, "not true: %.*s\n", static_cast<int>(statement.size()), statement.data());
    std::abort();
  }
}

inline std::string_view as_text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Requires that the text may be printed on a terminal as it is.
inline void require_printable(std::string_view text, std::string_view statement) {
  require(base::printable_message(text) == text, statement);
}

inline void require_printable(const base::Error& error) {
  require(!error.message.empty(), "an error has a message");
  require_printable(error.message, "an error's message is printable");
}

}  // namespace holdfast::fuzz
