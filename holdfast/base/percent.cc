#include <holdfast/base/percent.h>

#include <charconv>
#include <cstdint>

namespace holdfast::base {

std::optional<std::string> percent_decode(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    if (text.front() != '%') {
      plain += text.front();
      text.remove_prefix(1);
      continue;
    }
    std::uint8_t byte = 0;
    if (text.size() < 3 ||
        std::from_chars(text.data() + 1, text.data() + 3, byte, 16).ptr != text.data() + 3) {
      return std::nullopt;
    }
    plain += static_cast<char>(byte);
    text.remove_prefix(3);
  }
  return plain;
}

std::string percent_encode(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  constexpr std::string_view kPlain = "-._~@/:,=+";
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (is_letter || (c >= '0' && c <= '9') || kPlain.find(c) != std::string_view::npos) {
      escaped += c;
      continue;
    }
    const auto byte = static_cast<std::uint8_t>(c);
    escaped += '%';
    escaped += kDigits[byte >> 4U];
    escaped += kDigits[byte & 0xfU];
  }
  return escaped;
}

}  // namespace holdfast::base
