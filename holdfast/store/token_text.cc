#include <holdfast/store/token_text.h>

#include <charconv>
#include <cstdint>

namespace holdfast::store {

std::string token_text(base::FencingToken token) {
  const std::string digits = to_string(token);
  return std::string(kTokenTextSize - digits.size(), '0') + digits;
}

std::optional<base::FencingToken> parse_token_text(std::string_view text) {
  std::uint64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.size() != kTokenTextSize || stop != text.data() + text.size() || error != std::errc()) {
    return std::nullopt;
  }
  return base::FencingToken(value);
}

}  // namespace holdfast::store
