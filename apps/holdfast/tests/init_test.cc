#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <tests/support/redis_server.h>

#include "apps/holdfast/tests/workspace.h"

namespace holdfast::cli::testing {

namespace {

using std::filesystem::perms;

class InitTest : public Workspace {
 protected:
  InitTest() { std::filesystem::create_directory(shared_); }

  const std::filesystem::path shared_ = folder() / "shared";
  const std::string url_ = "sqlite:" + (shared_ / "locks.db").string();
};

TEST_F(InitTest, CreatesAStoreWhoseFilesHaveTheMode) {
  const Outcome outcome = holdfast({"init", "--mode", "660", url_});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_EQ(outcome.output, url_ + " is ready\n");
  // Files that are created later have it, too.
  EXPECT_EQ(holdfast({"--store", url_, "run", "job", "--", "true"}).status, 0);
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(shared_)) {
    EXPECT_EQ(entry.status().permissions(), static_cast<perms>(0660)) << entry.path();
    ++files;
  }
  EXPECT_GE(files, 1);
}

TEST_F(InitTest, LetsAnotherUserOfTheGroupLock) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "only root can become another user";
  }
  ASSERT_EQ(chown(shared_.c_str(), 0, 65534), 0);
  std::filesystem::permissions(shared_, static_cast<perms>(02770));
  std::filesystem::permissions(folder(), static_cast<perms>(0711));
  ASSERT_EQ(holdfast({"init", "--mode", "660", "--group", "nogroup", url_}).status, 0);
  const auto holder = start_holder({"--store", url_, "job"});
  const auto as_nobody = [&](const Words& words) {
    Words all{"setpriv",        "--reuid",       "65534",   "--regid", "65534",
              "--clear-groups", HOLDFAST_BINARY, "--store", url_};
    all.insert(all.end(), words.begin(), words.end());
    return run_to_end(all, environment());
  };
  EXPECT_EQ(as_nobody({"run", "-n", "job", "--", "true"}).status, 75);
  const Outcome outcome = as_nobody({"run", "-n", "other", "--", "echo", "mine"});
  EXPECT_EQ(outcome.output, "mine\n") << outcome.errors;
}

TEST_F(InitTest, ChangesOnlyTheFilesOfTheStore) {
  const auto other = shared_ / "locks.db-copy";
  std::ofstream(other) << "mine";
  std::filesystem::permissions(other, static_cast<perms>(0600));
  EXPECT_EQ(holdfast({"init", "--mode", "666", url_}).status, 0);
  EXPECT_EQ(std::filesystem::status(other).permissions(), static_cast<perms>(0600));
}

TEST_F(InitTest, FollowsNoLink) {
  const auto victim = folder() / "victim.db";
  ASSERT_EQ(holdfast({"init", "--mode", "600", "sqlite:" + victim.string()}).status, 0);
  for (const bool symbolic : {true, false}) {
    const auto link = shared_ / "locks.db";
    if (symbolic) {
      std::filesystem::create_symlink(victim, link);
    } else {
      std::filesystem::create_hard_link(victim, link);
    }
    const Outcome outcome = holdfast({"init", "--mode", "666", url_});
    EXPECT_EQ(outcome.status, 69) << outcome.errors;
    EXPECT_NE(outcome.errors.find("is a link"), std::string::npos) << outcome.errors;
    EXPECT_EQ(std::filesystem::status(victim).permissions(), static_cast<perms>(0600));
    std::filesystem::remove(link);
  }
}

TEST_F(InitTest, ChecksAServerButHasNoFilesToChange) {
  tests::RedisServer server;
  EXPECT_EQ(holdfast({"init", server.url()}).status, 0);
  EXPECT_EQ(holdfast({"init", "--mode", "660", server.url()}).status, 64);
  server.kill();
  EXPECT_EQ(holdfast({"init", server.url()}).status, 69);
}

TEST_F(InitTest, RejectsWhatIsNoModeOrGroup) {
  EXPECT_EQ(holdfast({"init", "--mode", "9", url_}).status, 64);
  EXPECT_EQ(holdfast({"init", "--mode", "1777", url_}).status, 64);
  EXPECT_EQ(holdfast({"init", "--group", "no-such-group", url_}).status, 64);
}

}  // namespace

}  // namespace holdfast::cli::testing
