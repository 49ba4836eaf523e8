#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

namespace holdfast::tests {

// Stands between a client and a server of this machine, passes everything on, and cuts the line
// on command. Thread-safe. One thread serves all its connections.
//
//   CuttingProxy proxy(server.port());
//   proxy.lose_next_reply();   // the server does what it is asked, and the client never hears of
//   it
class CuttingProxy {
 public:
  // Listens for a word in what the clients send, if there is one.
  explicit CuttingProxy(std::uint16_t server_port, std::string word = "");
  ~CuttingProxy();
  CuttingProxy(const CuttingProxy&) = delete;
  CuttingProxy& operator=(const CuttingProxy&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

  // Drops the next reply of the server, to any client, and closes its connection.
  void lose_next_reply();
  // The next request is thrown away before the server sees it, and its connection is closed.
  void lose_next_request();
  // Closes all connections, and refuses new ones until allow() is called.
  void refuse();
  void allow();
  // From now on nothing comes through the connections that exist, and they stay open: a network
  // that has silently lost them. New ones work. Returns when that is so.
  void silence();
  // New connections go to another server of this machine; those that exist stay where they are.
  void redirect(std::uint16_t server_port);
  // Returns whether a client has sent the word.
  [[nodiscard]] bool has_heard() const noexcept { return has_heard_; }
  // Return how many replies and requests were lost so far.
  [[nodiscard]] unsigned lost() const noexcept { return lost_.load(); }

 private:
  class Loop;
  enum class Loss : std::uint8_t { none, reply, request };

  void ring() const noexcept;

  std::uint16_t port_ = 0;
  const int listener_;
  const int bell_;
  const std::string word_;
  std::atomic<Loss> loss_ = Loss::none;
  std::atomic<bool> refusing_ = false;
  std::atomic<bool> silencing_ = false;
  std::atomic<std::uint16_t> server_port_;
  std::atomic<bool> stopping_ = false;
  std::atomic<unsigned> lost_ = 0;
  std::atomic<bool> has_heard_ = false;
  std::thread thread_;
};

}  // namespace holdfast::tests
