#include <holdfast/engines/mongodb/mongo_url.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include <holdfast/base/printable.h>
#include <holdfast/base/try.h>
#include <holdfast/base/url_values.h>
#include <holdfast/engines/mongodb/internal/check_options.h>

namespace holdfast::engines::mongodb {

namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

constexpr base::ServerUrl kUrl{"a MongoDB server"};

struct Option {
  std::string_view name;
  std::string_view otherwise;
  Result<void> (*set)(std::string_view name, std::string_view text, MongoOptions& options);
};

template <std::string MongoOptions::* member>
Result<void> text(std::string_view name, std::string_view value, MongoOptions& options) {
  return kUrl.set(base::url_text(name, value), options.*member);
}

template <base::Duration MongoOptions::* member>
Result<void> duration(std::string_view name, std::string_view value, MongoOptions& options) {
  return kUrl.set(base::url_duration(name, value), options.*member);
}

// The driver counts them in 32 bits.
constexpr std::size_t kMostConnections = 0x7fffffff;

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
             return kUrl.set(base::url_number<std::size_t>(name, value, 0, kMostConnections),
                             options.max_connections);
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

// The options of the driver go into `rest`.
Result<void> set_option(std::string_view name, std::string_view value, MongoOptions& options,
                        std::string& rest) {
  const auto ours = std::ranges::find(kOptions, name, &Option::name);
  if (ours != kOptions.end()) {
    return ours->set(name, value, options);
  }
  if (std::ranges::find(kOfTheDriver, lower_case(name)) == kOfTheDriver.end()) {
    return unknown(name);
  }
  rest.append(rest.empty() ? "" : "&").append(name).append("=").append(value);
  return {};
}

}  // namespace

Result<MongoOptions> parse_mongo_url(std::string_view text) {
  const std::string_view scheme = text.substr(0, text.find("://"));
  if (scheme != "mongodb" && scheme != "mongodb+srv") {
    return kUrl.bad("it begins with neither mongodb:// nor mongodb+srv://");
  }
  // A question mark or a slash in a password is escaped, as in any URL.
  const std::size_t mark = std::min(text.find('?'), text.size());
  const std::string_view place = text.substr(0, mark);
  const std::size_t slash = place.find('/', scheme.size() + 3);
  MongoOptions options;
  if (slash != std::string_view::npos && slash + 1 < place.size()) {
    HOLDFAST_TRY(kUrl.set(base::url_text("database", place.substr(slash + 1)), options.database));
  }
  std::string rest;
  const std::string_view query = mark < text.size() ? text.substr(mark + 1) : "";
  auto read = base::for_each_url_option(
      query, [&](auto name, auto value) { return set_option(name, value, options, rest); });
  if (!read) {
    return std::unexpected(base::without_rest_of_password(query, std::move(read).error()));
  }
  options.uri = place;
  if (slash == std::string_view::npos) {
    options.uri += '/';
  }
  if (!rest.empty()) {
    options.uri += "?" + rest;
  }
  if (auto valid = internal::check_options(options); !valid) {
    return kUrl.bad(valid.error().message);
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
