#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/base/ids.h>

namespace holdfast::store {

// A token as text of always the same length, so that texts compare as their tokens do: for servers
// that have no numbers of 64 bits without a sign.
inline constexpr std::size_t kTokenTextSize = 20;

[[nodiscard]] std::string token_text(base::FencingToken token);

// Returns nullopt if token_text() does not write it so.
[[nodiscard]] std::optional<base::FencingToken> parse_token_text(std::string_view text);

}  // namespace holdfast::store
