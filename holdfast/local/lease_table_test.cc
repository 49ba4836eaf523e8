#include <holdfast/local/lease_table.h>

#include <algorithm>
#include <limits>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include <holdfast/base/manual_clock.h>

namespace holdfast::local {
namespace {

using namespace std::chrono_literals;
using base::ErrorCode;

class LeaseTableTest : public testing::Test {
 protected:
  // Returns the token, or zero if the key is leased.
  std::uint64_t lock(std::string_view key, std::string_view owner, base::Ttl ttl = 10s) {
    const auto token = table.try_lock(key, owner, ttl);
    EXPECT_TRUE(token.has_value());
    return token && *token ? (*token)->value() : 0;
  }

  base::ManualClock clock;
  LeaseTable table{{.clock = &clock, .sweep_every = 0s}};
};

TEST_F(LeaseTableTest, AFreeKeyIsGrantedAndALeasedKeyIsNot) {
  EXPECT_NE(lock("a", "one"), 0U);
  EXPECT_EQ(lock("a", "two"), 0U);
  EXPECT_NE(lock("b", "two"), 0U);
  EXPECT_EQ(table.size(), 2U);
}

TEST_F(LeaseTableTest, TheSameOwnerIsRefusedASecondTime) {
  EXPECT_NE(lock("a", "one"), 0U);
  EXPECT_EQ(lock("a", "one"), 0U);
}

TEST_F(LeaseTableTest, ALeaseEndsWithItsTtlAndIsTakenOverInTheSameStep) {
  const std::uint64_t first = lock("a", "one", 10s);
  clock.advance(10s - 1ns);
  EXPECT_EQ(lock("a", "two"), 0U);
  EXPECT_TRUE(table.is_locked_by("a", "one"));
  clock.advance(1ns);
  EXPECT_FALSE(table.is_locked_by("a", "one"));
  EXPECT_TRUE(table.is_lock_expired("a"));
  EXPECT_GT(lock("a", "two"), first);
  EXPECT_TRUE(table.is_locked_by("a", "two"));
  EXPECT_EQ(table.size(), 1U);
}

TEST_F(LeaseTableTest, TokensGrowAcrossUnlockExpiryAndSweep) {
  std::uint64_t last = 0;
  for (int i = 0; i < 30; ++i) {
    const std::uint64_t token = lock("a", "one", 1s);
    ASSERT_GT(token, last);
    last = token;
    switch (i % 3) {
      case 0: ASSERT_TRUE(table.unlock("a")); break;
      case 1: clock.advance(1s); break;
      default: clock.advance(1s); ASSERT_EQ(table.sweep_now().removed, 1U);
    }
  }
}

TEST_F(LeaseTableTest, AnOwnerUnlocksItsOwnLeaseOnly) {
  lock("a", "one");
  const auto stranger = table.unlock("a", "two");
  ASSERT_FALSE(stranger);
  EXPECT_EQ(stranger.error().code, ErrorCode::not_held);
  EXPECT_TRUE(table.is_locked_by("a", "one"));
  EXPECT_TRUE(table.unlock("a", "one"));
  EXPECT_FALSE(table.is_locked_by("a", "one"));
  EXPECT_EQ(table.size(), 0U);
}

TEST_F(LeaseTableTest, UnlockingTwiceIsHarmlessAndReported) {
  lock("a", "one");
  EXPECT_TRUE(table.unlock("a"));
  EXPECT_EQ(table.unlock("a").error().code, ErrorCode::not_held);
  EXPECT_EQ(table.unlock("a", "one").error().code, ErrorCode::not_held);
}

TEST_F(LeaseTableTest, AnExpiredOwnerDoesNotUnlockItsSuccessor) {
  lock("a", "one", 1s);
  clock.advance(1s);
  lock("a", "two", 10s);
  EXPECT_FALSE(table.unlock("a", "one"));
  EXPECT_TRUE(table.is_locked_by("a", "two"));
}

TEST_F(LeaseTableTest, AnExpiredLeaseThatWasNotTakenOverCanStillBeUnlockedByItsOwner) {
  lock("a", "one", 1s);
  clock.advance(2s);
  EXPECT_TRUE(table.unlock("a", "one"));
  EXPECT_EQ(table.size(), 0U);
}

TEST_F(LeaseTableTest, UnlockingByTokenEndsThisVeryLease) {
  const base::FencingToken first(lock("a", "one", 1s));
  clock.advance(1s);
  const base::FencingToken second(lock("a", "one", 10s));
  EXPECT_EQ(table.unlock("a", first).error().code, ErrorCode::not_held);
  EXPECT_TRUE(table.is_locked_by("a", "one")) << "the same owner's later lease";
  EXPECT_TRUE(table.unlock("a", second));
  EXPECT_EQ(table.unlock("a", second).error().code, ErrorCode::not_held);
  EXPECT_EQ(table.unlock("b", second).error().code, ErrorCode::not_held);
  EXPECT_EQ(table.unlock("", second).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(table.size(), 0U);
}

TEST_F(LeaseTableTest, AnExpiredLeaseThatWasNotReplacedCanStillBeUnlockedByItsToken) {
  const base::FencingToken token(lock("a", "one", 1s));
  clock.advance(2s);
  EXPECT_TRUE(table.unlock("a", token));
  EXPECT_EQ(table.size(), 0U);
}

TEST_F(LeaseTableTest, RenewExtendsKeepsTheTokenAndNeverShortens) {
  const std::uint64_t token = lock("a", "one", 10s);
  clock.advance(5s);
  const auto renewed = table.renew("a", "one", 10s);
  ASSERT_TRUE(renewed);
  EXPECT_EQ(renewed->value(), token);
  EXPECT_EQ(table.time_left("a"), 10s);
  ASSERT_TRUE(table.renew("a", "one", 1s));
  EXPECT_EQ(table.time_left("a"), 10s);
}

TEST_F(LeaseTableTest, RenewRejectsALeaseThatIsLostOrAnothers) {
  EXPECT_EQ(table.renew("a", "one", 10s).error().code, ErrorCode::not_held);
  lock("a", "one", 10s);
  EXPECT_EQ(table.renew("a", "two", 10s).error().code, ErrorCode::not_held);
  clock.advance(10s);
  EXPECT_EQ(table.renew("a", "one", 10s).error().code, ErrorCode::not_held);
  EXPECT_TRUE(table.is_lock_expired("a"));
}

TEST_F(LeaseTableTest, AKeyWithoutALeaseCountsAsExpiredAsAfterASweep) {
  EXPECT_TRUE(table.is_lock_expired("a"));
  EXPECT_EQ(table.time_left("a"), std::nullopt);
  lock("a", "one", 1s);
  EXPECT_FALSE(table.is_lock_expired("a"));
  EXPECT_EQ(table.time_left("a"), 1s);
  clock.advance(1s);
  EXPECT_TRUE(table.is_lock_expired("a"));
  EXPECT_EQ(table.time_left("a"), std::nullopt);
}

TEST_F(LeaseTableTest, ASweepRemovesExpiredLeasesOnly) {
  for (int i = 0; i < 1000; ++i) {
    lock("short:" + std::to_string(i), "one", 1s);
    lock("long:" + std::to_string(i), "one", 1h);
  }
  clock.advance(1s);
  EXPECT_EQ(table.size(), 2000U);
  const SweepReport report = table.sweep_now();
  EXPECT_EQ(report.removed, 1000U);
  EXPECT_EQ(table.size(), 1000U);
  EXPECT_FALSE(table.is_lock_expired("long:999"));
  EXPECT_EQ(table.sweep_now().removed, 0U);
}

TEST_F(LeaseTableTest, ASweepReportsItsSlices) {
  for (int i = 0; i < 20'000; ++i) {
    lock("k" + std::to_string(i), "one", 1s);
  }
  clock.advance(1s);
  const SweepReport report = table.sweep_now();
  EXPECT_GT(report.slices, 128U);
  std::size_t counted = 0;
  for (const std::size_t times : report.slice_times) {
    counted += times;
  }
  EXPECT_EQ(counted, report.slices);
  EXPECT_LE(report.slice_quantile(0.5), report.slice_quantile(0.99));
  EXPECT_GT(report.longest_slice, 0ns);
}

TEST_F(LeaseTableTest, ALeaseTakenAfterItsPredecessorExpiredSurvivesTheSweep) {
  lock("a", "one", 1s);
  clock.advance(1s);
  lock("a", "two", 1s);
  EXPECT_EQ(table.sweep_now().removed, 0U);
  EXPECT_TRUE(table.is_locked_by("a", "two"));
}

TEST_F(LeaseTableTest, TheSnapshotHasKeyOwnerTokenAndTimeLeft) {
  const std::uint64_t token = lock("a", "one", 10s);
  const std::string long_key(1000, 'k');
  lock(long_key, "two", 1s);
  clock.advance(2s);
  auto leases = table.snapshot();
  std::ranges::sort(leases, {}, &LeaseInfo::key);
  ASSERT_EQ(leases.size(), 2U);
  EXPECT_EQ(leases[0], (LeaseInfo{"a", "one", base::FencingToken(token), 8s}));
  EXPECT_EQ(leases[1].key, long_key);
  EXPECT_EQ(leases[1].owner, "two");
  EXPECT_EQ(leases[1].time_left, -1s);
}

TEST_F(LeaseTableTest, BadArgumentsAreTypedErrorsAndChangeNothing) {
  const auto code = [](const auto& result) { return result.error().code; };
  for (const base::Ttl ttl : {base::Ttl(0s), base::Ttl(-1s), base::Ttl(std::chrono::hours::max()),
                              base::Ttl(std::chrono::nanoseconds::max() - 1ns)}) {
    clock.advance(1s);  // so that the last ttl ends beyond the end of time
    EXPECT_EQ(code(table.try_lock("a", "one", ttl)), ErrorCode::invalid_argument);
    EXPECT_EQ(code(table.renew("a", "one", ttl)), ErrorCode::invalid_argument);
  }
  EXPECT_EQ(code(table.try_lock("", "one", 1s)), ErrorCode::invalid_argument);
  EXPECT_EQ(code(table.try_lock("a", "", 1s)), ErrorCode::invalid_argument);
  EXPECT_EQ(code(table.renew("", "one", 1s)), ErrorCode::invalid_argument);
  EXPECT_EQ(code(table.renew("a", "", 1s)), ErrorCode::invalid_argument);
  EXPECT_EQ(code(table.unlock("")), ErrorCode::invalid_argument);
  EXPECT_EQ(code(table.unlock("", "one")), ErrorCode::invalid_argument);
  EXPECT_EQ(code(table.unlock("a", "")), ErrorCode::invalid_argument);
  EXPECT_FALSE(table.is_locked_by("", ""));
  EXPECT_EQ(table.size(), 0U);
}

TEST_F(LeaseTableTest, BadOptionsAreTypedErrors) {
  EXPECT_THROW(LeaseTable({.clock = nullptr}), base::Exception);
  EXPECT_THROW(LeaseTable({.clock = &clock, .sweep_every = -1s}), base::Exception);
}

TEST_F(LeaseTableTest, KeysAndOwnersOfAnyLengthAndBytesAreDistinguished) {
  std::set<std::string> keys;
  for (const std::size_t size : {1U, 7U, 8U, 15U, 16U, 49U, 50U, 51U, 255U, 256U, 100'000U}) {
    for (const char last : {'x', 'y', '\0', '\n', '\xff'}) {
      std::string key(size, 'k');
      key.back() = last;
      keys.insert(key);
    }
  }
  for (const std::string& key : keys) {
    ASSERT_NE(lock(key, "owner of " + key), 0U);
  }
  EXPECT_EQ(table.size(), keys.size());
  for (const std::string& key : keys) {
    ASSERT_TRUE(table.is_locked_by(key, "owner of " + key));
    ASSERT_FALSE(table.is_locked_by(key, "owner of " + key + "."));
    ASSERT_EQ(lock(key, "another"), 0U);
  }
  clock.advance(1h);
  for (const std::string& key : keys) {
    ASSERT_NE(lock(key, key), 0U);  // taken over, with a text of another size
    ASSERT_TRUE(table.unlock(key, key));
  }
  EXPECT_EQ(table.size(), 0U);
}

TEST_F(LeaseTableTest, ALeaseOnTheRealClockLastsAtLeastItsTtl) {
  const base::Clock& steady = base::steady_clock();
  LeaseTable real({.sweep_every = 0s});
  for (const base::Duration ttl : {base::Duration(1ms), base::Duration(2s)}) {
    const base::TimePoint before = steady.now();
    ASSERT_TRUE(real.try_lock("a", "one", ttl).value());
    const auto left = real.time_left("a");
    const base::TimePoint after = steady.now();
    ASSERT_TRUE(left || after >= before + ttl);
    if (left) {
      EXPECT_GE(*left, ttl - (after - before));
      EXPECT_LE(*left, ttl + steady.coarse_lag());
    }
    ASSERT_TRUE(real.unlock("a"));
  }
}

}  // namespace
}  // namespace holdfast::local
