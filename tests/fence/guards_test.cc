#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include <gtest/gtest.h>
#include <tests/fence/guarded_resource.h>

#include <holdfast/fence/far_ahead.h>

namespace holdfast::tests {
namespace {

using base::FencingToken;
using namespace std::chrono_literals;

// Returns the token of so much later than now, by the wall clock.
std::uint64_t micros_in(std::chrono::hours time) {
  const auto later = std::chrono::system_clock::now().time_since_epoch() + time;
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(later).count());
}

// The promises of every guard, whatever it guards.
class GuardsTest : public ::testing::TestWithParam<Guard> {
 protected:
  bool write(std::uint64_t token, const std::string& value) {
    return resource_->writer()->write(FencingToken{token}, value);
  }

  const std::unique_ptr<GuardedResource> resource_ = GetParam().make_resource();
};

TEST_P(GuardsTest, AnOlderTokenIsRefusedAfterANewerOneWasSeen) {
  EXPECT_TRUE(write(5, "five"));
  EXPECT_TRUE(write(7, "seven"));
  EXPECT_FALSE(write(6, "six"));
  EXPECT_FALSE(write(5, "five"));
  EXPECT_EQ(resource_->read(), "seven");
  EXPECT_TRUE(write(8, "eight")) << "a refusal is not held against others";
  EXPECT_EQ(resource_->read(), "eight");
}

TEST_P(GuardsTest, AnEqualTokenIsAccepted) {
  EXPECT_TRUE(write(7, "seven"));
  EXPECT_TRUE(write(7, "seven again"));
  EXPECT_EQ(resource_->read(), "seven again");
}

TEST_P(GuardsTest, SurvivesARestart) {
  EXPECT_TRUE(write(7, "seven"));
  resource_->restart();
  EXPECT_FALSE(write(6, "six"));
  EXPECT_EQ(resource_->read(), "seven");
  EXPECT_TRUE(write(7, "seven again"));
  EXPECT_EQ(resource_->read(), "seven again");
}

// Compared as texts they would be in another order.
TEST_P(GuardsTest, TokensCompareAsWholeNumbers) {
  EXPECT_TRUE(write(9, "a"));
  EXPECT_TRUE(write(10, "b"));
  EXPECT_FALSE(write(9, "c"));
  const std::uint64_t now = micros_in(0h);
  EXPECT_TRUE(write(now, "d"));
  EXPECT_FALSE(write(now - 1, "e"));
  EXPECT_TRUE(write(now + 1, "f"));
  EXPECT_FALSE(write(now, "g"));
  EXPECT_EQ(resource_->read(), "f");
}

TEST_P(GuardsTest, ATokenFromTheFarFutureIsRejectedAndLocksNoHolderOut) {
  EXPECT_TRUE(write(7, "seven"));
  EXPECT_FALSE(write(micros_in(fence::kFurthestAhead + 1h), "forged"));
  EXPECT_FALSE(write(INT64_MAX, "forged"));
  EXPECT_FALSE(write(UINT64_MAX, "forged"));
  EXPECT_EQ(resource_->read(), "seven");
  EXPECT_TRUE(write(8, "eight"));
  EXPECT_TRUE(write(micros_in(fence::kFurthestAhead - 1h), "next year"));
}

TEST_P(GuardsTest, OfManyWritersTheNewestStays) {
  constexpr std::uint64_t kTokens = 240;
  constexpr int kWriters = 6;
  std::atomic<std::uint64_t> next = 0;
  std::atomic<std::uint64_t> done = 0;  // the greatest token whose write has returned
  std::atomic<int> wrong = 0;
  {
    std::vector<std::unique_ptr<Writer>> writers(kWriters);
    std::ranges::generate(writers, [this] { return resource_->writer(); });
    std::vector<std::jthread> threads;
    for (const auto& writer : writers) {
      threads.emplace_back([&] {
        for (std::uint64_t token = ++next; token <= kTokens; token = ++next) {
          const std::uint64_t before = done.load();
          const bool accepted = writer->write(FencingToken{token}, std::to_string(token));
          wrong += accepted && token < before ? 1 : 0;
          for (std::uint64_t seen = done.load();
               accepted && seen < token && !done.compare_exchange_weak(seen, token);) {
          }
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(resource_->read(), std::to_string(kTokens));
}

INSTANTIATE_TEST_SUITE_P(
    Guards, GuardsTest,
    ::testing::Values(Guard{"process", make_process_resource}, Guard{"file", make_file_resource},
                      Guard{"sqlite_rows", make_sqlite_rows_resource},
                      Guard{"sqlite_table", make_sqlite_table_resource},
                      Guard{"postgresql_rows", make_postgresql_rows_resource},
                      Guard{"postgresql_table", make_postgresql_table_resource},
                      Guard{"redis", make_redis_resource}),
    [](const auto& guard) { return guard.param.name; });

}  // namespace
}  // namespace holdfast::tests
