#include <csignal>

#include <tests/support/redis_client.h>
#include <tests/support/redis_server.h>

#include "apps/holdfast/tests/workspace.h"

namespace holdfast::cli::testing {

namespace {

class WatchTest : public Workspace {
 protected:
  static void expect(Process& watch, const std::string& event, const std::string& name,
                     const std::string& owner) {
    const auto line = nlohmann::json::parse(watch.read_line());
    EXPECT_EQ(line["event"], event) << line;
    EXPECT_EQ(line["name"], name) << line;
    EXPECT_EQ(line["owner"], owner) << line;
    EXPECT_TRUE(line["token"].is_number_unsigned()) << line;
    EXPECT_EQ(line["time"].get<std::string>().size(),
              std::string("2024-01-01T00:00:00.000Z").size());
  }

  std::string acquire(const std::string& name, const std::string& owner, const std::string& ttl) {
    return json({"acquire", "--json", "--ttl", ttl, "--owner", owner, name})["lease_id"];
  }
};

TEST_F(WatchTest, TellsOfANameAsItHappens) {
  const std::string first = acquire("job", "first", "1h");
  const auto watch = start({"watch", "--json", "--every", "20ms", "job"});
  expect(*watch, "held", "job", "first");
  holdfast({"release", "job", first});
  expect(*watch, "released", "job", "first");
  acquire("other", "nobody watches", "1h");
  acquire("job", "second", "2s");
  expect(*watch, "acquired", "job", "second");
  expect(*watch, "expired", "job", "second");
  watch->signal(SIGINT);
  EXPECT_EQ(watch->wait(), 128 + SIGINT);
}

TEST_F(WatchTest, TellsOfNamesWithAPrefix) {
  acquire("db/a", "one", "1h");
  acquire("web", "two", "1h");
  const auto watch = start({"watch", "--json", "--every", "20ms", "--prefix", "db/"});
  expect(*watch, "held", "db/a", "one");
  acquire("db/b", "three", "1h");
  expect(*watch, "acquired", "db/b", "three");
}

TEST_F(WatchTest, PeopleGetALineEach) {
  acquire("job", "ci@host:41", "1h");
  const auto watch = start({"watch"});
  const std::string line = watch->read_line();
  EXPECT_NE(line.find("  held      job  ci@host (pid 41) for "), std::string::npos) << line;
}

TEST_F(WatchTest, SurvivesAnOutage) {
  tests::RedisServer server;
  environment()["HOLDFAST_STORE"] = server.url();
  acquire("job", "first", "1h");
  const auto watch = start({"watch", "--json", "--every", "20ms"});
  expect(*watch, "held", "job", "first");
  server.kill();
  EXPECT_NE(watch->read_error_line().find("store unreachable: "), std::string::npos);
  server.restart();  // as an empty one
  expect(*watch, "released", "job", "first");
  acquire("job", "second", "1h");
  expect(*watch, "acquired", "job", "second");
}

TEST_F(WatchTest, ShowsTheLocksOfOtherPrograms) {
  tests::RedisServer server;
  tests::RedisClient client(server.port());
  client.run({"SET", "job", "theirs", "PX", "600000"});
  for (const Words& which : {Words{"job"}, Words{"--prefix", "jo"}, Words{}}) {
    Words words{"watch", "--store", server.url(), "--every", "20ms"};
    words.insert(words.end(), which.begin(), which.end());
    const auto watch = start(words);
    const std::string held = watch->read_line();
    EXPECT_NE(held.find("  held      job  another program"), std::string::npos) << held;
    client.run({"SET", "job", "another", "PX", "600000"});
    EXPECT_NE(watch->read_line().find("  released  job  "), std::string::npos);
    EXPECT_NE(watch->read_line().find("  acquired  job  "), std::string::npos);
    client.run({"DEL", "job"});
    EXPECT_NE(watch->read_line().find("  released  job  "), std::string::npos);
    client.run({"SET", "job", "theirs", "PX", "600000"});
    EXPECT_NE(watch->read_line().find("  acquired  job  "), std::string::npos);
  }
}

}  // namespace

}  // namespace holdfast::cli::testing
