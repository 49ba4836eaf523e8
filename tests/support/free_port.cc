#include <tests/support/free_port.h>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <random>
#include <stdexcept>

namespace holdfast::tests {

namespace {

bool has_bound(int descriptor, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return ::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

// A socket that has a free port of 127.0.0.1, and does not listen.
int take_free_port(std::uint16_t& port) {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  socklen_t size = sizeof address;
  if (descriptor < 0 || !has_bound(descriptor, 0) ||
      ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    throw std::runtime_error("there is no free port");
  }
  port = ntohs(address.sin_port);
  return descriptor;
}

}  // namespace

int listen_on_free_port(std::uint16_t& port) {
  const int descriptor = take_free_port(port);
  if (::listen(descriptor, SOMAXCONN) != 0) {
    throw std::runtime_error("the free port is not free");
  }
  return descriptor;
}

std::uint16_t free_port() {
  std::uint16_t port = 0;
  ::close(take_free_port(port));
  return port;
}

std::uint16_t lasting_port() {
  constexpr std::uint32_t kMost = 10'000;
  std::uint32_t end = 32'768;
  std::ifstream("/proc/sys/net/ipv4/ip_local_port_range") >> end;
  if (end <= kMost + 1'024) {
    throw std::runtime_error("the kernel may give any port to any socket");
  }
  std::random_device random;
  for (int attempt = 0; attempt < 1'000; ++attempt) {
    const auto port = static_cast<std::uint16_t>(end - 1 - random() % kMost);
    const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool is_free = has_bound(descriptor, port);
    ::close(descriptor);
    if (is_free) {
      return port;
    }
  }
  throw std::runtime_error("there is no free port");
}

ClosedPort::ClosedPort() : descriptor_(take_free_port(number_)) {}

ClosedPort::~ClosedPort() { ::close(descriptor_); }

}  // namespace holdfast::tests
