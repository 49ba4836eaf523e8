#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include <holdfast/base/error.h>

namespace invoices {

// An amount of money in whole cents: nothing here is ever a floating-point number.
struct Amount {
  std::int64_t cents = 0;

  friend auto operator<=>(const Amount&, const Amount&) = default;
};

// Parses "12", "12.5" and "12.50", up to 9,999,999,999.99; anything else is invalid_argument.
// Credit notes are negative.
[[nodiscard]] holdfast::base::Result<Amount> parse_amount(std::string_view text);
// Formats the amount, always with two decimals.
[[nodiscard]] std::string to_string(Amount amount);

}  // namespace invoices
