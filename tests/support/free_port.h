#pragma once

#include <cstdint>

namespace holdfast::tests {

// A TCP port of the loopback interface that nobody listens on at the moment.
[[nodiscard]] std::uint16_t free_port();

// The same, of those that the kernel never gives to a socket by itself: a server can have it again
// after a restart.
[[nodiscard]] std::uint16_t lasting_port();

// Listens on a free port of 127.0.0.1; the descriptor, and the port through `port`.
[[nodiscard]] int listen_on_free_port(std::uint16_t& port);

// A port of 127.0.0.1 that nobody listens on for as long as this lives: a client that connects is
// refused.
class ClosedPort {
 public:
  ClosedPort();
  ~ClosedPort();
  ClosedPort(const ClosedPort&) = delete;
  ClosedPort& operator=(const ClosedPort&) = delete;

  [[nodiscard]] std::uint16_t number() const noexcept { return number_; }

 private:
  std::uint16_t number_ = 0;
  const int descriptor_;  // has the port, and does not listen
};

}  // namespace holdfast::tests
