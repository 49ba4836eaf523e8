#include <holdfast/base/printable.h>

#include <algorithm>
#include <cstdint>

#include <holdfast/base/utf8.h>

namespace holdfast::base {
namespace {

constexpr std::string_view kEllipsis = "…";
static_assert(kEllipsis.size() == 3, "the source is UTF-8");

void append_escaped(std::string& out, std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (const char c : bytes) {
    const auto byte = static_cast<std::uint8_t>(c);
    out += "\\x";
    out += kDigits[byte >> 4U];
    out += kDigits[byte & 0xfU];
  }
}

}  // namespace

bool is_unsafe_to_print(char32_t character) noexcept {
  const auto within = [character](char32_t first, char32_t last) {
    return character >= first && character <= last;
  };
  return character < 0x20 || within(0x7f, 0x9f) || character == 0x61c || within(0x200e, 0x200f) ||
         within(0x2028, 0x202e) || within(0x2066, 0x2069);
}

std::string printable_message(std::string_view bytes) {
  std::string out;
  while (!bytes.empty()) {
    const CodePoint front = front_of_utf8(bytes);
    const std::string_view piece = bytes.substr(0, std::max<std::size_t>(front.size, 1));
    if (front.size == 0 || is_unsafe_to_print(front.value)) {
      append_escaped(out, piece);
    } else {
      out += piece;
    }
    bytes.remove_prefix(piece.size());
  }
  return out;
}

std::string printable(std::string_view bytes) {
  std::string out;
  std::size_t cut = 0;  // where the ellipsis would still fit
  while (!bytes.empty()) {
    const CodePoint front = front_of_utf8(bytes);
    const std::string_view piece = bytes.substr(0, std::max<std::size_t>(front.size, 1));
    if (front.size == 0 || is_unsafe_to_print(front.value)) {
      append_escaped(out, piece);
    } else {
      if (front.value == U'\\') out += '\\';
      out += piece;
    }
    if (out.size() > kPrintableLimit) {
      out.resize(cut);
      return out += kEllipsis;
    }
    if (out.size() <= kPrintableLimit - kEllipsis.size()) cut = out.size();
    bytes.remove_prefix(piece.size());
  }
  return out;
}

}  // namespace holdfast::base
