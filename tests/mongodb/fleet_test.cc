#include <algorithm>
#include <array>
#include <atomic>
#include <future>
#include <thread>

#include <tests/mongodb/fleet_member.h>
#include <tests/mongodb/mongo_test.h>

#include <holdfast/locks/lock_provider.h>

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;
using base::ErrorCode;
using store::Busy;
using store::Claim;
using store::Grant;
using store::Permits;
using store::ReleaseOutcome;
using store::RenewOutcome;

constexpr std::int64_t kLong = 600'000;

class Fleet : public MongoTest {
 protected:
  FleetMember member() { return {server_.url(), server_.database()}; }
};

TEST_F(Fleet, ItsLockExcludesUsAndShowsAsForeign) {
  FleetMember other = member();
  const auto token = other.try_acquire("job", kLong);
  ASSERT_TRUE(token);
  const Busy busy = expect<Busy>(store_->claim("job", wish()));
  ASSERT_EQ(busy.holders.size(), 1U);
  EXPECT_TRUE(busy.holders[0].foreign);
  EXPECT_EQ(busy.holders[0].owner.size(), 32U);
  EXPECT_EQ(busy.holders[0].token.value(), static_cast<std::uint64_t>(*token));
  EXPECT_LE(busy.frees_in, 10min);
  EXPECT_GT(busy.frees_in, 0s);
  EXPECT_TRUE(base::value_or_throw(store_->list("")).names.at(0).holders.at(0).foreign);
}

TEST_F(Fleet, ItsLockIsNeverChanged) {
  FleetMember other = member();
  ASSERT_TRUE(other.try_acquire("job", kLong));
  const std::string before = document("job");
  const auto id = base::LeaseId::generate();
  expect<Busy>(store_->claim("job", wish()));
  EXPECT_EQ(renew("job", id), RenewOutcome::lost);
  EXPECT_EQ(release("job", id), ReleaseOutcome::not_held);
  expect<store::Lost>(store_->transfer("job", id, wish()));
  EXPECT_EQ(store_->claim("job", wish(Permits::of(1, 2))).error().code, ErrorCode::conflict);
  EXPECT_EQ(store_->hit("job", {.limit = 1, .period = 1min}).error().code, ErrorCode::conflict);
  EXPECT_EQ(document("job"), before);
  EXPECT_TRUE(other.release("job"));
  expect<Grant>(store_->claim("job", wish()));
}

TEST_F(Fleet, OurLockExcludesIt) {
  FleetMember other = member();
  const Claim claim = wish();
  const Grant ours = expect<Grant>(store_->claim("job", claim));
  EXPECT_FALSE(other.try_acquire("job", kLong));
  EXPECT_EQ(holders("job").at(0).id, claim.id);
  release("job", claim.id);
  const auto theirs = other.try_acquire("job", kLong);
  ASSERT_TRUE(theirs);
  EXPECT_GT(static_cast<std::uint64_t>(*theirs), ours.token.value());
}

TEST_F(Fleet, SoDoOurPermitsAndOurHits) {
  FleetMember other = member();
  const Claim claim = wish(Permits::of(1, 2));
  expect<Grant>(store_->claim("pool", claim));
  EXPECT_FALSE(other.try_acquire("pool", kLong));
  release("pool", claim.id);
  EXPECT_TRUE(other.try_acquire("pool", kLong));
  ASSERT_TRUE(store_->hit("calls", {.limit = 1, .period = 1min}));
  EXPECT_FALSE(other.try_acquire("calls", kLong));
}

TEST_F(Fleet, WhatItTakesAfterOurLeaseHasEndedIsItsOwn) {
  FleetMember other = member();
  const Claim pool = wish(Permits::of(1, 2), 100ms);
  expect<Grant>(store_->claim("pool", pool));
  ASSERT_TRUE(eventually([&] { return other.try_acquire("pool", kLong).has_value(); }));
  EXPECT_EQ(renew("pool", pool.id), RenewOutcome::lost);
  EXPECT_EQ(release("pool", pool.id), ReleaseOutcome::not_held);
  EXPECT_TRUE(holders("pool").at(0).foreign);
  EXPECT_EQ(store_->claim("pool", wish(Permits::of(1, 2))).error().code, ErrorCode::conflict);
  EXPECT_TRUE(other.extend("pool", kLong));
  EXPECT_TRUE(other.release("pool"));
}

// The token of its next lock is 1; ours are greater than all before.
TEST_F(Fleet, ItsDeletedDocumentDoesNotSetOurTokensBack) {
  FleetMember other = member();
  const Claim claim = wish();
  const Grant before = expect<Grant>(store_->claim("job", claim));
  release("job", claim.id);
  ASSERT_TRUE(other.try_acquire("job", kLong));
  ASSERT_TRUE(other.release("job"));
  EXPECT_EQ(other.try_acquire("job", kLong), 1);
  ASSERT_TRUE(other.release("job"));
  // The server's clock goes on by a millisecond at least.
  expect<Grant>(store_->claim("other", wish({}, 100ms)));
  ASSERT_TRUE(eventually([&] { return holders("other").empty(); }));
  EXPECT_GT(expect<Grant>(store_->claim("job", wish())).token, before.token);
}

TEST_F(Fleet, AWaiterOfOursGetsTheNameWhenItsLockIsReleased) {
  FleetMember other = member();
  ASSERT_TRUE(other.try_acquire("job", kLong));
  locks::LockProvider provider(store_on(server_));
  auto waiting = std::async(std::launch::async, [&] { return provider.acquire("job").token(); });
  ASSERT_TRUE(eventually([&] { return provider.waiting() == 1; }));
  EXPECT_TRUE(other.release("job"));
  EXPECT_GT(waiting.get().value(), 1U);
}

// Both add to numbers that nothing but the locks protects.
TEST_F(Fleet, NeverAreBothInside) {
  constexpr int kNames = 2;
  constexpr int kMembers = 2;
  constexpr int kThreads = 3;
  constexpr int kRounds = 40;
  struct Counted {
    std::atomic<int> inside = 0;
    std::atomic<int> most = 0;
    int number = 0;  // guarded by the lock
  };
  std::array<Counted, kNames> counted;
  const auto work = [&](std::size_t name) {
    Counted& here = counted.at(name);
    here.most = std::max(here.most.load(), ++here.inside);
    const int before = here.number;
    std::this_thread::yield();
    here.number = before + 1;
    --here.inside;
  };
  {
    locks::LockProvider provider(store_on(server_), {.poll_least = 1ms, .poll_most = 5ms});
    std::vector<std::jthread> threads;
    for (int i = 0; i < kMembers; ++i) {
      threads.emplace_back([&] {
        FleetMember other = member();
        for (int round = 0; round < kRounds; ++round) {
          const auto name = static_cast<std::size_t>(round % kNames);
          while (!other.try_acquire("job" + std::to_string(name), kLong)) {
            std::this_thread::sleep_for(1ms);
          }
          work(name);
          EXPECT_TRUE(other.release("job" + std::to_string(name)));
        }
      });
    }
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        for (int round = 0; round < kRounds; ++round) {
          const auto name = static_cast<std::size_t>(round % kNames);
          const auto lock = provider.acquire("job" + std::to_string(name), {.ttl = 10min});
          work(name);
        }
      });
    }
  }
  int all = 0;
  for (const Counted& each : counted) {
    EXPECT_EQ(each.most, 1);
    all += each.number;
  }
  EXPECT_EQ(all, (kMembers + kThreads) * kRounds);
}

}  // namespace
}  // namespace holdfast::tests
