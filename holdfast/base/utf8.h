#pragma once

#include <cstddef>
#include <string_view>

namespace holdfast::base {

struct CodePoint {
  char32_t value = 0;
  std::size_t size = 0;  // in bytes; 0 if the bytes are not valid UTF-8
};

// Decodes the first code point of `bytes`, which are not empty.
[[nodiscard]] CodePoint front_of_utf8(std::string_view bytes) noexcept;

// Returns whether all of it is valid UTF-8: no overlong forms, no surrogates, nothing past
// U+10FFFF.
[[nodiscard]] bool is_utf8(std::string_view bytes) noexcept;

}  // namespace holdfast::base
