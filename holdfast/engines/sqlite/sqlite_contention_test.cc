// Deadlines and exclusion when several want the file, or a name, at once.
#include <atomic>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/engines/sqlite/sqlite_store.h>
#include <holdfast/engines/sqlite/testing_support.h>

namespace holdfast::engines::sqlite {
namespace {

using namespace std::chrono_literals;
using base::Deadline;
using base::ErrorCode;
using base::LeaseId;
using testing::Stranger;
using testing::take;

class SqliteContentionTest : public ::testing::Test {
 protected:
  static Deadline in(base::Duration time) { return Deadline::after(base::steady_clock(), time); }
  static base::Duration since(base::TimePoint start) { return base::steady_clock().now() - start; }

  testing::Folder folder_;
  const std::filesystem::path file_ = folder_ / "locks.db";
  const std::shared_ptr<SqliteStore> store_ = testing::open({.file = file_, .busy_timeout = 60s});
};

TEST_F(SqliteContentionTest, ACallEndsAtItsDeadlineWhileAnotherHasTheFileLocked) {
  Stranger stranger(file_);
  stranger.run("BEGIN IMMEDIATE");
  const auto claim = testing::claim_of(LeaseId::generate());
  const auto start = base::steady_clock().now();
  const auto outcome = store_->claim("a", claim, in(200ms));
  EXPECT_EQ(outcome.error().code, ErrorCode::unavailable);
  EXPECT_GE(since(start), 200ms);
  EXPECT_LT(since(start), 10s);                  // SQLite's own way of waiting has no such bound
  EXPECT_FALSE(testing::is_held(*store_, "a"));  // reading needs no lock
  stranger.run("ROLLBACK");
  take(*store_, "a", claim.id);
}

TEST_F(SqliteContentionTest, WithoutADeadlineItEndsAtTheBusyTimeout) {
  Stranger stranger(file_);
  stranger.run("BEGIN IMMEDIATE");
  const auto impatient = testing::open({.file = file_, .busy_timeout = 100ms});
  const auto start = base::steady_clock().now();
  const auto outcome = impatient->claim("a", testing::claim_of(LeaseId::generate()));
  EXPECT_EQ(outcome.error().code, ErrorCode::unavailable);
  EXPECT_GE(since(start), 100ms);
}

TEST_F(SqliteContentionTest, ADeadlineThatHasPassedIsNotTried) {
  const auto outcome = store_->claim("a", testing::claim_of(LeaseId::generate()), in(-1s));
  EXPECT_EQ(outcome.error().code, ErrorCode::unavailable);
  EXPECT_FALSE(testing::is_held(*store_, "a"));
}

TEST_F(SqliteContentionTest, AThreadBehindOneThatWaitsEndsAtItsOwnDeadline) {
  Stranger stranger(file_);
  stranger.run("BEGIN IMMEDIATE");
  std::latch waiting(1);
  std::atomic<bool> first_waits = true;
  std::jthread first([&] {
    waiting.count_down();
    EXPECT_TRUE(store_->claim("a", testing::claim_of(LeaseId::generate())));
    first_waits = false;
  });
  waiting.wait();
  const auto outcome = store_->claim("b", testing::claim_of(LeaseId::generate()), in(50ms));
  EXPECT_EQ(outcome.error().code, ErrorCode::unavailable);
  EXPECT_TRUE(first_waits);
  stranger.run("ROLLBACK");
}

TEST_F(SqliteContentionTest, ACallSucceedsAsSoonAsTheFileIsUnlocked) {
  Stranger stranger(file_);
  stranger.run("BEGIN IMMEDIATE");
  const auto id = LeaseId::generate();
  std::latch waiting(1);
  std::jthread waiter([&] {
    waiting.count_down();
    const auto outcome = store_->claim("a", testing::claim_of(id), in(60s));
    EXPECT_TRUE(outcome && std::holds_alternative<store::Grant>(*outcome));
  });
  waiting.wait();
  stranger.run("ROLLBACK");
}

TEST_F(SqliteContentionTest, EightThreadsOnTwoStoresCountExactly) {
  const auto other = testing::open({.file = file_});
  constexpr int kThreads = 8;
  constexpr int kRounds = 40;
  // Loaded and stored one after the other: two at a time would lose counts.
  std::atomic<int> counter = 0;
  std::atomic<int> inside = 0;
  std::atomic<std::uint64_t> last_token = 0;
  const auto count = [&](store::LeaseStore& mine) {
    for (int i = 0; i < kRounds; ++i) {
      const auto id = LeaseId::generate();
      for (;;) {
        const auto outcome = mine.claim("counter", testing::claim_of(id, 1h), in(60s));
        ASSERT_TRUE(outcome.has_value()) << to_string(outcome.error());
        if (const auto* const grant = std::get_if<store::Grant>(&*outcome)) {
          EXPECT_GT(grant->token.value(), last_token.exchange(grant->token.value()));
          break;
        }
        std::this_thread::yield();
      }
      EXPECT_EQ(inside.fetch_add(1), 0);
      const int seen = counter.load();
      std::this_thread::yield();
      counter.store(seen + 1);
      inside.fetch_sub(1);
      ASSERT_EQ(mine.release("counter", id, in(60s)), store::ReleaseOutcome::released);
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] { count(i % 2 == 0 ? *store_ : *other); });
    }
  }
  EXPECT_EQ(counter.load(), kThreads * kRounds);
  EXPECT_FALSE(testing::is_held(*store_, "counter"));
}

TEST_F(SqliteContentionTest, WatchesComeAndGoWhileOthersRelease) {
  const auto other = testing::open({.file = file_, .busy_timeout = 60s});
  std::atomic<int> hints = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&, i] {
        for (int round = 0; round < 50; ++round) {
          auto watch = (i % 2 == 0 ? store_ : other)->watch("a", [&](const auto&) { ++hints; });
          ASSERT_TRUE(watch.has_value());
          testing::use(*(i < 2 ? store_ : other), "b" + std::to_string(i));
        }
      });
    }
  }
  EXPECT_EQ(hints, 0);
}

}  // namespace
}  // namespace holdfast::engines::sqlite
