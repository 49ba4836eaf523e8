#include <charconv>
#include <cstdlib>

#include <holdfast/base/printable.h>

#include "amount.h"

namespace invoices {

namespace {

constexpr std::size_t kMaxWhole = 10;
constexpr std::size_t kDecimals = 2;

// Reads a number of digits only.
bool read_digits(std::string_view text, std::int64_t& number) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos) {
    return false;
  }
  return std::from_chars(text.data(), text.data() + text.size(), number).ec == std::errc();
}

}  // namespace

holdfast::base::Result<Amount> parse_amount(std::string_view text) {
  const bool negative = text.starts_with('-');
  const std::string_view unsigned_text = text.substr(negative ? 1 : 0);
  const std::size_t point = unsigned_text.find('.');
  const std::string_view whole = unsigned_text.substr(0, point);
  std::string decimals(point == std::string_view::npos ? "0" : unsigned_text.substr(point + 1));
  if (decimals.size() == 1) {
    decimals += '0';
  }
  std::int64_t units = 0;
  std::int64_t rest = 0;
  if (whole.size() > kMaxWhole || decimals.size() != kDecimals || !read_digits(whole, units) ||
      !read_digits(decimals, rest)) {
    return holdfast::base::fail(
        holdfast::base::ErrorCode::invalid_argument,
        "'" + holdfast::base::printable(text) + "' is not an amount, as in 1250 or 1250.00");
  }
  const std::int64_t cents = units * 100 + rest;
  return Amount{negative ? -cents : cents};
}

std::string to_string(Amount amount) {
  const std::int64_t cents = std::abs(amount.cents);
  std::string text = amount.cents < 0 ? "-" : "";
  text += std::to_string(cents / 100) + '.';
  text += static_cast<char>('0' + cents % 100 / 10);
  text += static_cast<char>('0' + cents % 10);
  return text;
}

}  // namespace invoices
