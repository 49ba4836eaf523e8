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
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.size() != kTokenTextSize || stop != end || error != std::errc()) {
    return std::nullopt;
  }
  return base::FencingToken(value);
}

}  // namespace holdfast::store
