#include <holdfast/engines/redis/redis_url.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <utility>

#include <holdfast/base/printable.h>
#include <holdfast/base/try.h>
#include <holdfast/base/url_values.h>

namespace holdfast::engines::redis {

namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

constexpr base::ServerUrl kUrl{"a Redis server"};

Result<void> set_text(std::string_view what, std::string_view text, std::string& into) {
  HOLDFAST_TRY(kUrl.set(base::url_text(what, text), into));
  // The system would take the text only up to there.
  return into.contains('\0') && what != "password"
             ? kUrl.bad("there is a zero byte in the " + std::string(what))
             : Result<void>();
}

template <std::unsigned_integral Number>
Result<void> set_number(std::string_view what, std::string_view text, Number least, Number most,
                        Number& into) {
  return kUrl.set(base::url_number<Number>(what, text, least, most), into);
}

Result<void> set_duration(std::string_view what, std::string_view text, base::Duration& into) {
  HOLDFAST_TRY(kUrl.set(base::url_duration(what, text), into));
  return into <= base::Duration::zero()
             ? kUrl.bad(std::string(what) + " must be longer than nothing")
             : Result<void>();
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
    return kUrl.bad("tls_verify is '" + base::printable(text) + "' and not full or none");
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

Result<void> set_login(std::string_view login, RedisOptions& options) {
  const std::size_t colon = login.find(':');
  if (colon == std::string_view::npos) {
    return kUrl.bad("there is no password after the user, as in redis://user:password@host");
  }
  HOLDFAST_TRY(set_text("user", login.substr(0, colon), options.user));
  return set_text("password", login.substr(colon + 1), options.password);
}

Result<void> set_host(std::string_view text, RedisOptions& options) {
  std::string_view host = text;
  std::optional<std::string_view> port;
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    const std::string_view after = text.substr(std::min(close, text.size() - 1) + 1);
    if (close == std::string_view::npos || !(after.empty() || after.front() == ':')) {
      return kUrl.bad("the address in brackets is not whole, as in redis://[::1]:6379");
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
    HOLDFAST_TRY(set_number<std::uint16_t>("the port", *port, 1, UINT16_MAX, options.port));
  }
  return host.empty() ? Result<void>() : set_text("host", host, options.host);
}

Result<void> set_place(std::string_view scheme, std::string_view authority, std::string_view path,
                       RedisOptions& options) {
  if (scheme == "redis+unix") {
    if (!authority.empty() || path.size() < 2) {
      return kUrl.bad("it needs the path of a socket, as in redis+unix:///run/redis.sock");
    }
    return set_text("path", path, options.unix_socket);
  }
  HOLDFAST_TRY(set_host(authority, options));
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
    return kUrl.bad("it begins with neither redis://, rediss:// nor redis+unix://");
  }
  std::string_view rest = text.substr(scheme.size());
  if (!rest.starts_with("://")) {
    return kUrl.bad("there is no // after " + std::string(scheme) + ":");
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
  auto read = base::for_each_url_option(
      query, [&](auto name, auto value) { return set_option(scheme, name, value, options); });
  if (!read) {
    return std::unexpected(base::without_rest_of_password(query, std::move(read).error()));
  }
  if (options.tls && options.tls->certificate_file.empty() != options.tls->key_file.empty()) {
    return kUrl.bad("tls_cert and tls_key belong together");
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
