#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace holdfast::base {

// The text with its percent escapes resolved, as in a URL: `a%20b` is `a b`. Nothing if a percent
// sign is not followed by two hexadecimal digits.
[[nodiscard]] std::optional<std::string> percent_decode(std::string_view text);

// The text with every byte escaped but ASCII letters, digits and -._~@/:,=+ so that it has no
// space, no control character and nothing beyond ASCII.
[[nodiscard]] std::string percent_encode(std::string_view text);

}  // namespace holdfast::base
