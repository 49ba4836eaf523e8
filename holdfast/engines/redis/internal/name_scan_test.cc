#include <holdfast/engines/redis/internal/name_scan.h>

#include <atomic>
#include <functional>
#include <string>

#include <gtest/gtest.h>
#include <tests/support/fake_server.h>
#include <tests/support/redis_client.h>

#include <holdfast/engines/redis/internal/connection_testing.h>

namespace holdfast::engines::redis::internal {
namespace {

using base::ErrorCode;
using tests::FakeServer;

const KeySpace kKeys("");

// Answers every step with this, for its number.
class ScannedServer {
 public:
  using Answer = std::function<std::string(int step, const std::string& request)>;

  explicit ScannedServer(Answer answer)
      : server_([answer = std::move(answer)](FakeServer::Client& client) {
          int step = 0;
          for (std::string request; !(request = client.receive()).empty();) {
            client.send(request.contains("SCAN") ? answer(++step, request) : "+OK\r\n");
          }
        }) {}

  base::Result<std::vector<base::Name>> scan(const ScanLimits& limits) {
    Connection connection(
        {.host = "127.0.0.1", .port = server_.port(), .connect_timeout = std::chrono::seconds(30)});
    return scan_names(connection, kKeys, "", "", patience(), limits);
  }

 private:
  FakeServer server_;
};

std::string bulk(const std::string& text) {
  return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}

TEST(NameScan, ACursorThatNeverEndsIsRefused) {
  ScannedServer server([](int step, const std::string&) {
    return "*2\r\n" + bulk(std::to_string(step)) + "*0\r\n";
  });
  const auto names = server.scan({.steps = 100});
  ASSERT_FALSE(names);
  EXPECT_EQ(names.error().code, ErrorCode::unavailable);
}

TEST(NameScan, ACursorThatStandsStillIsRefused) {
  ScannedServer server([](int, const std::string&) { return "*2\r\n" + bulk("7") + "*0\r\n"; });
  const auto names = server.scan({});
  ASSERT_FALSE(names);
  EXPECT_EQ(names.error().code, ErrorCode::unavailable);
}

TEST(NameScan, NamesWithoutEndAreRefused) {
  ScannedServer server([](int step, const std::string&) {
    return "*2\r\n" + bulk(std::to_string(step)) + "*1\r\n" +
           bulk("hf:{" + std::to_string(step) + "}");
  });
  for (const ScanLimits limits : {ScanLimits{.names = 50}, ScanLimits{.bytes = 100}}) {
    const auto names = server.scan(limits);
    ASSERT_FALSE(names);
    EXPECT_EQ(names.error().code, ErrorCode::limit_exceeded);
  }
}

TEST(NameScan, KeysOfOthersAreFoundUnlessThereAreTooMany) {
  tests::RedisServer server;
  tests::RedisClient client(server.port());
  client.run({"SET", "hf:{ours}", "x"});
  client.run({"SET", "hfo:{order}:1", "an object"});
  client.run({"LPUSH", "list", "no lock"});
  for (int i = 0; i < 20; ++i) {
    client.run({"SET", "key " + std::to_string(i), "x"});
  }
  const auto connection = open_connection(options_for(server));
  EXPECT_EQ(scan_names(*connection, kKeys, "", "", patience(), {.foreign = 30})->size(), 22U);
  const auto few = scan_names(*connection, kKeys, "", "", patience(), {.foreign = 10});
  ASSERT_TRUE(few);
  ASSERT_EQ(few->size(), 1U);
  EXPECT_EQ(few->at(0).view(), "ours");
}

TEST(NameScan, IfThereAreTooManyKeysOfOthersTheServerLeavesThemOut) {
  constexpr int kSteps = 20;
  std::atomic<int> with_others = 0;
  ScannedServer server([&](int step, const std::string& request) {
    const std::string number = std::to_string(step);
    const std::string ours = bulk("hf:{ours " + number + "}");
    const bool has_others = !request.contains("hf:*");
    with_others += has_others ? 1 : 0;
    return "*2\r\n" + bulk(step < kSteps ? number : "0") +
           (has_others ? "*3\r\n" + bulk("a" + number) + bulk("b" + number) : "*1\r\n") + ours;
  });
  const auto names = server.scan({.foreign = 3});
  ASSERT_TRUE(names);
  EXPECT_EQ(names->size(), static_cast<std::size_t>(kSteps));
  EXPECT_EQ(with_others, 7);  // one key in each step may be that of a mutex of ours
}

}  // namespace
}  // namespace holdfast::engines::redis::internal
