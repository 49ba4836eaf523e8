#include <holdfast/engines/redis/internal/connection/wire.h>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <string>
#include <system_error>
#include <utility>

#include <holdfast/base/printable.h>
#include <holdfast/base/saturate.h>
#include <holdfast/base/try.h>
#include <holdfast/engines/redis/internal/connection/resolve.h>

namespace holdfast::engines::redis::internal {

namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

void set_option(int descriptor, int level, int option, int value) noexcept {
  // A unix socket or an old kernel may not know the option, and does without.
  ::setsockopt(descriptor, level, option, &value, sizeof value);
}

void tune(int descriptor) noexcept {
  set_option(descriptor, IPPROTO_TCP, TCP_NODELAY, 1);
  // Finds out within half a minute that a machine is gone while nobody asks it anything.
  set_option(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, 15);
  set_option(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set_option(descriptor, IPPROTO_TCP, TCP_KEEPCNT, 3);
}

// The errno of a connection that was begun, 0 once it stands.
int await_connection(int descriptor, base::Deadline deadline) noexcept {
  pollfd waiting{.fd = descriptor, .events = POLLOUT, .revents = 0};
  if (!poll_until({&waiting, 1}, deadline)) {
    return ETIMEDOUT;
  }
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

base::Deadline share_of(base::Deadline deadline, std::size_t addresses) {
  const base::TimePoint now = base::steady_clock().now();
  const base::Duration left = deadline.remaining(now);
  return base::Deadline::at(
      base::add_saturating(now, left / static_cast<base::Duration::rep>(addresses)));
}

}  // namespace

bool poll_until(std::span<pollfd> descriptors, base::Deadline deadline) noexcept {
  while (true) {
    timespec wait{};
    if (!deadline.is_never()) {
      const base::Duration left = deadline.remaining(base::steady_clock().now());
      const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
      wait.tv_sec = static_cast<std::time_t>(seconds.count());
      wait.tv_nsec = static_cast<long>((left - seconds).count());
    }
    const int ready = ::ppoll(descriptors.data(), descriptors.size(),
                              deadline.is_never() ? nullptr : &wait, nullptr);
    if (ready >= 0) {
      return ready > 0;
    }
    if (errno != EINTR) {
      return true;  // the read or write that follows will say what is wrong
    }
  }
}

base::Result<void> write_all(Wire& wire, std::string_view bytes, base::Deadline deadline) {
  while (!bytes.empty()) {
    HOLDFAST_TRY_LET(const auto sent, wire.write(bytes));
    bytes.remove_prefix(sent);
    pollfd waiting{.fd = wire.descriptor(), .events = POLLOUT, .revents = 0};
    const bool is_late = !bytes.empty() && deadline.expired(base::steady_clock().now());
    if (is_late || (sent == 0 && !poll_until({&waiting, 1}, deadline))) {
      return base::fail(base::ErrorCode::unavailable, "it did not take what we sent in time");
    }
  }
  return {};
}

base::Error closed_by_server() {
  return {base::ErrorCode::unavailable, "the server closed the connection"};
}

base::Error connection_failed(int error_number) {
  return {base::ErrorCode::unavailable,
          "the connection failed: " + std::generic_category().message(error_number)};
}

std::string server_address(const RedisOptions& options) {
  if (options.sentinel) {
    return base::printable(options.sentinel->master_name) + " (the master of " +
           sentinel_addresses(*options.sentinel) + ")";
  }
  if (!options.unix_socket.empty()) {
    return base::printable(options.unix_socket);
  }
  return server_address(options.host, options.port);
}

std::string server_address(const std::string& host, std::uint16_t port) {
  const bool is_ipv6 = host.find(':') != std::string::npos;
  const std::string shown = base::printable(host);
  return (is_ipv6 ? "[" + shown + "]" : shown) + ":" + std::to_string(port);
}

std::string sentinel_addresses(const SentinelOptions& sentinel) {
  std::string all = "the Sentinels at";
  std::string_view separator = " ";
  for (const SentinelOptions::Node& node : sentinel.nodes) {
    all.append(separator).append(server_address(node.host, node.port));
    separator = ", ";
  }
  return all;
}

Result<std::unique_ptr<WireSocket>> WireSocket::connect(const RedisOptions& options,
                                                        base::Deadline deadline) {
  if (!options.unix_socket.empty()) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (options.unix_socket.size() >= sizeof address.sun_path) {
      return fail(ErrorCode::invalid_argument, "the path of the socket is too long");
    }
    std::ranges::copy(options.unix_socket, address.sun_path);
    return connect_to(reinterpret_cast<const sockaddr*>(&address), sizeof address, deadline);
  }
  HOLDFAST_TRY_LET(const auto addresses, resolve(options.host, options.port, deadline));
  Result<std::unique_ptr<WireSocket>> outcome = nullptr;
  std::size_t left = addresses.size();
  for (const Address& address : addresses) {
    outcome = connect_to(address.get(), address.size, share_of(deadline, left--));
    if (outcome) {
      break;
    }
  }
  return outcome;
}

Result<std::unique_ptr<WireSocket>> WireSocket::connect_to(const sockaddr* address, socklen_t size,
                                                           base::Deadline deadline) {
  const int descriptor =
      ::socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) {
    return std::unexpected(connection_failed(errno));
  }
  std::unique_ptr<WireSocket> wire(new WireSocket(descriptor));
  tune(descriptor);
  int error = ::connect(descriptor, address, size) == 0 ? 0 : errno;
  if (error == EINPROGRESS || error == EINTR) {
    error = await_connection(descriptor, deadline);
  }
  if (error != 0) {
    return std::unexpected(connection_failed(error));
  }
  return wire;
}

WireSocket::~WireSocket() { ::close(descriptor_); }

Result<std::size_t> WireSocket::read(std::span<char> into) {
  while (true) {
    const ssize_t got = ::recv(descriptor_, into.data(), into.size(), MSG_DONTWAIT);
    if (got > 0) {
      return static_cast<std::size_t>(got);
    }
    if (got == 0) {
      return std::unexpected(closed_by_server());
    }
    if (errno == EAGAIN) {
      return 0;
    }
    if (errno != EINTR) {
      return std::unexpected(connection_failed(errno));
    }
  }
}

Result<std::size_t> WireSocket::write(std::string_view bytes) {
  while (true) {
    const ssize_t sent =
        ::send(descriptor_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent >= 0) {
      return static_cast<std::size_t>(sent);
    }
    if (errno == EAGAIN) {
      return 0;
    }
    if (errno != EINTR) {
      return std::unexpected(connection_failed(errno));
    }
  }
}

}  // namespace holdfast::engines::redis::internal
