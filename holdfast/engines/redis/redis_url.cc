#include <holdfast/engines/redis/redis_url.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <ranges>
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
  return into.contains('\0') && !what.ends_with("password")
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

constexpr std::array<std::string_view, 5> kSchemes = {"redis", "rediss", "redis+unix",
                                                      "redis+sentinel", "rediss+sentinel"};

constexpr std::uint32_t kMostDatabase = 1'000'000;
constexpr std::uint32_t kMostReplicas = 1'000;
constexpr std::size_t kMostPending = 10'000'000;
constexpr std::size_t kMostPendingBytes = std::size_t{1} << 40U;

// The schemes that have an option.
enum class Of : std::uint8_t { all, tls, sentinel };

struct Option {
  std::string_view name;
  std::string_view otherwise;
  Of of;
  Result<void> (*set)(std::string_view name, std::string_view text, RedisOptions& options);
};

constexpr std::array kOptions = {
    Option{"db", "0", Of::all,
           [](std::string_view name, std::string_view text, RedisOptions& options) {
             return set_number<std::uint32_t>(name, text, 0, kMostDatabase, options.database);
           }},
    Option{"prefix", "", Of::all,
           [](std::string_view name, std::string_view text, RedisOptions& options) {
             return set_text(name, text, options.prefix);
           }},
    Option{"retention", "1h", Of::all,
           [](std::string_view name, std::string_view text, RedisOptions& options) {
             return set_duration(name, text, options.retention);
           }},
    Option{"connect_timeout", "1s", Of::all,
           [](std::string_view name, std::string_view text, RedisOptions& options) {
             return set_duration(name, text, options.connect_timeout);
           }},
    Option{"reply_timeout", "5s", Of::all,
           [](std::string_view name, std::string_view text, RedisOptions& options) {
             return set_duration(name, text, options.reply_timeout);
           }},
    Option{"max_pending", "16384", Of::all,
           [](std::string_view name, std::string_view text, RedisOptions& options) {
             return set_number<std::size_t>(name, text, 1, kMostPending, options.max_pending);
           }},
    Option{"max_pending_bytes", "268435456", Of::all,
           [](std::string_view name, std::string_view text, RedisOptions& options) {
             return set_number<std::size_t>(name, text, 1, kMostPendingBytes,
                                            options.max_pending_bytes);
           }},
    Option{"yield_every", "never", Of::all,
           [](std::string_view name, std::string_view text, RedisOptions& options) {
             return set_yield(name, text, options.yield_every);
           }},
    Option{"ack", "0", Of::all,
           [](std::string_view name, std::string_view text, RedisOptions& options) {
             return set_number<std::uint32_t>(name, text, 0, kMostReplicas, options.ack);
           }},
    Option{"ack_timeout", "1s", Of::all,
           [](std::string_view name, std::string_view text, RedisOptions& options) {
             return set_duration(name, text, options.ack_timeout);
           }},
    Option{"tls_ca", "", Of::tls,
           [](std::string_view name, std::string_view text, RedisOptions& options) {
             return set_text(name, text, options.tls->ca_file);
           }},
    Option{"tls_cert", "", Of::tls,
           [](std::string_view name, std::string_view text, RedisOptions& options) {
             return set_text(name, text, options.tls->certificate_file);
           }},
    Option{"tls_key", "", Of::tls,
           [](std::string_view name, std::string_view text, RedisOptions& options) {
             return set_text(name, text, options.tls->key_file);
           }},
    Option{"tls_verify", "full", Of::tls,
           [](std::string_view, std::string_view text, RedisOptions& options) {
             return set_verify(text, *options.tls);
           }},
    Option{"sentinel_user", "", Of::sentinel,
           [](std::string_view name, std::string_view text, RedisOptions& options) {
             return set_text(name, text, options.sentinel->user);
           }},
    Option{"sentinel_password", "", Of::sentinel,
           [](std::string_view name, std::string_view text, RedisOptions& options) {
             return set_text(name, text, options.sentinel->password);
           }},
};

bool has_tls(std::string_view scheme) { return scheme.starts_with("rediss"); }
bool has_sentinel(std::string_view scheme) { return scheme.ends_with("+sentinel"); }

bool has_option(std::string_view scheme, const Option& option) {
  return option.of == Of::all || (option.of == Of::tls && has_tls(scheme)) ||
         (option.of == Of::sentinel && has_sentinel(scheme));
}

Result<void> set_option(std::string_view scheme, std::string_view name, std::string_view text,
                        RedisOptions& options) {
  for (const Option& option : kOptions) {
    if (option.name == name && has_option(scheme, option)) {
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

// `Place` has a host and a port.
template <class Place>
Result<void> set_host(std::string_view text, Place& place) {
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
    HOLDFAST_TRY(set_number<std::uint16_t>("the port", *port, 1, UINT16_MAX, place.port));
  }
  return host.empty() ? Result<void>() : set_text("host", host, place.host);
}

Result<void> set_database(std::string_view text, RedisOptions& options) {
  return set_number<std::uint32_t>("the database", text, 0, kMostDatabase, options.database);
}

// `hosts` is a list with commas, `path` the name of the master and maybe the database.
Result<void> set_sentinels(std::string_view hosts, std::string_view path, RedisOptions& options) {
  for (const auto host : std::views::split(hosts, ',')) {
    if (host.empty()) {
      return kUrl.bad(
          "a host is missing between two commas, as in redis+sentinel://host1,host2/master");
    }
    HOLDFAST_TRY(set_host(std::string_view(host), options.sentinel->nodes.emplace_back()));
  }
  if (options.sentinel->nodes.empty()) {
    options.sentinel->nodes.emplace_back();
  }
  path.remove_prefix(std::min<std::size_t>(path.size(), 1));
  const std::string_view name = path.substr(0, path.find('/'));
  if (name.empty()) {
    return kUrl.bad("it needs the name of the master, as in redis+sentinel://host1,host2/mymaster");
  }
  HOLDFAST_TRY(set_text("the name of the master", name, options.sentinel->master_name));
  return name.size() + 1 < path.size() ? set_database(path.substr(name.size() + 1), options)
                                       : Result<void>();
}

Result<void> set_place(std::string_view scheme, std::string_view authority, std::string_view path,
                       RedisOptions& options) {
  if (scheme == "redis+unix") {
    if (!authority.empty() || path.size() < 2) {
      return kUrl.bad("it needs the path of a socket, as in redis+unix:///run/redis.sock");
    }
    return set_text("path", path, options.unix_socket);
  }
  if (has_sentinel(scheme)) {
    return set_sentinels(authority, path, options);
  }
  HOLDFAST_TRY(set_host(authority, options));
  return path.size() < 2 ? Result<void>() : set_database(path.substr(1), options);
}

}  // namespace

Result<RedisOptions> parse_redis_url(std::string_view text) {
  const std::string_view scheme = text.substr(0, text.find(':'));
  if (std::ranges::find(kSchemes, scheme) == kSchemes.end()) {
    return kUrl.bad(
        "it begins with none of redis://, rediss://, redis+unix://, redis+sentinel:// and "
        "rediss+sentinel://");
  }
  std::string_view rest = text.substr(scheme.size());
  if (!rest.starts_with("://")) {
    return kUrl.bad("there is no // after " + std::string(scheme) + ":");
  }
  rest.remove_prefix(3);
  RedisOptions options;
  if (has_tls(scheme)) {
    options.tls.emplace();
  }
  if (has_sentinel(scheme)) {
    options.sentinel.emplace();
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
    if (has_option(scheme, option)) {
      known.push_back(std::string(option.name) + "=" + std::string(option.otherwise));
    }
  }
  return known;
}

}  // namespace holdfast::engines::redis
