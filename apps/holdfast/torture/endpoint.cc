#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "apps/holdfast/torture/endpoint.h"

namespace holdfast::cli::torture {

namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kSchemes{{
    {"redis", "6379"},
    {"mongodb", "27017"},
    {"postgresql", "5432"},
    {"postgres", "5432"},
}};

// `scheme://user@host:port/rest` in three parts: up to the host, host and port, and what follows.
struct Parts {
  std::string_view before;
  std::string_view server;
  std::string_view after;
};

Parts split(std::string_view url) {
  const std::size_t begin = url.find("://") + 3;
  const std::size_t end = std::min(url.find_first_of("/?", begin), url.size());
  const std::size_t at = url.substr(0, end).rfind('@');
  const std::size_t server = at == std::string_view::npos || at < begin ? begin : at + 1;
  return {.before = url.substr(0, server),
          .server = url.substr(server, end - server),
          .after = url.substr(end)};
}

}  // namespace

std::optional<Endpoint> endpoint_of(std::string_view url) {
  const std::size_t colon = url.find("://");
  const auto* const scheme = std::ranges::find(
      kSchemes, url.substr(0, colon), &std::pair<std::string_view, std::string_view>::first);
  if (colon == std::string_view::npos || scheme == kSchemes.end()) {
    return std::nullopt;
  }
  const Parts parts = split(url);
  const bool needs_its_host = parts.after.contains("replicaSet") ||
                              parts.after.contains("tls=true") || parts.after.contains("ssl");
  if (needs_its_host || parts.server.empty() ||
      parts.server.find_first_of(",%") != parts.server.npos) {
    return std::nullopt;
  }
  const std::size_t bracket = parts.server.rfind(']');  // of an IPv6 address
  const std::size_t port = parts.server.find(':', bracket == parts.server.npos ? 0 : bracket);
  std::string_view host = parts.server.substr(0, port);
  if (bracket != parts.server.npos) {
    host = host.substr(1, host.size() - 2);
  }
  return Endpoint{.host = std::string(host),
                  .port = std::string(port == parts.server.npos ? scheme->second
                                                                : parts.server.substr(port + 1))};
}

std::string with_endpoint(std::string_view url, std::uint16_t port) {
  const Parts parts = split(url);
  return std::string(parts.before) + "127.0.0.1:" + std::to_string(port) + std::string(parts.after);
}

}  // namespace holdfast::cli::torture
