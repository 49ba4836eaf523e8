#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <holdfast/base/error.h>

namespace holdfast::cli::serve {

// The address that a server listens on: `127.0.0.1:7447`, `[::1]:7447`, `localhost:7447`. The port
// 0 is any free one.
struct ListenAddress {
  std::string host;  // an address in digits, without brackets
  std::uint16_t port = 0;

  [[nodiscard]] static base::Result<ListenAddress> parse(std::string_view text);

  // Returns whether only processes of this machine reach it.
  [[nodiscard]] bool is_loopback() const;
  // Returns the host as in a URL, with brackets where it has colons.
  [[nodiscard]] std::string url_host() const;
};

}  // namespace holdfast::cli::serve
