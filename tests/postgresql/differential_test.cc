#include <tests/support/differential.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <tests/support/postgres_client.h>
#include <tests/support/postgres_server.h>

#include <holdfast/engines/postgresql/postgres_store.h>

namespace holdfast::tests {
namespace {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int kOperations = 12'000;
#else
constexpr int kOperations = 240'000;  // of them 7 in 8 ask the server
#endif

std::string hexadecimal(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += {kDigits[byte >> 4U], kDigits[byte & 15U]};
  }
  return text;
}

TEST(Differential, TheFunctionsDoWhatTheRulesSay) {
  const PostgresServer server({.arguments = {"-c", "fsync=off"}});
  const Restatement postgresql{
      .open =
          [&](const std::string& history, Restatement::Time time) {
            auto store = base::value_or_throw(engines::postgresql::open_store(
                {.conninfo = server.url(), .prefix = history}, std::move(time)));
            base::value_or_throw(store->look("a"));  // makes the schema
            return store;
          },
      .names = {"a", std::string_view("b\0c", 3), "\\x41", "d'\"", "\xff"},
      // The rows of a name that is not in use.
      .forget =
          [&](const std::string& history, std::string_view name) {
            thread_local PostgresClient client(server.conninfo());  // one for each history
            client.change(
                "WITH l AS (DELETE FROM holdfast.leases WHERE name = decode($1, 'hex')) "
                "DELETE FROM holdfast.records WHERE name = decode($1, 'hex')",
                {hexadecimal(history + std::string(name))});
          }};
  EXPECT_EQ(differences(postgresql, kOperations), std::vector<std::string>());
}

}  // namespace
}  // namespace holdfast::tests
