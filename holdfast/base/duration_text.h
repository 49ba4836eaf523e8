#pragma once

#include <string>
#include <string_view>

#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>

namespace holdfast::base {

// Parses "250ms", "1.5s", "2m", "8h", "30d": a number and its unit, which is one of ns, us, ms, s,
// m, h and d. A number without a unit, a negative one, or one that nanoseconds cannot count is
// invalid_argument, with a message that names the units.
[[nodiscard]] Result<Duration> parse_duration(std::string_view text);

// Formats for people: the two largest units that matter, such as "3m 20s", "8s", "250ms", "0s".
[[nodiscard]] std::string short_duration(Duration value);

}  // namespace holdfast::base
