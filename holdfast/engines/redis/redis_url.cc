#include <holdfast/engines/redis/redis_url.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <utility>

#include <holdfast/base/duration_text.h>
#include <holdfast/base/percent.h>
#include <holdfast/base/printable.h>
#include <holdfast/base/try.h>

namespace holdfast::engines::redis {

namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

// Never with the text itself: it may hold a password.
std::unexpected<base::Error> bad(const std::string& why) {
  return fail(ErrorCode::invalid_argument, "not the URL of a Redis server: " + why);
}

Result<void> set_text(std::string_view what, std::string_view text, std::string& into) {
  auto plain = base::percent_decode(text);
  if (!plain) {
    return bad("in the " + std::string(what) +
               ", a percent sign is not followed by two hexadecimal digits");
  }
  // The system would take the text only up to there.
  if (plain->find('\0') != std::string::npos && what != "password") {
    return bad("there is a zero byte in the " + std::string(what));
  }
  into = *std::move(plain);
  return {};
}

template <std::unsigned_integral Number>
Result<void> set_number(std::string_view what, std::string_view text, Number least, Number most,
                        Number& into) {
  Number number{};
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() ||
      number < least || number > most) {
    // Not what is there instead: it may be the rest of a password.
    return bad(std::string(what) + " is not a number from " + std::to_string(least) + " to " +
               std::to_string(most) + "; in a password, / and ? are written %2F and %3F");
  }
  into = number;
  return {};
}

Result<void> set_duration(std::string_view what, std::string_view text, base::Duration& into) {
  const auto value = base::parse_duration(text);
  if (!value) {
    return bad(std::string(what) + ": " + value.error().message);
  }
  if (*value <= base::Duration::zero()) {
    return bad(std::string(what) + " must be longer than nothing");
  }
  into = *value;
  return {};
}

Result<void> set_yield(std::string_view what, std::string_view text, base::Duration& into) {
  if (text == "never") {
    into = base::Duration::zero();
    return {};
  }
  return set_duration(what, text, into);
}

Result<void> set_verify(std::string_view text, TlsOptions& tls) {
  if (text != "full" && text != "none") {
    return bad("tls_verify is '" + base::printable(text) + "' and not full or none");
  }
  tls.verify = text == "full" ? TlsOptions::Verify::full : TlsOptions::Verify::none;
  return {};
}

constexpr std::uint32_t kMostDatabase = 1'000'000;
constexpr std::size_t kMostPending = 10'000'000;
constexpr std::size_t kMostPendingBytes = std::size_t{1} << 40U;

struct Option {
  std::string_view name;
  std::string_view otherwise;
  bool tls_only;
  Result<void> (*set)(std::string_view name, std::string_view text, RedisOptions& options);
};

constexpr std::array kOptions = {
    Option{"db", "0", false,
           [](std::string_view name, std::string_view text, RedisOptions& options) {
             return set_number<std::uint32_t>(name, text, 0, kMostDatabase, options.database);
           }},
    Option{"prefix", "", false,
           [](std::string_view name, std::string_view text, RedisOptions& options) {
             return set_text(name, text, options.prefix);
           }},
    Option{"retention", "1h", false,
           [](std::string_view name, std::string_view text, RedisOptions& options) {
             return set_duration(name, text, options.retention);
           }},
    Option{"connect_timeout", "1s", false,
           [](std::string_view name, std::string_view text, RedisOptions& options) {
             return set_duration(name, text, options.connect_timeout);
           }},
    Option{"reply_timeout", "5s", false,
           [](std::string_view name, std::string_view text, RedisOptions& options) {
             return set_duration(name, text, options.reply_timeout);
           }},
    Option{"max_pending", "16384", false,
           [](std::string_view name, std::string_view text, RedisOptions& options) {
             return set_number<std::size_t>(name, text, 1, kMostPending, options.max_pending);
           }},
    Option{"max_pending_bytes", "268435456", false,
           [](std::string_view name, std::string_view text, RedisOptions& options) {
             return set_number<std::size_t>(name, text, 1, kMostPendingBytes,
                                            options.max_pending_bytes);
           }},
    Option{"yield_every", "never", false,
           [](std::string_view name, std::string_view text, RedisOptions& options) {
             return set_yield(name, text, options.yield_every);
           }},
    Option{"tls_ca", "", true,
           [](std::string_view name, std::string_view text, RedisOptions& options) {
             return set_text(name, text, options.tls->ca_file);
           }},
    Option{"tls_cert", "", true,
           [](std::string_view name, std::string_view text, RedisOptions& options) {
             return set_text(name, text, options.tls->certificate_file);
           }},
    Option{"tls_key", "", true,
           [](std::string_view name, std::string_view text, RedisOptions& options) {
             return set_text(name, text, options.tls->key_file);
           }},
    Option{"tls_verify", "full", true,
           [](std::string_view, std::string_view text, RedisOptions& options) {
             return set_verify(text, *options.tls);
           }},
};

Result<void> set_option(std::string_view scheme, std::string_view name, std::string_view text,
                        RedisOptions& options) {
  for (const Option& option : kOptions) {
    if (option.name == name && (!option.tls_only || options.tls)) {
      return option.set(name, text, options);
    }
  }
  std::string message = std::string(scheme) + ": has no option '" + base::printable(name) + "'";
  std::string_view separator = "; it has ";
  for (const std::string& known : redis_url_options(scheme)) {
    message.append(separator).append(known);
    separator = ", ";
  }
  return fail(ErrorCode::invalid_argument, message);
}

Result<void> set_query(std::string_view scheme, std::string_view query, RedisOptions& options) {
  std::vector<std::string_view> seen;
  while (!query.empty()) {
    const std::string_view option = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), option.size() + 1));
    const std::size_t equals = option.find('=');
    const std::string_view name = option.substr(0, equals);
    if (equals == std::string_view::npos || name.empty()) {
      return bad("an option is not of the form name=value");
    }
    if (std::ranges::find(seen, name) != seen.end()) {
      return bad("the option " + base::printable(name) + " is there twice");
    }
    seen.push_back(name);
    if (auto set = set_option(scheme, name, option.substr(equals + 1), options); !set) {
      return set;
    }
  }
  return {};
}

Result<void> set_login(std::string_view login, RedisOptions& options) {
  const std::size_t colon = login.find(':');
  if (colon == std::string_view::npos) {
    return bad("there is no password after the user, as in redis://user:password@host");
  }
  if (auto set = set_text("user", login.substr(0, colon), options.user); !set) {
    return set;
  }
  return set_text("password", login.substr(colon + 1), options.password);
}

Result<void> set_host(std::string_view text, RedisOptions& options) {
  std::string_view host = text;
  std::optional<std::string_view> port;
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    const std::string_view after = text.substr(std::min(close, text.size() - 1) + 1);
    if (close == std::string_view::npos || !(after.empty() || after.front() == ':')) {
      return bad("the address in brackets is not whole, as in redis://[::1]:6379");
    }
    host = text.substr(1, close - 1);
    if (!after.empty()) {
      port = after.substr(1);
    }
  } else if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
    host = text.substr(0, colon);
    port = text.substr(colon + 1);
  }
  if (port) {
    if (auto set = set_number<std::uint16_t>("the port", *port, 1, UINT16_MAX, options.port);
        !set) {
      return set;
    }
  }
  return host.empty() ? Result<void>() : set_text("host", host, options.host);
}

Result<void> set_place(std::string_view scheme, std::string_view authority, std::string_view path,
                       RedisOptions& options) {
  if (scheme == "redis+unix") {
    if (!authority.empty() || path.size() < 2) {
      return bad("it needs the path of a socket, as in redis+unix:///run/redis.sock");
    }
    return set_text("path", path, options.unix_socket);
  }
  if (auto set = set_host(authority, options); !set) {
    return set;
  }
  if (path.size() < 2) {
    return {};
  }
  return set_number<std::uint32_t>("the database", path.substr(1), 0, kMostDatabase,
                                   options.database);
}

}  // namespace

Result<RedisOptions> parse_redis_url(std::string_view text) {
  const std::string_view scheme = text.substr(0, text.find(':'));
  if (scheme != "redis" && scheme != "rediss" && scheme != "redis+unix") {
    return bad("it begins with neither redis://, rediss:// nor redis+unix://");
  }
  std::string_view rest = text.substr(scheme.size());
  if (!rest.starts_with("://")) {
    return bad("there is no // after " + std::string(scheme) + ":");
  }
  rest.remove_prefix(3);
  RedisOptions options;
  if (scheme == "rediss") {
    options.tls.emplace();
  }
  // A question mark or a slash in a password is escaped, as in any URL.
  const std::size_t mark = rest.find('?');
  const std::string_view query = mark == std::string_view::npos ? "" : rest.substr(mark + 1);
  rest = rest.substr(0, mark);
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  std::string_view authority = rest.substr(0, slash);
  const std::string_view path = rest.substr(slash);
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
    HOLDFAST_TRY(set_login(authority.substr(0, at), options));
    authority.remove_prefix(at + 1);
  }
  HOLDFAST_TRY(set_place(scheme, authority, path, options));
  if (auto set = set_query(scheme, query, options); !set) {
    // With an @ the query may be the rest of a password, and the error quotes it.
    return query.contains('@') ? bad("a question mark in the password is written %3F, and an @ %40")
                               : std::unexpected(std::move(set).error());
  }
  if (options.tls && options.tls->certificate_file.empty() != options.tls->key_file.empty()) {
    return bad("tls_cert and tls_key belong together");
  }
  return options;
}

std::vector<std::string> redis_url_options(std::string_view scheme) {
  std::vector<std::string> known;
  for (const Option& option : kOptions) {
    if (!option.tls_only || scheme == "rediss") {
      known.push_back(std::string(option.name) + "=" + std::string(option.otherwise));
    }
  }
  return known;
}

}  // namespace holdfast::engines::redis
