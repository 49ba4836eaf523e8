#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <tests/support/redis_server.h>

namespace holdfast::tests {

// A master with replicas, and three Sentinels that watch them: real servers on free ports of the
// loopback interface, which know each other when the constructor returns. Make it in a thread that
// stays, such as the main one. Throws std::runtime_error.
//
//   SentinelSet set({.down_after = 1s});
//   auto store = open_store(set.url());
//   set.server_at(set.master_port()).kill();   // another is the master soon
class SentinelSet {
 public:
  static constexpr std::size_t kSentinels = 3;
  static constexpr const char* kMasterName = "locks";

  struct Options {
    // A master that is silent for so long is replaced. The default is: never, while a test runs.
    std::chrono::milliseconds down_after = std::chrono::hours(1);
    std::size_t replicas = 2;
    std::string password{};                // of the servers
    std::string sentinel_password{};       // of the Sentinels
    std::vector<std::string> arguments{};  // of the servers
  };

  SentinelSet() : SentinelSet(Options{}) {}
  explicit SentinelSet(Options options);

  // The URL of a store, with the passwords.
  [[nodiscard]] std::string url() const;
  // Returns the port of the master, as the first Sentinel that answers sees it.
  [[nodiscard]] std::uint16_t master_port() const;
  [[nodiscard]] RedisServer& server_at(std::uint16_t port) const;
  [[nodiscard]] RedisServer& server(std::size_t i) const { return *servers_.at(i); }
  [[nodiscard]] std::size_t servers() const noexcept { return servers_.size(); }
  [[nodiscard]] RedisServer& sentinel(std::size_t i) const { return *sentinels_.at(i); }
  // Asks a server or a Sentinel, with its password; empty if it does not answer.
  [[nodiscard]] std::string ask(std::uint16_t port, const std::vector<std::string>& words) const;
  // Returns whether all Sentinels agree on a master with this many replicas that are in step.
  [[nodiscard]] bool is_whole() const;
  // Blocks until it is.
  void wait_until_whole() const;
  // Lets the Sentinels make a replica the master; returns when all of them say so.
  void fail_over() const;

 private:
  [[nodiscard]] bool is_sentinel(std::uint16_t port) const;

  const Options options_;
  std::vector<std::unique_ptr<RedisServer>> servers_;
  std::vector<std::unique_ptr<RedisServer>> sentinels_;
};

}  // namespace holdfast::tests
