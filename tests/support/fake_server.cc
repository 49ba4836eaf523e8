#include <tests/support/fake_server.h>

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <utility>

#include <tests/support/free_port.h>

namespace holdfast::tests {

std::string FakeServer::Client::receive() {
  std::array<char, std::size_t{1} << 16U> bytes;
  const ssize_t got = ::recv(descriptor_, bytes.data(), bytes.size(), 0);
  return got > 0 ? std::string(bytes.data(), static_cast<std::size_t>(got)) : std::string();
}

bool FakeServer::Client::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) {
      return false;
    }
    server_.sent_ += static_cast<std::size_t>(sent);
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

FakeServer::FakeServer(std::function<void(Client& client)> serve)
    : serve_(std::move(serve)),
      listener_(listen_on_free_port(port_)),
      accepting_([this] { accept_all(); }) {}

FakeServer::~FakeServer() {
  ::shutdown(listener_, SHUT_RDWR);
  accepting_.join();
  {
    const std::lock_guard guard(mutex_);
    for (const int client : clients_) {
      ::shutdown(client, SHUT_RDWR);
    }
  }
  for (std::thread& thread : serving_) {
    thread.join();
  }
  for (const int client : clients_) {
    ::close(client);
  }
  ::close(listener_);
}

void FakeServer::accept_all() {
  for (int client = 0; (client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC)) >= 0;) {
    {
      const std::lock_guard guard(mutex_);
      clients_.push_back(client);
    }
    serving_.emplace_back([this, client, number = connections_++] {
      Client served(*this, client, number);
      serve_(served);
      ::shutdown(client, SHUT_RDWR);
    });
  }
}

}  // namespace holdfast::tests
