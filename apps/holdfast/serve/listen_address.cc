#include <arpa/inet.h>
#include <netinet/in.h>

#include <charconv>

#include <fmt/core.h>

#include <holdfast/base/printable.h>

#include "apps/holdfast/serve/listen_address.h"

namespace holdfast::cli::serve {

base::Result<ListenAddress> ListenAddress::parse(std::string_view text) {
  const auto invalid = [&] {
    return base::fail(base::ErrorCode::invalid_argument,
                      fmt::format("'{}' is not an address to listen on: write 127.0.0.1:7447, "
                                  "[::1]:7447 or localhost:7447",
                                  base::printable(text)));
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) {
    return invalid();
  }
  std::string_view host = text.substr(0, colon);
  const std::string_view digits = text.substr(colon + 1);
  ListenAddress address;
  const auto [after, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), address.port);
  if (error != std::errc() || after != digits.data() + digits.size()) {
    return invalid();
  }
  const bool in_brackets = host.starts_with('[') && host.ends_with(']');
  if (in_brackets) {
    host = host.substr(1, host.size() - 2);
  }
  address.host = host == "localhost" ? "127.0.0.1" : std::string(host);
  in6_addr bytes{};
  const int family = in_brackets ? AF_INET6 : AF_INET;
  if (inet_pton(family, address.host.c_str(), &bytes) != 1) {
    return invalid();
  }
  return address;
}

bool ListenAddress::is_loopback() const { return host.starts_with("127.") || host == "::1"; }

std::string ListenAddress::url_host() const {
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

}  // namespace holdfast::cli::serve
