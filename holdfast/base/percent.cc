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

}  // namespace holdfast::base
