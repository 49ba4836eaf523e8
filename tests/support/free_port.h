#pragma once

#include <cstdint>

namespace holdfast::tests {

// A TCP port of the loopback interface that nobody listens on at the moment.
[[nodiscard]] std::uint16_t free_port();

// Listens on a free port of 127.0.0.1; the descriptor, and the port through `port`.
[[nodiscard]] int listen_on_free_port(std::uint16_t& port);

}  // namespace holdfast::tests
