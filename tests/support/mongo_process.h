#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <tests/support/temporary_folder.h>

namespace holdfast::tests {

// The wishes of a test for its MongoDB server.
struct MongoWishes {
  // Only the stand-in can be one of these: a server on its own, of no replica set; and one that
  // knows no more than the version of MongoDB with this wire version.
  bool standalone = false;
  int wire_version = 0;
  // Certificates are made, and every connection is TLS. Only of the stand-in.
  bool tls = false;
  // Even where there is another server: for commands that only the stand-in knows.
  bool must_be_stand_in = false;
  // A server that no other test uses, for a test that stops it, makes it fail or sets its clock.
  bool own = false;

  [[nodiscard]] bool needs_stand_in() const {
    return must_be_stand_in || standalone || wire_version != 0 || tls;
  }
};

// A server that was started here: a mongod from the PATH, or the stand-in. It listens on a port of
// 127.0.0.1, has a folder of its own, and ends with this object and with this process. Make it in a
// thread that stays, such as the main one.
//
// Not thread-safe. Throws std::runtime_error if the server does not start.
class MongoProcess {
 public:
  enum class Kind : std::uint8_t { mongod, stand_in };

  MongoProcess(Kind kind, const MongoWishes& wishes);
  ~MongoProcess();
  MongoProcess(const MongoProcess&) = delete;
  MongoProcess& operator=(const MongoProcess&) = delete;

  [[nodiscard]] Kind kind() const noexcept { return kind_; }
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] const std::filesystem::path& folder() const noexcept { return folder_.path(); }
  // The URL of a database, through something on this port of this machine.
  [[nodiscard]] std::string url(std::uint16_t port, const std::string& database) const;

  void kill();
  void restart();
  void suspend() const;
  void resume() const;

 private:
  // Each returns false if the server could not use its port.
  bool start_mongod();
  bool start_stand_in();
  [[nodiscard]] bool is_primary() const;
  [[nodiscard]] std::vector<std::string> mongod_words() const;
  [[nodiscard]] std::vector<std::string> stand_in_words() const;

  const Kind kind_;
  const MongoWishes wishes_;
  const TemporaryFolder folder_;
  const pid_t owner_;  // in a forked child the server is not ours
  std::uint16_t port_ = 0;
  pid_t process_ = -1;
  int input_ = -1;  // when it is closed, the stand-in ends
};

}  // namespace holdfast::tests
