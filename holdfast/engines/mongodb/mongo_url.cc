#include <holdfast/engines/mongodb/mongo_url.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>

#include <holdfast/base/duration_text.h>
#include <holdfast/base/percent.h>
#include <holdfast/base/printable.h>
#include <holdfast/base/try.h>
#include <holdfast/engines/mongodb/internal/check_options.h>

namespace holdfast::engines::mongodb {

namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

// Never with the text itself: it may hold a password.
std::unexpected<base::Error> bad(const std::string& why) {
  return fail(ErrorCode::invalid_argument, "not the URL of a MongoDB server: " + why);
}

Result<void> set_text(std::string_view what, std::string_view text, std::string& into) {
  auto plain = base::percent_decode(text);
  if (!plain) {
    return bad("in the " + std::string(what) +
               ", a percent sign is not followed by two hexadecimal digits");
  }
  into = *std::move(plain);
  return {};
}

Result<void> set_number(std::string_view what, std::string_view text, std::size_t& into) {
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), into);
  if (text.empty() || parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) {
    return bad(std::string(what) + " is not a number");
  }
  return {};
}

Result<void> set_duration(std::string_view what, std::string_view text, base::Duration& into) {
  const auto value = base::parse_duration(text);
  if (!value) {
    return bad(std::string(what) + ": " + value.error().message);
  }
  into = *value;
  return {};
}

struct Option {
  std::string_view name;
  std::string_view otherwise;
  Result<void> (*set)(std::string_view name, std::string_view text, MongoOptions& options);
};

template <std::string MongoOptions::* member>
Result<void> text(std::string_view name, std::string_view value, MongoOptions& options) {
  return set_text(name, value, options.*member);
}

template <base::Duration MongoOptions::* member>
Result<void> duration(std::string_view name, std::string_view value, MongoOptions& options) {
  return set_duration(name, value, options.*member);
}

constexpr std::array kOptions = {
    Option{"collection", "distributed.locks", text<&MongoOptions::collection>},
    Option{"objects", "holdfast.objects", text<&MongoOptions::objects>},
    Option{"prefix", "", text<&MongoOptions::prefix>},
    Option{"w", "majority", text<&MongoOptions::write_concern>},
    Option{"retention", "1h", duration<&MongoOptions::retention>},
    Option{"expiry", "30s", duration<&MongoOptions::expiry>},
    Option{"extension_cadence", "0s", duration<&MongoOptions::extension_cadence>},
    Option{"busy_wait_least", "10ms", duration<&MongoOptions::busy_wait_least>},
    Option{"busy_wait_most", "800ms", duration<&MongoOptions::busy_wait_most>},
    Option{"connect_timeout", "1s", duration<&MongoOptions::connect_timeout>},
    Option{"reply_timeout", "5s", duration<&MongoOptions::reply_timeout>},
    Option{"max_connections", "100",
           [](std::string_view name, std::string_view value, MongoOptions& options) {
             return set_number(name, value, options.max_connections);
           }},
};

constexpr std::array<std::string_view, 18> kOfTheDriver = {"appname",
                                                           "authmechanism",
                                                           "authmechanismproperties",
                                                           "authsource",
                                                           "compressors",
                                                           "directconnection",
                                                           "replicaset",
                                                           "srvmaxhosts",
                                                           "srvservicename",
                                                           "ssl",
                                                           "tls",
                                                           "tlsallowinvalidcertificates",
                                                           "tlsallowinvalidhostnames",
                                                           "tlscafile",
                                                           "tlscertificatekeyfile",
                                                           "tlscertificatekeyfilepassword",
                                                           "tlsinsecure",
                                                           "zlibcompressionlevel"};

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower;
}

std::unexpected<base::Error> unknown(std::string_view name) {
  std::string message = "mongodb: has no option '" + base::printable(name) + "'; it has ";
  for (const std::string& known : mongo_url_options()) {
    message.append(known).append(", ");
  }
  return fail(ErrorCode::invalid_argument,
              message + "and of the driver's own those that mongo_url.h lists");
}

Result<void> set_option(std::string_view option, MongoOptions& options, std::string& rest) {
  const std::size_t equals = option.find('=');
  const std::string_view name = option.substr(0, equals);
  if (equals == std::string_view::npos || name.empty()) {
    return bad("an option is not of the form name=value");
  }
  const auto ours = std::ranges::find(kOptions, name, &Option::name);
  if (ours != kOptions.end()) {
    return ours->set(name, option.substr(equals + 1), options);
  }
  if (std::ranges::find(kOfTheDriver, lower_case(name)) == kOfTheDriver.end()) {
    return unknown(name);
  }
  rest.append(rest.empty() ? "" : "&").append(option);
  return {};
}

// What is for the driver goes into `rest`.
Result<void> set_query(std::string_view query, MongoOptions& options, std::string& rest) {
  std::vector<std::string> seen;
  while (!query.empty()) {
    const std::string_view option = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), option.size() + 1));
    const std::string name = lower_case(option.substr(0, option.find('=')));
    if (std::ranges::find(seen, name) != seen.end()) {
      return bad("the option " + base::printable(name) + " is there twice");
    }
    seen.push_back(name);
    if (auto set = set_option(option, options, rest); !set) {
      return set;
    }
  }
  return {};
}

}  // namespace

Result<MongoOptions> parse_mongo_url(std::string_view text) {
  const std::string_view scheme = text.substr(0, text.find("://"));
  if (scheme != "mongodb" && scheme != "mongodb+srv") {
    return bad("it begins with neither mongodb:// nor mongodb+srv://");
  }
  // A question mark or a slash in a password is escaped, as in any URL.
  const std::size_t mark = std::min(text.find('?'), text.size());
  const std::string_view place = text.substr(0, mark);
  const std::size_t slash = place.find('/', scheme.size() + 3);
  MongoOptions options;
  if (slash != std::string_view::npos && slash + 1 < place.size()) {
    HOLDFAST_TRY(set_text("database", place.substr(slash + 1), options.database));
  }
  std::string rest;
  const std::string_view query = mark < text.size() ? text.substr(mark + 1) : "";
  if (auto set = set_query(query, options, rest); !set) {
    // With an @ the query may be the rest of a password, and the error quotes it.
    return query.contains('@') ? bad("a question mark in the password is written %3F, and an @ %40")
                               : std::unexpected(std::move(set).error());
  }
  options.uri = place;
  if (slash == std::string_view::npos) {
    options.uri += '/';
  }
  if (!rest.empty()) {
    options.uri += "?" + rest;
  }
  if (auto valid = internal::check_options(options); !valid) {
    return bad(valid.error().message);
  }
  return options;
}

std::vector<std::string> mongo_url_options() {
  std::vector<std::string> known;
  for (const Option& option : kOptions) {
    known.push_back(std::string(option.name) + "=" + std::string(option.otherwise));
  }
  return known;
}

}  // namespace holdfast::engines::mongodb
