#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::cli::torture {

// The one server that a store's URL names, without TLS.
struct Endpoint {
  std::string host;
  std::string port;
};

// Returns nullopt for a file, a socket, several servers, TLS, or a server that must be looked up
// first: there a proxy cannot come in between.
[[nodiscard]] std::optional<Endpoint> endpoint_of(std::string_view url);

// Returns the URL with this port of the loopback in place of its server. Call it where there is an
// endpoint.
[[nodiscard]] std::string with_endpoint(std::string_view url, std::uint16_t port);

}  // namespace holdfast::cli::torture
