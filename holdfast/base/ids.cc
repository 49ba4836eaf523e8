#include <holdfast/base/ids.h>

#include <optional>

#include <holdfast/base/random.h>

namespace holdfast::base {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";
constexpr std::size_t kWordDigits = LeaseId::kTextSize / 2;

void write_word(std::string& out, std::uint64_t word) {
  for (unsigned shift = 64; shift > 0; shift -= 4) out += kDigits[(word >> (shift - 4)) & 0xfU];
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
  std::string text;
  text.reserve(LeaseId::kTextSize);
  write_word(text, id.high());
  write_word(text, id.low());
  return text;
}

std::string to_string(FencingToken token) { return std::to_string(token.value()); }

}  // namespace holdfast::base
