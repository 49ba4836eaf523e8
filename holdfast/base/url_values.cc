#include <holdfast/base/url_values.h>

#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

#include <holdfast/base/duration_text.h>
#include <holdfast/base/percent.h>
#include <holdfast/base/printable.h>
#include <holdfast/base/try.h>

namespace holdfast::base {

namespace {

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower;
}

}  // namespace

Result<std::string> url_text(std::string_view what, std::string_view text) {
  auto plain = percent_decode(text);
  if (!plain) {
    return fail(ErrorCode::invalid_argument,
                "in the " + std::string(what) +
                    ", a percent sign is not followed by two hexadecimal digits");
  }
  return *std::move(plain);
}

Result<Duration> url_duration(std::string_view what, std::string_view text) {
  const auto value = parse_duration(text);
  if (!value) {
    return fail(ErrorCode::invalid_argument, std::string(what) + ": " + value.error().message);
  }
  return *value;
}

Result<void> for_each_url_option(
    std::string_view query,
    const std::function<Result<void>(std::string_view name, std::string_view value)>& set) {
  std::vector<std::string> seen;
  while (!query.empty()) {
    const std::string_view option = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), option.size() + 1));
    const std::size_t equals = option.find('=');
    const std::string_view name = option.substr(0, equals);
    if (equals == std::string_view::npos || name.empty()) {
      return fail(ErrorCode::invalid_argument,
                  "an option of the URL is not of the form name=value");
    }
    seen.push_back(lower_case(name));
    if (std::ranges::count(seen, seen.back()) > 1) {
      return fail(ErrorCode::invalid_argument,
                  "the option " + printable(name) + " is there twice in the URL");
    }
    HOLDFAST_TRY(set(name, option.substr(equals + 1)));
  }
  return {};
}

Error without_rest_of_password(std::string_view query, Error error) {
  if (query.contains('@')) {
    error.message = "in a URL, a question mark in the password is written %3F, and an @ %40";
  }
  return error;
}

}  // namespace holdfast::base
