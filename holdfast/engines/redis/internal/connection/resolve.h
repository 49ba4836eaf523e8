#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <vector>

#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>

namespace holdfast::engines::redis::internal {

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;

  [[nodiscard]] const sockaddr* get() const noexcept {
    return reinterpret_cast<const sockaddr*>(&storage);
  }
};

// The addresses of a host, at least one, in the order in which the system prefers them.
//
// The system's resolver knows no deadline. So a name, unlike a number, is looked up in a thread of
// its own, which a caller whose deadline comes leaves behind; it ends when the resolver gives up.
[[nodiscard]] base::Result<std::vector<Address>> resolve(const std::string& host,
                                                         std::uint16_t port,
                                                         base::Deadline deadline);

}  // namespace holdfast::engines::redis::internal
