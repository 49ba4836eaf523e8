#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/holdfast/serve/message.h"

namespace holdfast::cli::serve {

// The first check of every request: it must name this server, and must not come from a page of
// another site.
//
// A page that an attacker's name serves may ask this server once that name leads to 127.0.0.1 (DNS
// rebinding): its requests have that name in Host. A page of another site may send requests
// blindly: browsers name the site in Origin or Sec-Fetch-Site.
class Guard {
 public:
  // `hosts` are the names and addresses that a request may name, without a port; those of the
  // loopback interface always may.
  explicit Guard(std::vector<std::string> hosts);

  // Returns the refusal of a request; nullopt to go on.
  [[nodiscard]] std::optional<Response> refuse(const Request& request) const;

 private:
  std::vector<std::string> hosts_;
};

// Returns the part of a Host header before the port, in lower case: `[::1]:7447` is `[::1]`.
[[nodiscard]] std::string host_without_port(std::string_view host);

// The headers of every response: no script but ours, no frame, no sniffing, no cache.
[[nodiscard]] const std::vector<std::pair<std::string, std::string>>& safety_headers();

}  // namespace holdfast::cli::serve
