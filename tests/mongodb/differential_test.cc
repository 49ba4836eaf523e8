#include <tests/support/differential.h>

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <tests/support/mongo_client.h>
#include <tests/support/mongo_server.h>

#include <holdfast/engines/mongodb/mongo_store.h>

namespace holdfast::tests {
namespace {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int kOperations = 8'000;
#else
constexpr int kOperations = 100'000;
#endif

const std::map<std::string_view, std::string> kIds{
    {"a", "a"}, {"$b", "$b"}, {"c.d", "c.d"}, {"e\xff", "hf~65ff"}, {"hf~f", "hf~68667e66"}};

TEST(Differential, ThePipelinesDoWhatTheRulesSay) {
  const MongoServer server;
  MongoClient client(server.url());
  std::mutex one_at_a_time;
  const Restatement mongodb{
      .open =
          [&](const std::string& history, const Restatement::Time& time) {
            return base::value_or_throw(engines::mongodb::open_store(
                {.uri = server.url(),
                 .database = server.database(),
                 .prefix = history,
                 .connect_timeout = std::chrono::minutes(1),
                 .reply_timeout = std::chrono::minutes(1)},
                [time] { return std::chrono::floor<std::chrono::milliseconds>(time()); }));
          },
      .names = {"a", "$b", "c.d", "e\xff", "hf~f"},
      .grain = std::chrono::milliseconds(1),
      // The TTL index removes the document.
      .forget =
          [&](const std::string& history, std::string_view name) {
            const std::lock_guard guard(one_at_a_time);
            client.run(server.database(),
                       R"({"delete": "distributed.locks", "deletes": [{"limit": 1, "q": {"_id": )" +
                           json_text(history + kIds.at(name)) + "}}]}");
          }};
  EXPECT_EQ(differences(mongodb, kOperations), std::vector<std::string>());
}

}  // namespace
}  // namespace holdfast::tests
