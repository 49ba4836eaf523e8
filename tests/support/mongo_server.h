#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <tests/support/temporary_folder.h>

namespace holdfast::tests {

// A MongoDB server for a test: of these the first that there is.
//
//   HOLDFAST_TEST_MONGODB    the URL of a server that runs already
//   mongod                   if it is on the PATH: started here, a replica set of one
//   the stand-in             tests/support/mongodb/server.cjs, started here
//
// The test's log says which, in one line. A server that is started here listens on a free port of
// 127.0.0.1, has a folder of its own, and ends with this object, and with the test's process. Make
// it in a thread that stays, such as the main one.
//
// Not thread-safe. What goes wrong is a std::runtime_error.
class MongoServer {
 public:
  enum class Kind : std::uint8_t { given, mongod, stand_in };
  struct Options {
    // Only the stand-in can be one of these: a server on its own, of no replica set; and one that
    // knows no more than the version of MongoDB with this wire version.
    bool standalone = false;
    int wire_version = 0;
    // Certificates are made, and every connection is TLS. Only of the stand-in.
    bool tls = false;
    // Even where there is another server: for what only the stand-in can be told.
    bool must_be_stand_in = false;
  };

  MongoServer() : MongoServer(Options{}) {}
  explicit MongoServer(const Options& options);
  ~MongoServer();
  MongoServer(const MongoServer&) = delete;
  MongoServer& operator=(const MongoServer&) = delete;

  [[nodiscard]] Kind kind() const noexcept { return kind_; }
  // With the database in it.
  [[nodiscard]] const std::string& url() const noexcept { return url_; }
  // One that nobody else uses.
  [[nodiscard]] const std::string& database() const noexcept { return database_; }
  // The same through something on another port of this machine. Only of a server started here.
  [[nodiscard]] std::string url_by(std::uint16_t port) const;
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] const std::filesystem::path& folder() const noexcept { return folder_.path(); }

  // Of a server that was started here. As if the machine had lost power; returns when it is gone.
  void kill();
  // Again on the same port; a mongod has its data, the stand-in none.
  void restart();
  // Hangs, without closing anything, until it is resumed.
  void suspend() const;
  void resume() const;

 private:
  void start();
  bool spawn_and_wait();
  [[nodiscard]] bool answers() const;
  [[nodiscard]] std::vector<std::string> command_line() const;

  const Options options_;
  const TemporaryFolder folder_;
  const std::string database_;
  Kind kind_ = Kind::stand_in;
  std::string url_;
  std::uint16_t port_ = 0;
  pid_t process_ = -1;
};

// Whether a test has to do without a server that is started here.
[[nodiscard]] bool mongo_server_is_given();

}  // namespace holdfast::tests
