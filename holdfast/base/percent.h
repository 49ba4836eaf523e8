#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace holdfast::base {

// Decodes percent escapes, as in a URL: `a%20b` is `a b`. Returns nullopt if a percent sign is not
// followed by two hexadecimal digits.
[[nodiscard]] std::optional<std::string> percent_decode(std::string_view text);

// Escapes every byte except ASCII letters, digits and -._~@/:,=+ so that the result has no space,
// no control character and nothing beyond ASCII.
[[nodiscard]] std::string percent_encode(std::string_view text);

}  // namespace holdfast::base
