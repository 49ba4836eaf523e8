#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <tests/support/temporary_folder.h>

namespace holdfast::tests {

// A real Redis server for a test: on a free port of 127.0.0.1 and 127.0.0.2 and on a unix socket,
// in a folder of its own, without persistence unless the arguments ask for it. It ends with this
// object, and with the test's process. Make it in a thread that stays, such as the main one.
//
// Not thread-safe. What goes wrong is a std::runtime_error.
//
//   RedisServer server({.arguments = {"--requirepass", "secret"}});
//   Connection connection({.host = "127.0.0.1", .port = server.port(), .password = "secret"});
class RedisServer {
 public:
  struct Options {
    std::vector<std::string> arguments{};
    // Certificates are made, and a TLS port is opened beside the plain one.
    bool tls = false;
    // A node that may be one of a cluster, with a free port for its bus.
    bool cluster = false;
    // The lines of the configuration of a Sentinel, which this is then.
    std::vector<std::string> sentinel{};
  };

  RedisServer() : RedisServer(Options{}) {}
  explicit RedisServer(Options options);
  ~RedisServer();
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] std::uint16_t tls_port() const noexcept { return tls_port_; }
  [[nodiscard]] std::uint16_t bus_port() const noexcept { return bus_port_; }
  [[nodiscard]] const std::filesystem::path& folder() const noexcept { return folder_.path(); }
  [[nodiscard]] std::filesystem::path socket() const { return folder_ / "redis.sock"; }
  // The authority that has signed the server's certificate, and one that has not. The certificate
  // is for localhost and 127.0.0.1, not for 127.0.0.2.
  [[nodiscard]] std::filesystem::path authority() const { return folder_ / "ca.pem"; }
  [[nodiscard]] std::filesystem::path strange_authority() const { return folder_ / "strange.pem"; }

  [[nodiscard]] std::string url() const;
  [[nodiscard]] std::string unix_url() const;
  [[nodiscard]] std::string tls_url() const;

  // Ends it as a loss of power would; returns when it has ended.
  void kill();
  // Again on the same ports, with what it finds in its folder; kills it first if it runs.
  void restart();
  // Hangs, without closing anything, until it is resumed.
  void suspend() const;
  void resume() const;

 private:
  void start();
  bool spawn_and_wait();
  void write_sentinel_file() const;
  [[nodiscard]] std::vector<std::string> command_line() const;
  [[nodiscard]] bool answers() const;
  [[nodiscard]] bool has_ended();

  const Options options_;
  const TemporaryFolder folder_;
  std::uint16_t port_ = 0;
  std::uint16_t tls_port_ = 0;
  std::uint16_t bus_port_ = 0;
  pid_t process_ = -1;
};

}  // namespace holdfast::tests
