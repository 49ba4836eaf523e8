#include <tests/support/cutting_proxy.h>

#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <list>
#include <string_view>
#include <utility>
#include <vector>

#include <tests/support/free_port.h>

namespace holdfast::tests {

namespace {

int connect_to(std::uint16_t port) {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) {
    return -1;
  }
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  if (::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    ::close(descriptor);
    return -1;
  }
  return descriptor;
}

bool send_all(int descriptor, const char* bytes, ssize_t size) {
  while (size > 0) {
    const ssize_t sent = ::send(descriptor, bytes, static_cast<std::size_t>(size), MSG_NOSIGNAL);
    if (sent <= 0) {
      return false;
    }
    bytes += sent;
    size -= sent;
  }
  return true;
}

struct Pair {
  int client;
  int server;
  bool is_silent = false;
};

}  // namespace

class CuttingProxy::Loop {
 public:
  explicit Loop(CuttingProxy& proxy) noexcept : proxy_(proxy) {}

  void run() {
    while (!proxy_.stopping_) {
      if (proxy_.refusing_) {
        close_all();
      }
      if (proxy_.silencing_) {
        for (Pair& pair : pairs_) {
          pair.is_silent = true;
        }
        proxy_.silencing_ = false;
      }
      turn();
    }
    close_all();
  }

 private:
  void turn() {
    std::vector<pollfd> ready = {{.fd = proxy_.bell_, .events = POLLIN, .revents = 0},
                                 {.fd = proxy_.listener_, .events = POLLIN, .revents = 0}};
    for (const Pair& pair : pairs_) {
      ready.push_back({.fd = pair.client, .events = POLLIN, .revents = 0});
      ready.push_back({.fd = pair.server, .events = POLLIN, .revents = 0});
    }
    ::poll(ready.data(), ready.size(), -1);
    if (ready[0].revents != 0) {
      eventfd_t rings = 0;
      ::eventfd_read(proxy_.bell_, &rings);
    }
    std::size_t i = 2;
    for (auto pair = pairs_.begin(); pair != pairs_.end(); i += 2) {
      const bool is_open =
          (ready[i].revents == 0 || pass(*pair, pair->client, pair->server, Loss::request)) &&
          (ready[i + 1].revents == 0 || pass(*pair, pair->server, pair->client, Loss::reply));
      const auto current = pair++;
      if (!is_open) {
        close_pair(current);
      }
    }
    if (ready[1].revents != 0) {
      accept_one();
    }
  }

  // Returns whether the connection continues.
  bool pass(const Pair& pair, int from, int to, Loss kind) {
    std::array<char, std::size_t{1} << 16U> bytes;
    const ssize_t got = ::recv(from, bytes.data(), bytes.size(), 0);
    if (got <= 0) {
      return false;
    }
    if (pair.is_silent) {
      return true;  // read, and thrown away
    }
    if (kind == Loss::request && !proxy_.word_.empty() &&
        std::string_view(bytes.data(), static_cast<std::size_t>(got)).contains(proxy_.word_)) {
      proxy_.has_heard_ = true;
    }
    Loss expected = kind;
    if (proxy_.loss_.compare_exchange_strong(expected, Loss::none)) {
      ++proxy_.lost_;
      return false;
    }
    return send_all(to, bytes.data(), got);
  }

  void accept_one() {
    const int client = ::accept4(proxy_.listener_, nullptr, nullptr, SOCK_CLOEXEC);
    const int server = proxy_.refusing_ ? -1 : connect_to(proxy_.server_port_);
    if (server < 0) {
      ::close(client);
      return;
    }
    pairs_.push_back({.client = client, .server = server});
  }

  std::list<Pair>::iterator close_pair(std::list<Pair>::iterator pair) {
    ::close(pair->client);
    ::close(pair->server);
    return pairs_.erase(pair);
  }

  void close_all() {
    while (!pairs_.empty()) {
      close_pair(pairs_.begin());
    }
  }

  CuttingProxy& proxy_;
  std::list<Pair> pairs_;
};

CuttingProxy::CuttingProxy(std::uint16_t server_port, std::string word)
    : listener_(listen_on_free_port(port_)),
      bell_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      word_(std::move(word)),
      server_port_(server_port),
      thread_([this] { Loop(*this).run(); }) {}

CuttingProxy::~CuttingProxy() {
  stopping_ = true;
  ring();
  thread_.join();
  ::close(listener_);
  ::close(bell_);
}

void CuttingProxy::ring() const noexcept { ::eventfd_write(bell_, 1); }

void CuttingProxy::lose_next_reply() { loss_ = Loss::reply; }

void CuttingProxy::lose_next_request() { loss_ = Loss::request; }

void CuttingProxy::refuse() {
  refusing_ = true;
  ring();
}

void CuttingProxy::allow() { refusing_ = false; }

void CuttingProxy::silence() {
  silencing_ = true;
  ring();
  while (silencing_) {
    std::this_thread::yield();
  }
}

void CuttingProxy::redirect(std::uint16_t server_port) { server_port_ = server_port; }

}  // namespace holdfast::tests
