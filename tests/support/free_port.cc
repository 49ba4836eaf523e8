#include <tests/support/free_port.h>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>

namespace holdfast::tests {

namespace {

// A socket that has a free port of 127.0.0.1, and does not listen.
int take_free_port(std::uint16_t& port) {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (descriptor < 0 ||
      ::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
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

ClosedPort::ClosedPort() : descriptor_(take_free_port(number_)) {}

ClosedPort::~ClosedPort() { ::close(descriptor_); }

}  // namespace holdfast::tests
