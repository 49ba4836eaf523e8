#include <tests/support/differential.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <tests/support/redis_client.h>
#include <tests/support/redis_server.h>

#include <holdfast/engines/redis/redis_store.h>

namespace holdfast::tests {
namespace {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int kOperations = 12'000;
#else
constexpr int kOperations = 240'000;  // of them 7 in 8 ask the server
#endif

TEST(Differential, TheScriptsDoWhatTheRulesSay) {
  const RedisServer server;
  const Restatement redis{
      .open =
          [&](const std::string& history, Restatement::Time time) {
            return base::value_or_throw(engines::redis::open_store(
                {.host = "127.0.0.1", .port = server.port(), .prefix = history}, std::move(time)));
          },
      .names = {"a", "{tag}b", "}c{", "d{}", "e"},
      // The key of a mutex that has ended.
      .forget =
          [&](const std::string& history, std::string_view name) {
            RedisClient(server.port()).run({"DEL", history + std::string(name)});
          }};
  EXPECT_EQ(differences(redis, kOperations), std::vector<std::string>());
}

}  // namespace
}  // namespace holdfast::tests
