#pragma once

#include <charconv>
#include <concepts>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>

namespace holdfast::base {

// Reads the values in the URL of a server. Errors are ErrorCode::invalid_argument; `what` names the
// value in them. A text that is no number is not shown: it may be the rest of a password.

// Returns the text without percent escapes.
[[nodiscard]] Result<std::string> url_text(std::string_view what, std::string_view text);

[[nodiscard]] Result<Duration> url_duration(std::string_view what, std::string_view text);

// Returns a number from `least` to `most`.
template <std::unsigned_integral Number>
[[nodiscard]] Result<Number> url_number(std::string_view what, std::string_view text, Number least,
                                        Number most) {
  Number number{};
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() ||
      number < least || number > most) {
    return fail(ErrorCode::invalid_argument,
                std::string(what) + " is not a number from " + std::to_string(least) + " to " +
                    std::to_string(most) + "; in a password, / and ? are written %2F and %3F");
  }
  return number;
}

// Reads the URL of one kind of server, `a Redis server`: makes its errors, which never show the
// text itself, because it may hold a password.
struct ServerUrl {
  std::string_view of;

  [[nodiscard]] std::unexpected<Error> bad(const std::string& why) const {
    return fail(ErrorCode::invalid_argument, "not the URL of " + std::string(of) + ": " + why);
  }

  // Assigns the value, or returns why it is none.
  template <class Value>
  [[nodiscard]] Result<void> set(Result<Value> value, Value& into) const {
    if (!value) return bad(value.error().message);
    into = *std::move(value);
    return {};
  }
};

// Calls `set` for each option of a query, `name=value&name=value`, until it returns an error. An
// option that is there twice, in upper or lower case, is an error.
[[nodiscard]] Result<void> for_each_url_option(
    std::string_view query,
    const std::function<Result<void>(std::string_view name, std::string_view value)>& set);

// Returns the error of an option, or where the query has an @ another: such a query may be the rest
// of a password, which the error might show.
[[nodiscard]] Error without_rest_of_password(std::string_view query, Error error);

}  // namespace holdfast::base
