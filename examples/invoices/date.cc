#include <charconv>
#include <cstdio>

#include <holdfast/base/printable.h>

#include "date.h"

namespace invoices {

namespace {

bool read_digits(std::string_view text, unsigned& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

holdfast::base::Result<Date> parse_date(std::string_view text) {
  constexpr std::string_view kShape = "YYYY-MM-DD";
  unsigned year = 0;
  unsigned month = 0;
  unsigned day = 0;
  if (text.size() == kShape.size() && text[4] == '-' && text[7] == '-' &&
      read_digits(text.substr(0, 4), year) && read_digits(text.substr(5, 2), month) &&
      read_digits(text.substr(8, 2), day) && year >= 1900 && year <= 2999) {
    const std::chrono::year_month_day date(std::chrono::year(static_cast<int>(year)),
                                           std::chrono::month(month), std::chrono::day(day));
    if (date.ok()) {
      return Date(date);
    }
  }
  return holdfast::base::fail(
      holdfast::base::ErrorCode::invalid_argument,
      "'" + holdfast::base::printable(text) + "' is not a day as in 2024-02-29");
}

std::string to_string(Date date) {
  const std::chrono::year_month_day day(date);
  char text[16];
  const int size =
      std::snprintf(text, sizeof text, "%04d-%02u-%02u", static_cast<int>(day.year()),
                    static_cast<unsigned>(day.month()), static_cast<unsigned>(day.day()));
  return {text, static_cast<std::size_t>(size)};
}

}  // namespace invoices
