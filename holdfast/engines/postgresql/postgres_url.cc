#include <holdfast/engines/postgresql/postgres_url.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <holdfast/base/duration_text.h>
#include <holdfast/base/percent.h>
#include <holdfast/base/printable.h>
#include <holdfast/base/try.h>
#include <holdfast/base/url_values.h>
#include <holdfast/engines/postgresql/internal/check_options.h>

namespace holdfast::engines::postgresql {

namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

constexpr base::ServerUrl kUrl{"a PostgreSQL server"};

Result<std::size_t> number(std::string_view what, std::string_view text) {
  std::size_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) {
    return kUrl.bad(std::string(what) + " is not a number");
  }
  return value;
}

struct Option {
  std::string_view name;
  std::string_view otherwise;
  Result<void> (*set)(std::string_view name, const std::string& value, PostgresOptions& options);
};

template <std::string PostgresOptions::* member>
Result<void> text(std::string_view, const std::string& value, PostgresOptions& options) {
  options.*member = value;
  return {};
}

// A number without a unit is in seconds, as libpq has it.
template <base::Duration PostgresOptions::* member>
Result<void> duration(std::string_view name, const std::string& value, PostgresOptions& options) {
  const bool has_unit = value.find_first_not_of("0123456789") != std::string::npos;
  const auto parsed = base::parse_duration(has_unit || value.empty() ? value : value + "s");
  if (!parsed) {
    return kUrl.bad(std::string(name) + ": " + parsed.error().message);
  }
  options.*member = *parsed;
  return {};
}

constexpr std::array kOptions = {
    Option{"schema", "holdfast", text<&PostgresOptions::schema>},
    Option{"prefix", "", text<&PostgresOptions::prefix>},
    Option{"retention", "1h", duration<&PostgresOptions::retention>},
    Option{"commit", "configured",
           [](std::string_view name, const std::string& value,
              PostgresOptions& options) -> Result<void> {
             if (value != "configured" && value != "off") {
               return kUrl.bad(std::string(name) + " is neither configured nor off");
             }
             options.commit = value == "off" ? PostgresOptions::Commit::off
                                             : PostgresOptions::Commit::as_configured;
             return {};
           }},
    Option{"connect_timeout", "1s", duration<&PostgresOptions::connect_timeout>},
    Option{"reply_timeout", "5s", duration<&PostgresOptions::reply_timeout>},
    Option{"max_connections", "8",
           [](std::string_view name, const std::string& value,
              PostgresOptions& options) -> Result<void> {
             HOLDFAST_TRY_LET(options.max_connections, number(name, value));
             return {};
           }},
};

constexpr std::array<std::string_view, 17> kOfLibpq = {"application_name",
                                                       "channel_binding",
                                                       "client_encoding",
                                                       "dbname",
                                                       "host",
                                                       "hostaddr",
                                                       "options",
                                                       "passfile",
                                                       "password",
                                                       "port",
                                                       "require_auth",
                                                       "requirepeer",
                                                       "service",
                                                       "servicefile",
                                                       "target_session_attrs",
                                                       "tcp_user_timeout",
                                                       "user"};
constexpr std::array<std::string_view, 4> kFamiliesOfLibpq = {"ssl", "krb", "gss", "keepalives"};

bool is_of_libpq(std::string_view name) {
  return std::ranges::find(kOfLibpq, name) != kOfLibpq.end() ||
         std::ranges::any_of(kFamiliesOfLibpq,
                             [name](std::string_view family) { return name.starts_with(family); });
}

std::unexpected<base::Error> unknown(std::string_view name) {
  std::string message = "postgresql: has no option '" + base::printable(name) + "'; it has ";
  for (const std::string& known : postgres_url_options()) {
    message.append(known).append(", ");
  }
  return fail(ErrorCode::invalid_argument,
              message + "and of libpq's own those that postgres_url.h lists");
}

Result<void> set_option(std::string_view option, PostgresOptions& options, std::string& rest) {
  const std::size_t equals = option.find('=');
  const std::string_view name = option.substr(0, equals);
  if (equals == std::string_view::npos || name.empty()) {
    return kUrl.bad("an option is not of the form name=value");
  }
  const auto value = base::percent_decode(option.substr(equals + 1));
  if (!value) {
    return kUrl.bad("in the option " + base::printable(name) +
                    ", a percent sign is not followed by two hexadecimal digits");
  }
  const auto ours = std::ranges::find(kOptions, name, &Option::name);
  if (ours != kOptions.end()) {
    return ours->set(name, *value, options);
  }
  if (!is_of_libpq(name)) {
    return unknown(name);
  }
  rest.append(rest.empty() ? "?" : "&").append(option);
  return {};
}

// Puts the options of libpq into `rest`.
Result<void> set_query(std::string_view query, PostgresOptions& options, std::string& rest) {
  std::vector<std::string_view> seen;
  while (!query.empty()) {
    const std::string_view option = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), option.size() + 1));
    const std::string_view name = option.substr(0, option.find('='));
    if (std::ranges::find(seen, name) != seen.end()) {
      return kUrl.bad("the option " + base::printable(name) + " is there twice");
    }
    seen.push_back(name);
    HOLDFAST_TRY(set_option(option, options, rest));
  }
  return {};
}

}  // namespace

Result<PostgresOptions> parse_postgres_url(std::string_view text) {
  const std::size_t colon = text.find("://");
  const std::string_view scheme = text.substr(0, colon);
  if (colon == std::string_view::npos || (scheme != "postgresql" && scheme != "postgres")) {
    return kUrl.bad("it begins with neither postgresql:// nor postgres://");
  }
  // A question mark or a slash in a password is escaped, as in any URL.
  const std::size_t mark = std::min(text.find('?'), text.size());
  const std::string_view place = text.substr(0, mark);
  if (!base::percent_decode(place)) {
    return kUrl.bad("a percent sign is not followed by two hexadecimal digits");
  }
  PostgresOptions options;
  std::string rest;
  const std::string_view query = mark < text.size() ? text.substr(mark + 1) : "";
  if (auto set = set_query(query, options, rest); !set) {
    // With an @ the query may be the rest of a password, and the error quotes it.
    return query.contains('@')
               ? kUrl.bad("a question mark in the password is written %3F, and an @ %40")
               : std::unexpected(std::move(set).error());
  }
  options.conninfo = std::string(place) + rest;
  if (auto valid = internal::check_options(options); !valid) {
    return kUrl.bad(valid.error().message);
  }
  return options;
}

std::vector<std::string> postgres_url_options() {
  std::vector<std::string> known;
  for (const Option& option : kOptions) {
    known.push_back(std::string(option.name) + "=" + std::string(option.otherwise));
  }
  return known;
}

}  // namespace holdfast::engines::postgresql
