#include <holdfast/engines/store_url.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include <holdfast/base/percent.h>
#include <holdfast/base/printable.h>

namespace holdfast::engines {

namespace {

using base::ErrorCode;
using base::fail;

bool is_scheme(std::string_view text) {
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '+' && c != '-') {
      return false;
    }
  }
  return !text.empty();
}

constexpr std::string_view kHidden = "***";

// The options whose values are no secrets.
constexpr std::string_view kOpenOptions[] = {"ack",
                                             "ack_timeout",
                                             "application_name",
                                             "appname",
                                             "authmechanism",
                                             "authsource",
                                             "busy_timeout",
                                             "busy_wait_least",
                                             "busy_wait_most",
                                             "client_name",
                                             "collection",
                                             "commit",
                                             "compressors",
                                             "connect_timeout",
                                             "db",
                                             "dbname",
                                             "directconnection",
                                             "expiry",
                                             "extension_cadence",
                                             "host",
                                             "hostaddr",
                                             "max_connections",
                                             "max_pending",
                                             "mode",
                                             "objects",
                                             "port",
                                             "prefix",
                                             "replicaset",
                                             "reply_timeout",
                                             "retention",
                                             "schema",
                                             "sentinel_user",
                                             "srvmaxhosts",
                                             "srvservicename",
                                             "ssl",
                                             "sslmode",
                                             "target_session_attrs",
                                             "tls",
                                             "tls_ca",
                                             "tls_cert",
                                             "tls_key",
                                             "tls_verify",
                                             "tlsallowinvalidcertificates",
                                             "tlsallowinvalidhostnames",
                                             "tlscafile",
                                             "tlscertificatekeyfile",
                                             "tlsinsecure",
                                             "w",
                                             "zlibcompressionlevel"};

// Whatever the case: the driver of MongoDB knows its options in any.
bool is_open_option(std::string_view name) {
  return std::ranges::any_of(kOpenOptions, [name](std::string_view open) {
    return std::ranges::equal(open, name, [](char a, char b) {
      return a == static_cast<char>(std::tolower(static_cast<unsigned char>(b)));
    });
  });
}

bool is_one_of(char c, std::string_view characters) {
  return characters.find(c) != std::string_view::npos;
}

bool is_plain(std::string_view text, std::string_view also) {
  return std::ranges::all_of(text, [also](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || is_one_of(c, also);
  });
}

// A greater number is no port, but perhaps the password of a URL without a host.
bool may_be_port(std::string_view text) {
  constexpr unsigned kGreatest = 65'535;
  unsigned value = 0;
  return std::ranges::all_of(text, [&](char c) {
    value = value * 10 + static_cast<unsigned>(c - '0');
    return is_one_of(c, "0123456789") && value <= kGreatest;
  });
}

// Returns whether the text is `host[:port]`, or several with commas: nothing else may hide there.
bool is_host_list(std::string_view text) {
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    const std::size_t bracket = one.rfind(']');
    const std::size_t colon = one.find(':', bracket == one.npos ? 0 : bracket);
    const std::string_view port = colon == one.npos ? "" : one.substr(colon + 1);
    if (!is_plain(one.substr(0, colon), ".-_[]:%") || !may_be_port(port)) {
      return false;
    }
  }
  return true;
}

// Returns `//user:***@host/path`; nothing for a text of another form.
std::optional<std::string> shown_place(std::string_view text) {
  if (!text.starts_with("//")) {
    return std::nullopt;
  }
  text.remove_prefix(2);
  const std::string_view authority = text.substr(0, text.find('/'));
  const std::string_view path = text.substr(authority.size());
  const std::size_t at = authority.rfind('@');
  const std::string_view hosts = at == authority.npos ? authority : authority.substr(at + 1);
  if (!is_host_list(hosts) || !is_plain(path, "/.-_~%")) {
    return std::nullopt;
  }
  std::string shown = "//";
  if (at != authority.npos) {
    const std::string_view login = authority.substr(0, at);
    const std::size_t colon = login.find(':');
    shown += login.substr(0, colon);
    shown += colon == login.npos ? "" : ":" + std::string(kHidden);
    shown += '@';
  }
  return shown.append(hosts).append(path);
}

// Returns the options, with the values of those only that are known to be no secrets.
std::string shown_options(std::string_view query) {
  std::string shown;
  while (!query.empty()) {
    const std::string_view option = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), option.size() + 1));
    const std::size_t equals = option.find('=');
    const std::string_view name = option.substr(0, equals);
    shown += shown.empty() ? "" : "&";
    if (equals == option.npos || !is_plain(name, "_")) {
      shown += kHidden;
    } else if (is_open_option(name) && is_plain(option.substr(equals + 1), "._-/:%~*+")) {
      shown += option;
    } else {
      shown.append(name).append("=").append(kHidden);
    }
  }
  return shown;
}

}  // namespace

std::string without_password(std::string_view url) {
  const std::size_t colon = url.find(':');
  if (colon == std::string_view::npos || !is_scheme(url.substr(0, colon))) {
    return std::string(kHidden);
  }
  const std::string scheme(url.substr(0, colon + 1));
  const std::string_view rest = url.substr(colon + 1);
  if (rest.empty()) {
    return scheme;
  }
  const std::size_t mark = rest.find('?');
  const std::string query =
      mark == std::string_view::npos ? "" : "?" + shown_options(rest.substr(mark + 1));
  if (scheme == "sqlite:" || scheme == "memory:") {
    return scheme + std::string(rest.substr(0, mark)) + query;
  }
  const auto place = shown_place(rest.substr(0, mark));
  // An @ further on belongs to a login with bytes in it that should have been escaped.
  const bool is_clear = mark == std::string_view::npos || rest.find('@', mark) == rest.npos;
  return place && is_clear ? scheme + *place + query : scheme + std::string(kHidden);
}

base::Result<StoreUrl> StoreUrl::parse(std::string_view text) {
  const auto bad = [&](const std::string& why) {
    return fail(ErrorCode::invalid_argument, "'" + base::printable(without_password(text)) +
                                                 "' is not the URL of a store: " + why);
  };
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || !is_scheme(text.substr(0, colon))) {
    return bad("it does not begin with a scheme, as in sqlite:/path/to/file.db");
  }
  StoreUrl url;
  url.scheme = text.substr(0, colon);
  std::string_view rest = text.substr(colon + 1);
  std::string_view query;
  if (const std::size_t mark = rest.find('?'); mark != std::string_view::npos) {
    query = rest.substr(mark + 1);
    rest = rest.substr(0, mark);
  }
  const auto plain_rest = base::percent_decode(rest);
  if (!plain_rest) {
    return bad("a percent sign is not followed by two hexadecimal digits");
  }
  url.rest = *plain_rest;
  while (!query.empty()) {
    const std::string_view option = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), option.size() + 1));
    const std::size_t equals = option.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return bad("an option is not of the form name=value");
    }
    const auto value = base::percent_decode(option.substr(equals + 1));
    if (!value) {
      return bad("a percent sign is not followed by two hexadecimal digits");
    }
    if (!url.options.emplace(option.substr(0, equals), *value).second) {
      return bad("the option " + base::printable(option.substr(0, equals)) + " is there twice");
    }
  }
  return url;
}

}  // namespace holdfast::engines
