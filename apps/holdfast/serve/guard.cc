#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/core.h>

#include <holdfast/base/printable.h>

#include "apps/holdfast/serve/guard.h"

namespace holdfast::cli::serve {

namespace {

constexpr int kForbidden = 403;
constexpr int kBadRequest = 400;
constexpr int kMisdirected = 421;

// Returns whether a request follows a link to the page. As it is written, with no escape resolved:
// everything else is refused.
bool opens_page(const Request& request) {
  return (request.method == "GET" || request.method == "HEAD") &&
         request.target.substr(0, request.target.find('?')) == "/";
}

}  // namespace

std::string host_without_port(std::string_view host) {
  const std::size_t colon = host.rfind(':');
  const std::size_t bracket = host.rfind(']');
  const bool has_port =
      colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket);
  std::string name(host.substr(0, has_port ? colon : host.size()));
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  return name;
}

Guard::Guard(std::vector<std::string> hosts) : hosts_(std::move(hosts)) {
  for (const char* const loopback : {"localhost", "127.0.0.1", "[::1]"}) {
    hosts_.emplace_back(loopback);
  }
}

std::optional<Response> Guard::refuse(const Request& request) const {
  if (request.host.empty()) {
    return failure(kBadRequest, "invalid_argument", "the request has no Host header, or several");
  }
  if (std::ranges::find(hosts_, host_without_port(request.host)) == hosts_.end()) {
    return failure(kMisdirected, "invalid_argument",
                   fmt::format("this server does not answer for {}: start it with --host NAME",
                               base::printable(request.host)));
  }
  const bool same_origin =
      request.origin == "http://" + request.host || request.origin == "https://" + request.host;
  if (!request.origin.empty() && !same_origin) {
    return failure(kForbidden, "invalid_argument", "requests of other sites are refused");
  }
  // A link from another site to the page is followed.
  const bool own = request.fetch_site.empty() || request.fetch_site == "same-origin" ||
                   request.fetch_site == "none";
  if (!own && !opens_page(request)) {
    return failure(kForbidden, "invalid_argument", "requests of other sites are refused");
  }
  return std::nullopt;
}

const std::vector<std::pair<std::string, std::string>>& safety_headers() {
  static const std::vector<std::pair<std::string, std::string>> headers{
      {"Content-Security-Policy",
       "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
       "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
       "require-trusted-types-for 'script'; trusted-types 'none'"},
      {"X-Content-Type-Options", "nosniff"},
      {"X-Frame-Options", "DENY"},
      {"Referrer-Policy", "no-referrer"},
      {"Cross-Origin-Opener-Policy", "same-origin"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
  };
  return headers;
}

}  // namespace holdfast::cli::serve
