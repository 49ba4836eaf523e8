#include <holdfast/base/ids.h>

#include <optional>
#include <ostream>
#include <ranges>
#include <span>

#include <holdfast/base/random.h>

namespace holdfast::base {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";
constexpr std::size_t kWordDigits = LeaseId::kTextSize / 2;

void write_word(std::uint64_t word, std::span<char, kWordDigits> out) {
  for (char& digit : out | std::views::reverse) {
    digit = kDigits[word & 0xfU];
    word >>= 4U;
  }
}

std::optional<std::uint64_t> read_word(std::string_view digits) {
  std::uint64_t word = 0;
  for (const char digit : digits) {
    const std::size_t value = kDigits.find(digit);
    if (value == std::string_view::npos) return std::nullopt;
    word = (word << 4U) | value;
  }
  return word;
}

}  // namespace

LeaseId LeaseId::generate() {
  LeaseId id;
  while (id.is_nil()) {
    const std::uint64_t high = random_u64();
    id = LeaseId{high, random_u64()};
  }
  return id;
}

Result<LeaseId> LeaseId::parse(std::string_view text) {
  if (text.size() == kTextSize) {
    const auto high = read_word(text.substr(0, kWordDigits));
    const auto low = read_word(text.substr(kWordDigits));
    if (high && low) return LeaseId{*high, *low};
  }
  return fail(ErrorCode::invalid_argument, "the lease id is not 32 lower-case hexadecimal digits");
}

std::string to_string(const LeaseId& id) {
  std::string text(LeaseId::kTextSize, '\0');
  const std::span<char, LeaseId::kTextSize> digits(text);
  write_word(id.high(), digits.first<kWordDigits>());
  write_word(id.low(), digits.last<kWordDigits>());
  return text;
}

std::string to_string(FencingToken token) { return std::to_string(token.value()); }

std::ostream& operator<<(std::ostream& out, const LeaseId& id) { return out << to_string(id); }
std::ostream& operator<<(std::ostream& out, FencingToken token) { return out << token.value(); }

}  // namespace holdfast::base
