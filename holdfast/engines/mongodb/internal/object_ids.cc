#include <holdfast/engines/mongodb/internal/object_ids.h>

#include <cstdint>

namespace holdfast::engines::mongodb::internal {

namespace {

void append_as_text(std::string& text, std::string_view bytes) {
  for (const char c : bytes) {
    const auto byte = static_cast<std::uint8_t>(c);
    if (byte < 0x80) {
      text += c;
    } else {
      text += static_cast<char>(0xc0U | byte >> 6U);
      text += static_cast<char>(0x80U | (byte & 0x3fU));
    }
  }
}

std::optional<std::string> bytes_of(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto first = static_cast<std::uint8_t>(text[i]);
    if (first < 0x80) {
      bytes += text[i];
      continue;
    }
    if ((first != 0xc2 && first != 0xc3) || i + 1 == text.size()) {
      return std::nullopt;
    }
    const auto second = static_cast<std::uint8_t>(text[++i]);
    bytes += static_cast<char>((first & 3U) << 6U | (second & 0x3fU));
  }
  return bytes;
}

}  // namespace

std::string ObjectIds::beginning(std::string_view type, std::string_view bytes) const {
  std::string text = prefix_ + std::to_string(type.size()) + ":";
  append_as_text(text, type);
  text += ':';
  append_as_text(text, bytes);
  return text;
}

std::string ObjectIds::end_of(std::string_view beginning) {
  return std::string(beginning) + "\xc4\x80";  // the character after the last that there is
}

std::optional<std::string> ObjectIds::object_of(std::string_view type, std::string_view id) const {
  const std::string before = beginning(type, {});
  return id.starts_with(before) ? bytes_of(id.substr(before.size())) : std::nullopt;
}

}  // namespace holdfast::engines::mongodb::internal
