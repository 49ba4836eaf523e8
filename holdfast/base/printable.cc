#include <holdfast/base/printable.h>

#include <algorithm>
#include <cstdint>

namespace holdfast::base {
namespace {

constexpr std::string_view kEllipsis = "…";
static_assert(kEllipsis.size() == 3, "the source is UTF-8");

std::uint8_t byte_at(std::string_view bytes, std::size_t index) {
  return static_cast<std::uint8_t>(bytes[index]);
}

struct CodePoint {
  char32_t value = 0;
  std::size_t size = 0;  // in bytes; 0 where the bytes are not valid UTF-8
};

// The code point at the front of `bytes`, which is not empty.
CodePoint decode_front(std::string_view bytes) {
  const std::uint8_t lead = byte_at(bytes, 0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || bytes.size() < size) return {};
  char32_t value = lead & (0x7fU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    const std::uint8_t next = byte_at(bytes, i);
    if ((next & 0xc0U) != 0x80U) return {};
    value = (value << 6U) | (next & 0x3fU);
  }
  const bool overlong = (size == 3 && value < 0x800) || (size == 4 && value < 0x10000);
  const bool surrogate = value >= 0xd800 && value <= 0xdfff;
  if (overlong || surrogate || value > 0x10ffff) return {};
  return {value, size};
}

// Characters that could break a line or change how the rest of it is shown.
bool is_unsafe(char32_t c) {
  const auto within = [c](char32_t first, char32_t last) { return c >= first && c <= last; };
  return c < 0x20 || within(0x7f, 0x9f) || within(0x200e, 0x200f) || within(0x2028, 0x202e) ||
         within(0x2066, 0x2069);
}

void append_escaped(std::string& out, std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    out += "\\x";
    out += kDigits[byte_at(bytes, i) >> 4U];
    out += kDigits[byte_at(bytes, i) & 0xfU];
  }
}

}  // namespace

std::string printable(std::string_view bytes) {
  std::string out;
  std::size_t cut = 0;  // where the ellipsis would still fit
  while (!bytes.empty()) {
    const CodePoint front = decode_front(bytes);
    const std::string_view piece = bytes.substr(0, std::max<std::size_t>(front.size, 1));
    if (front.size == 0 || is_unsafe(front.value)) {
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
