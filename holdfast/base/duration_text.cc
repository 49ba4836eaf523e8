#include <holdfast/base/duration_text.h>

#include <array>
#include <charconv>
#include <utility>

#include <holdfast/base/printable.h>
#include <holdfast/base/saturate.h>

namespace holdfast::base {

namespace {

using Unit = std::pair<std::string_view, Duration>;

constexpr std::array<Unit, 7> kUnits{{{"d", std::chrono::days(1)},
                                      {"h", std::chrono::hours(1)},
                                      {"m", std::chrono::minutes(1)},
                                      {"s", std::chrono::seconds(1)},
                                      {"ms", std::chrono::milliseconds(1)},
                                      {"us", std::chrono::microseconds(1)},
                                      {"ns", std::chrono::nanoseconds(1)}}};

std::unexpected<Error> not_a_duration(std::string_view text) {
  return fail(
      ErrorCode::invalid_argument,
      "'" + printable(text) +
          "' is not a duration: write a number and a unit (ns, us, ms, s, m, h, d), as in 30s");
}

}  // namespace

Result<Duration> parse_duration(std::string_view text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  // The comparison also rejects NaN.
  if (error != std::errc() || !(number >= 0)) {
    return not_a_duration(text);
  }
  const std::string_view unit(after, static_cast<std::size_t>(end - after));
  for (const auto& [name, length] : kUnits) {
    if (unit == name) {
      const Duration value = to_duration(std::chrono::duration<double, std::nano>(length) * number);
      return value < Duration::max() ? Result<Duration>(value) : not_a_duration(text);
    }
  }
  return not_a_duration(text);
}

std::string short_duration(Duration value) {
  if (value < Duration::zero()) {
    return "-" + short_duration(value == Duration::min() ? Duration::max() : -value);
  }
  std::string text;
  for (std::size_t i = 0; i < kUnits.size(); ++i) {
    const auto& [name, length] = kUnits[i];
    const auto whole = value / length;
    if (whole == 0 && text.empty()) {
      continue;
    }
    if (!text.empty()) {
      return whole == 0 ? text : text + " " + std::to_string(whole) + std::string(name);
    }
    text = std::to_string(whole) + std::string(name);
    value %= length;
    if (length <= std::chrono::seconds(1)) {
      break;  // below a minute one unit is enough
    }
  }
  return text.empty() ? "0s" : text;
}

}  // namespace holdfast::base
