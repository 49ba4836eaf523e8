#include <holdfast/engines/mongodb/internal/id_space.h>

#include <charconv>
#include <cstdint>

namespace holdfast::engines::mongodb::internal {

namespace {

// Returns the number of bytes of the first character; zero if it is not valid UTF-8.
std::size_t character_size(std::string_view bytes) noexcept {
  const auto at = [&](std::size_t place) { return static_cast<std::uint8_t>(bytes[place]); };
  const std::uint8_t first = at(0);
  if (first < 0x80) {
    return 1;
  }
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || bytes.size() < size) {
    return 0;
  }
  for (std::size_t i = 1; i < size; ++i) {
    if ((at(i) & 0xc0U) != 0x80) {
      return 0;
    }
  }
  // Longer than it need be, half of a surrogate pair, or beyond the last character.
  const std::uint8_t second = at(1);
  if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
      (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f)) {
    return 0;
  }
  return size;
}

std::optional<std::string> from_hexadecimal(std::string_view digits) {
  if (digits.size() % 2 != 0) {
    return std::nullopt;
  }
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    std::uint8_t byte = 0;
    const char* const begin = digits.data() + i;
    if (std::from_chars(begin, begin + 2, byte, 16).ptr != begin + 2) {
      return std::nullopt;
    }
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

}  // namespace

std::string_view IdSpace::valid_beginning(std::string_view bytes) noexcept {
  std::size_t good = 0;
  while (good < bytes.size()) {
    const std::size_t size = character_size(bytes.substr(good));
    if (size == 0) {
      break;
    }
    good += size;
  }
  return bytes.substr(0, good);
}

std::string IdSpace::hexadecimal(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string digits;
  digits.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    digits += kDigits[static_cast<std::uint8_t>(c) >> 4U];
    digits += kDigits[static_cast<std::uint8_t>(c) & 0xfU];
  }
  return digits;
}

std::string IdSpace::id_of(std::string_view name) const {
  if (valid_beginning(name).size() == name.size() && !name.starts_with(kEscape)) {
    return prefix_ + std::string(name);
  }
  return prefix_ + std::string(kEscape) + hexadecimal(name);
}

std::optional<std::string> IdSpace::name_of(std::string_view id) const {
  if (!id.starts_with(prefix_)) {
    return std::nullopt;
  }
  id.remove_prefix(prefix_.size());
  if (!id.starts_with(kEscape)) {
    return std::string(id);
  }
  auto name = from_hexadecimal(id.substr(kEscape.size()));
  // Only what we would write so.
  return name && id_of(*name) == prefix_ + std::string(id) ? name : std::nullopt;
}

}  // namespace holdfast::engines::mongodb::internal
