#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include <holdfast/base/error.h>

namespace invoices {

// A day of the calendar.
using Date = std::chrono::sys_days;

// Parses "2024-02-29": an existing day of the years 1900 to 2999; anything else is
// invalid_argument.
[[nodiscard]] holdfast::base::Result<Date> parse_date(std::string_view text);
[[nodiscard]] std::string to_string(Date date);

}  // namespace invoices
