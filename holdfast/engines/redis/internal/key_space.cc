#include <holdfast/engines/redis/internal/key_space.h>

#include <array>
#include <vector>

#include <holdfast/base/percent.h>

namespace holdfast::engines::redis::internal {

namespace {

constexpr std::uint16_t kSlots = 16'384;

constexpr std::string_view kCompanion = "hf:";
constexpr std::string_view kQueue = "hfq:";
constexpr std::string_view kEnds = "hfe:";
constexpr std::string_view kObject = "hfo:";
constexpr std::string_view kEscape = "hf~";

// CRC-16/XMODEM, by which a cluster shares out its keys.
constexpr std::array<std::uint16_t, 256> kCrcTable = [] {
  std::array<std::uint16_t, 256> table{};
  for (unsigned byte = 0; byte < table.size(); ++byte) {
    unsigned crc = byte << 8U;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc & 0x8000U) != 0 ? (crc << 1U) ^ 0x1021U : crc << 1U;
    }
    table[byte] = static_cast<std::uint16_t>(crc);
  }
  return table;
}();

std::uint16_t slot_of_bytes(std::string_view bytes) noexcept {
  unsigned crc = 0;
  for (const char byte : bytes) {
    crc = ((crc << 8U) & 0xffffU) ^
          kCrcTable[((crc >> 8U) ^ static_cast<unsigned char>(byte)) & 0xffU];
  }
  return static_cast<std::uint16_t>(crc % kSlots);
}

// Returns the text between the first { and the first } after it; empty: the whole key counts.
std::string_view tag_of(std::string_view key) noexcept {
  const std::size_t open = key.find('{');
  const std::size_t close = open == key.npos ? key.npos : key.find('}', open);
  return close == key.npos ? std::string_view() : key.substr(open + 1, close - open - 1);
}

// For each slot a number whose digits are in it.
const std::vector<std::uint32_t>& numbers_by_slot() {
  static const std::vector<std::uint32_t> kNumbers = [] {
    std::vector<std::uint32_t> numbers(kSlots);
    std::uint32_t found = 0;
    for (std::uint32_t number = 1; found < kSlots; ++number) {
      std::uint32_t& place = numbers[slot_of_bytes(std::to_string(number))];
      found += place == 0 ? 1 : 0;
      place = place == 0 ? number : place;
    }
    return numbers;
  }();
  return kNumbers;
}

// Returns the text after hf:.
std::string tail_of(std::string_view plain) {
  std::string tail;
  if (plain.find('}') == plain.npos) {
    tail.append("{").append(plain).append("}");
  } else if (!tag_of(plain).empty()) {
    tail.append("=").append(plain);
  } else {
    const std::uint32_t number = numbers_by_slot()[slot_of_bytes(plain)];
    tail.append("+{").append(std::to_string(number)).append("}").append(plain);
  }
  return tail;
}

std::optional<std::string_view> plain_in(std::string_view tail) {
  if (tail.starts_with('{') && tail.ends_with('}')) {
    return tail.substr(1, tail.size() - 2);
  }
  if (tail.starts_with('=')) {
    return tail.substr(1);
  }
  const std::size_t close = tail.starts_with("+{") ? tail.find('}') : tail.npos;
  return close == tail.npos ? std::nullopt : std::optional(tail.substr(close + 1));
}

bool needs_escape(std::string_view plain) noexcept {
  return plain.starts_with(kCompanion) || plain.starts_with(kQueue) || plain.starts_with(kEnds) ||
         plain.starts_with(kObject) || plain.starts_with(kEscape);
}

}  // namespace

std::uint16_t slot_of(std::string_view key) noexcept {
  const std::string_view tag = tag_of(key);
  return slot_of_bytes(tag.empty() ? key : tag);
}

Keys KeySpace::keys_of(std::string_view name) const {
  std::string plain = prefix_;
  plain.append(name);
  if (needs_escape(plain)) {
    plain.insert(0, kEscape);
  }
  std::string companion = std::string(kCompanion).append(tail_of(plain));
  return {.plain = std::move(plain), .companion = std::move(companion)};
}

// Every key of a name contains the prefix and the name as they are.
std::string KeySpace::pattern(std::string_view prefix) const {
  std::string pattern = "*";
  for (const char byte : prefix_ + std::string(prefix)) {
    if (std::string_view("*?[]^\\").contains(byte)) {
      pattern.push_back('\\');
    }
    pattern.push_back(byte);
  }
  return pattern.size() == 1 ? pattern : pattern + "*";
}

std::string KeySpace::companion_pattern(std::string_view prefix) const {
  return std::string(kCompanion).append(pattern(prefix));
}

std::optional<std::string> KeySpace::name_of_plain(std::string_view plain) const {
  if (plain.starts_with(kEscape)) {
    plain.remove_prefix(kEscape.size());
  } else if (needs_escape(plain)) {
    return std::nullopt;
  }
  if (!plain.starts_with(prefix_) || plain.size() == prefix_.size()) {
    return std::nullopt;
  }
  return std::string(plain.substr(prefix_.size()));
}

std::optional<std::string> KeySpace::name_of_companion(std::string_view companion) const {
  if (!companion.starts_with(kCompanion)) {
    return std::nullopt;
  }
  const auto plain = plain_in(companion.substr(kCompanion.size()));
  return plain ? name_of_plain(*plain) : std::nullopt;
}

std::string KeySpace::index_of(std::string_view type) const {
  // Percent signs leave no brace within the tag.
  return std::string(kObject) + "{" + base::percent_encode(prefix_ + std::string(type)) + "}";
}

std::string KeySpace::object_of(std::string_view type, std::string_view id) const {
  return index_of(type).append(":").append(id);
}

}  // namespace holdfast::engines::redis::internal
