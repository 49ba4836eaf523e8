#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include <gtest/gtest.h>
#include <tests/support/patience.h>
#include <tests/support/temporary_folder.h>

#include "apps/holdfast/torture/server.h"

namespace holdfast::cli::torture {

namespace {

using tests::eventually;

sigset_t no_signals() {
  sigset_t none;
  sigemptyset(&none);
  return none;
}

// A server whose work is done by a process in a session of its own, as with PostgreSQL.
class TortureServer : public ::testing::Test {
 protected:
  // Starts it, and returns when it has written its process.
  std::string start(const std::string& work) {
    const std::filesystem::path file = folder_ / "id";
    command_.emplace("setsid sh -c 'echo $$ > \"" + file.string() + "\"; " + work + "' & true",
                     no_signals());
    command_->start();
    std::string id;
    EXPECT_TRUE(eventually([&] { return static_cast<bool>(std::ifstream(file) >> id); }));
    return id;
  }

  static bool is_stopped(const std::string& id) {
    std::string process;
    std::string name;
    std::string state;
    std::ifstream("/proc/" + id + "/stat") >> process >> name >> state;
    return state == "T";
  }

  static bool exists(const std::string& id) { return std::filesystem::exists("/proc/" + id); }

  Server& server() { return *command_; }

 private:
  const tests::TemporaryFolder folder_;
  std::optional<Server> command_;
};

constexpr auto kWork = "exec sleep 3600";

TEST_F(TortureServer, AProcessInASessionOfItsOwnIsPausedAndResumed) {
  const std::string id = start(kWork);
  server().pause();
  EXPECT_TRUE(eventually([&] { return is_stopped(id); }));
  server().resume();
  EXPECT_TRUE(eventually([&] { return !is_stopped(id); }));
  EXPECT_EQ(server().status(), std::nullopt) << "the command has ended, its process has not";
}

TEST_F(TortureServer, AProcessInASessionOfItsOwnIsKilledEvenWhileItIsPaused) {
  const std::string id = start(kWork);
  server().pause();
  server().kill();
  EXPECT_FALSE(exists(id));
}

TEST_F(TortureServer, AServerIsAskedToEnd) {
  const std::string id = start(kWork);
  server().ask_to_end();
  EXPECT_TRUE(eventually([&] { return server().status().has_value(); }));
  EXPECT_FALSE(exists(id));
}

TEST_F(TortureServer, AServerThatHasJustBeenStartedCanBeKilled) {
  Server server("exec sleep 3600", no_signals());
  for (int i = 0; i < 20; ++i) {
    server.start();
    server.kill();
    EXPECT_TRUE(server.status());
  }
}

}  // namespace

}  // namespace holdfast::cli::torture
