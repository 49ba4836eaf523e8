#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include <netdb.h>

#include <holdfast/base/try.h>

#include "apps/holdfast/torture/proxy.h"

namespace holdfast::cli::torture {

namespace {

using base::TimePoint;

constexpr std::size_t kMostWaiting = std::size_t{4} << 20U;

base::Error failure(const std::string& what) {
  return {base::ErrorCode::unavailable, what + ": " + std::generic_category().message(errno)};
}

base::Result<Descriptor> listen_on_loopback(std::uint16_t& port) {
  Descriptor listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const plain = reinterpret_cast<sockaddr*>(&address);
  if (listener.get() < 0 || ::bind(listener.get(), plain, size) != 0 ||
      ::listen(listener.get(), SOMAXCONN) != 0 ||
      ::getsockname(listener.get(), plain, &size) != 0) {
    return std::unexpected(failure("cannot open a port for the proxy"));
  }
  port = ntohs(address.sin_port);
  return listener;
}

bool would_block() { return errno == EAGAIN || errno == EINTR; }

}  // namespace

Proxy::Proxy(Descriptor listener, std::uint16_t port, std::string address, int family)
    : listener_(std::move(listener)), port_(port), address_(std::move(address)), family_(family) {}

base::Result<std::unique_ptr<Proxy>> Proxy::open(const Endpoint& server) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int problem = ::getaddrinfo(server.host.c_str(), server.port.c_str(), &hints, &found);
      problem != 0) {
    return base::fail(base::ErrorCode::unavailable,
                      "cannot find " + server.host + ": " + ::gai_strerror(problem));
  }
  std::string address(reinterpret_cast<const char*>(found->ai_addr), found->ai_addrlen);
  const int family = found->ai_family;
  ::freeaddrinfo(found);
  std::uint16_t port = 0;
  HOLDFAST_TRY_LET(Descriptor listener, listen_on_loopback(port));
  return std::unique_ptr<Proxy>(new Proxy(std::move(listener), port, std::move(address), family));
}

void Proxy::add_to(std::vector<pollfd>& descriptors) const {
  descriptors.push_back({.fd = listener_.get(), .events = POLLIN, .revents = 0});
  if (hangs_) {
    return;  // nothing is read then, and they would be ready all the time
  }
  for (const Pair& pair : pairs_) {
    for (const auto& [descriptor, flow] : {std::pair(pair.client.get(), &pair.requests),
                                           std::pair(pair.server.get(), &pair.replies)}) {
      if (!flow->has_ended && flow->waiting < kMostWaiting) {
        descriptors.push_back({.fd = descriptor, .events = POLLIN, .revents = 0});
      }
    }
  }
}

void Proxy::serve(TimePoint now) {
  accept_all();
  if (!hangs_) {
    std::erase_if(pairs_, [&](Pair& pair) { return !serve(pair, now); });
  }
}

void Proxy::accept_all() {
  while (true) {
    Descriptor client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (client.get() < 0) {
      return;
    }
    Descriptor server(::socket(family_, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const auto* const to = reinterpret_cast<const sockaddr*>(address_.data());
    if (server.get() >= 0 &&
        (::connect(server.get(), to, static_cast<socklen_t>(address_.size())) == 0 ||
         errno == EINPROGRESS)) {
      pairs_.push_back({.client = std::move(client), .server = std::move(server)});
    }
  }
}

bool Proxy::serve(Pair& pair, TimePoint now) {
  return read(pair.client.get(), pair.requests, Direction::request, now) &&
         read(pair.server.get(), pair.replies, Direction::reply, now) &&
         write(pair.server.get(), pair.requests, now) &&
         write(pair.client.get(), pair.replies, now);
}

bool Proxy::read(int from, Flow& flow, Direction direction, TimePoint now) {
  std::array<char, std::size_t{1} << 16U> bytes;
  while (!flow.has_ended && flow.waiting < kMostWaiting) {
    const ssize_t got = ::recv(from, bytes.data(), bytes.size(), 0);
    if (got == 0) {
      flow.has_ended = true;
    } else if (got < 0) {
      return would_block();
    } else if (direction == Direction::reply && replies_to_drop_ > 0) {
      --replies_to_drop_;
      return false;
    } else {
      flow.chunks.push_back(
          {.due = now + delay_, .bytes = std::string(bytes.data(), static_cast<std::size_t>(got))});
      flow.waiting += static_cast<std::size_t>(got);
    }
  }
  return true;
}

bool Proxy::write(int to, Flow& flow, TimePoint now) {
  while (!flow.chunks.empty() && flow.chunks.front().due <= now) {
    std::string& bytes = flow.chunks.front().bytes;
    const ssize_t sent = ::send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0) {
      return would_block();
    }
    flow.waiting -= static_cast<std::size_t>(sent);
    bytes.erase(0, static_cast<std::size_t>(sent));
    if (bytes.empty()) {
      flow.chunks.pop_front();
    }
  }
  return !flow.has_ended || !flow.chunks.empty();
}

void Proxy::cut() { pairs_.clear(); }

}  // namespace holdfast::cli::torture
