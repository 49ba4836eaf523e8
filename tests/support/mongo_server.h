#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include <tests/support/mongo_process.h>

namespace holdfast::tests {

// A MongoDB server for a test, with a database that no other test uses. Of these the first that
// there is:
//
//   HOLDFAST_TEST_MONGODB    the URL of a server that runs already
//   mongod                   if it is on the PATH: started here, a replica set of one
//   the stand-in             tests/support/mongodb/server.cjs, started here
//
// All tests of a process share one server for each combination of wishes, started when it is first
// needed and ended with the process; a test that wishes for its `own` starts one more. The test's
// log says which kind it is, in one line.
//
// Not thread-safe. What goes wrong is a std::runtime_error.
class MongoServer {
 public:
  enum class Kind : std::uint8_t { given, mongod, stand_in };
  using Options = MongoWishes;

  MongoServer() : MongoServer(Options{}) {}
  explicit MongoServer(const Options& options);
  ~MongoServer();
  MongoServer(const MongoServer&) = delete;
  MongoServer& operator=(const MongoServer&) = delete;

  [[nodiscard]] Kind kind() const noexcept;
  // With the database in it.
  [[nodiscard]] const std::string& url() const noexcept { return url_; }
  [[nodiscard]] const std::string& database() const noexcept { return database_; }
  // The same through something on another port of this machine. Only of a server started here.
  [[nodiscard]] std::string url_by(std::uint16_t port) const {
    return process_->url(port, database_);
  }
  [[nodiscard]] std::uint16_t port() const noexcept { return process_->port(); }
  [[nodiscard]] const std::filesystem::path& folder() const noexcept { return process_->folder(); }

  // Only of an `own` server that was started here. As if the machine had lost power; returns when
  // it has ended.
  void kill() { own_process().kill(); }
  // Again on the same port; a mongod has its data, the stand-in none.
  void restart() { own_process().restart(); }
  // Hangs, without closing anything, until it is resumed.
  void suspend() { own_process().suspend(); }
  void resume() { own_process().resume(); }

 private:
  MongoProcess& own_process();

  const Options options_;
  const std::string database_;
  std::shared_ptr<MongoProcess> process_;  // null if the server is given
  std::string url_;
};

// Returns whether a test has to do without a server that is started here.
[[nodiscard]] bool mongo_server_is_given();

}  // namespace holdfast::tests
