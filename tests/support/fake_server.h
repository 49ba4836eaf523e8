#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace holdfast::tests {

// A server of this machine that is as broken or hostile as a function makes it: the function serves
// one connection, in a thread of its own, and returns when the connection has ended.
//
// Thread-safe. The destructor ends all connections.
//
//   FakeServer server([](FakeServer::Client& client) {
//     while (!client.receive().empty()) {
//       client.send("+OK\r\n");
//     }
//   });
class FakeServer {
 public:
  class Client {
   public:
    // Counted from 0.
    [[nodiscard]] unsigned number() const noexcept { return number_; }
    // Waits for bytes, and returns those that have come; empty when the connection has ended.
    [[nodiscard]] std::string receive();
    // Returns whether all was sent; not if the connection has ended.
    bool send(std::string_view bytes);

   private:
    friend class FakeServer;
    Client(FakeServer& server, int descriptor, unsigned number)
        : server_(server), descriptor_(descriptor), number_(number) {}

    FakeServer& server_;
    const int descriptor_;
    const unsigned number_;
  };

  explicit FakeServer(std::function<void(Client& client)> serve);
  ~FakeServer();
  FakeServer(const FakeServer&) = delete;
  FakeServer& operator=(const FakeServer&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  // Return how many bytes the clients were sent so far, and how many have connected.
  [[nodiscard]] std::size_t sent() const noexcept { return sent_.load(); }
  [[nodiscard]] unsigned connections() const noexcept { return connections_.load(); }

 private:
  void accept_all();

  const std::function<void(Client& client)> serve_;
  std::uint16_t port_ = 0;
  const int listener_;
  std::atomic<std::size_t> sent_ = 0;
  std::atomic<unsigned> connections_ = 0;
  std::mutex mutex_;
  std::vector<int> clients_;          // protected by mutex_
  std::vector<std::thread> serving_;  // the accepting thread's
  std::thread accepting_;
};

}  // namespace holdfast::tests
