// Claims that wait: which of them a release serves, and how it hears of that.

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include <tests/postgresql/postgres_test.h>

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;
using base::LeaseId;
using store::Busy;
using store::Claim;
using store::Grant;
using store::LeaseStore;
using store::Permits;
using store::ReleaseOutcome;

// Longer than a lease lasts that is not confirmed, shorter than those of the tests.
constexpr base::Duration kShort = 10s;

// A store with a claim that waits.
struct Claimant {
  Claimant(std::unique_ptr<LeaseStore> opened, std::string_view job, Permits permits = {})
      : store(std::move(opened)), name(job), claim(wish(permits)) {
    claim.waits = true;
    watch = base::value_or_throw(store->watch(name, [this](const store::Notice& notice) {
      if (notice.granted == claim.id) {
        granted = true;
      }
      ++calls;
    }));
    const auto busy = expect<Busy>(ask());
    EXPECT_EQ(busy.pending, permits == Permits::mutex());
  }
  [[nodiscard]] base::Result<store::ClaimOutcome> ask() const { return store->claim(name, claim); }
  [[nodiscard]] bool is_told() const {
    return eventually([&] { return calls.load() > 0; });
  }

  std::atomic<int> calls = 0;
  std::atomic<bool> granted = false;
  std::unique_ptr<LeaseStore> store;
  const std::string name;
  Claim claim;
  store::Watch watch;
};

class Queue : public PostgresTest {
 protected:
  Queue() { first_token_ = expect<Grant>(store_->claim("job", first_)).token; }

  std::unique_ptr<Claimant> claimant(std::string_view name = "job", Permits permits = {}) {
    return std::make_unique<Claimant>(another_store(), name, permits);
  }

  const Claim first_ = wish();
  base::FencingToken first_token_{0};
};

TEST_F(Queue, AReleaseGrantsTheNameToTheFirstWaiterAndNotifiesItAlone) {
  const auto waiting = claimant();
  const auto second = claimant();
  EXPECT_EQ(release("job", first_.id), ReleaseOutcome::released);
  const auto all = holders("job");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].id, waiting->claim.id);
  EXPECT_EQ(all[0].owner, waiting->claim.owner);
  EXPECT_EQ(all[0].reason, waiting->claim.reason);
  EXPECT_GT(all[0].token, first_token_);
  EXPECT_LT(all[0].time_left, kShort);
  expect<Grant>(
      waiting->ask());  // so that the grant does not lapse, and go to the second, on a slow machine
  EXPECT_TRUE(waiting->is_told());
  EXPECT_TRUE(waiting->granted);
  EXPECT_EQ(second->calls, 0);
  EXPECT_EQ(in_queue(), 1);
}

TEST_F(Queue, AWaiterConfirmsItsGrantAndHasAWholeLease) {
  const auto waiting = claimant();
  release("job", first_.id);
  const auto before = holders("job");
  const auto grant = expect<Grant>(waiting->ask());
  EXPECT_EQ(grant.token, before.at(0).token);
  EXPECT_GT(grant.time_left, kShort);
  EXPECT_GT(holders("job").at(0).time_left, kShort);
  EXPECT_EQ(release("job", waiting->claim.id), ReleaseOutcome::released);
  EXPECT_EQ(holder("job"), LeaseId());
}

TEST_F(Queue, APositionCountsTheWaitersBefore) {
  const auto waiting = claimant();
  const auto second = claimant();
  EXPECT_EQ(expect<Busy>(waiting->ask()).position, 1U);
  EXPECT_EQ(expect<Busy>(second->ask()).position, 2U);
  EXPECT_EQ(in_queue(), 2);
}

TEST_F(Queue, AWaiterWhoseStoreHasEndedIsPassedOver) {
  {
    const auto gone = claimant();
  }
  const auto next = claimant();
  // The server may not have noticed yet that the connection has ended.
  ASSERT_TRUE(eventually([&] {
    return ask("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted AND "
               "database = (SELECT oid FROM pg_database WHERE datname = 'postgres')") == "1";
  }));
  release("job", first_.id);
  EXPECT_EQ(holder("job"), next->claim.id);
  EXPECT_TRUE(next->is_told());
}

TEST_F(Queue, AGrantThatIsNotConfirmedKeepsTheNameForSecondsOnly) {
  const auto silent = claimant();
  release("job", first_.id);
  ASSERT_EQ(holder("job"), silent->claim.id);
  const Claim next = wish();
  EXPECT_TRUE(eventually([&] {
    return std::holds_alternative<Grant>(base::value_or_throw(store_->claim("job", next)));
  }));
}

TEST_F(Queue, AWaiterThatGivesUpIsNotGranted) {
  const auto waiting = claimant();
  const auto next = claimant();
  EXPECT_EQ(release("job", waiting->claim.id), ReleaseOutcome::not_held);
  EXPECT_EQ(in_queue(), 1);
  release("job", first_.id);
  EXPECT_EQ(holder("job"), next->claim.id);
}

TEST_F(Queue, AGrantThatIsNotWantedGoesToTheNext) {
  const auto unwilling = claimant();
  const auto next = claimant();
  release("job", first_.id);
  ASSERT_EQ(holder("job"), unwilling->claim.id);
  EXPECT_EQ(release("job", unwilling->claim.id), ReleaseOutcome::released);
  EXPECT_EQ(holder("job"), next->claim.id);
}

TEST_F(Queue, AFreeNameGoesToTheFirstWaiterAndNotToANewcomer) {
  Claim brief = wish();
  brief.ttl = 200ms;
  expect<Grant>(store_->claim("brief", brief));
  const auto waiting = claimant("brief");
  EXPECT_TRUE(eventually([&] {
    const auto busy = store_->claim("brief", wish());
    return std::holds_alternative<Busy>(base::value_or_throw(busy)) &&
           holder("brief") == waiting->claim.id;
  }));
  EXPECT_TRUE(waiting->is_told());
}

TEST_F(Queue, AClaimThatIsHandedTheNameLeavesTheQueue) {
  const auto waiting = claimant();
  expect<Grant>(store_->transfer("job", first_.id, waiting->claim));
  EXPECT_EQ(in_queue(), 0);
  EXPECT_EQ(release("job", waiting->claim.id), ReleaseOutcome::released);
  EXPECT_EQ(holder("job"), LeaseId());
}

TEST_F(Queue, AnUncontendedReleaseNotifiesNobody) {
  const auto elsewhere = claimant();
  const Claim other = wish();
  expect<Grant>(store_->claim("other", other));
  release("other", other.id);
  release("job", first_.id);
  EXPECT_TRUE(elsewhere->is_told());
  EXPECT_EQ(elsewhere->calls, 1);
}

TEST_F(Queue, AReleaseOfPermitsWakesOneStore) {
  const Claim held = wish(Permits::of(1, 1 + 1));
  const Claim also = wish(Permits::of(1, 1 + 1));
  expect<Grant>(store_->claim("pool", held));
  expect<Grant>(store_->claim("pool", also));
  const auto waiting = claimant("pool", Permits::of(1, 2));
  const auto second = claimant("pool", Permits::of(1, 2));
  release("pool", held.id);
  EXPECT_TRUE(waiting->is_told());
  EXPECT_EQ(second->calls, 0);
  expect<Grant>(waiting->ask());
  release("pool", also.id);
  EXPECT_TRUE(second->is_told());
}

TEST_F(Queue, AHintThatNobodyWantsGoesToTheNextStore) {
  const Claim held = wish(Permits::writer());
  expect<Grant>(store_->claim("page", held));
  const auto gave_up = claimant("page", Permits::reader());
  const auto next = claimant("page", Permits::reader());
  gave_up->watch.reset();
  release("page", held.id);
  EXPECT_TRUE(next->is_told());
}

TEST_F(Queue, AWriterThatHoldsBackReadersIsWokenBeforeThem) {
  const Claim reader = wish(Permits::reader());
  expect<Grant>(store_->claim("page", reader));
  Claim writer = wish(Permits::writer());
  writer.holds_back = 10min;
  writer.waits = true;
  std::atomic<int> told = 0;
  const auto writers_store = another_store();
  const auto watch =
      base::value_or_throw(writers_store->watch("page", [&](const auto&) { ++told; }));
  const int before = told;
  expect<Busy>(writers_store->claim("page", writer));
  const auto held_back = claimant("page", Permits::reader());
  const int before_release = held_back->calls;
  release("page", reader.id);
  EXPECT_TRUE(eventually([&] { return told > before; }));
  EXPECT_EQ(held_back->calls, before_release);
  expect<Grant>(writers_store->claim("page", writer));
}

TEST_F(Queue, AListenerThatWasCutOffListensAgainAndLooks) {
  const auto waiting = claimant();
  change("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'");
  EXPECT_TRUE(waiting->is_told());  // not of a grant, but that something may have been missed
  expect<Busy>(waiting->ask());
  EXPECT_TRUE(eventually([&] { return expect<Busy>(waiting->ask()).position == 1; }));
  release("job", first_.id);
  EXPECT_TRUE(eventually([&] { return waiting->granted.load(); }));
}

TEST_F(Queue, AForgedGrantIsNotBelieved) {
  const auto waiting = claimant();
  change(
      "SELECT pg_notify(substring(query FROM 'holdfast_[0-9a-f]+'), 'nonsense') FROM "
      "pg_stat_activity WHERE query LIKE 'LISTEN%'");
  expect<Busy>(waiting->ask());
  EXPECT_EQ(holder("job"), first_.id);
}

TEST_F(Queue, ManyStoresTakeTurns) {
  constexpr int kStores = 6;
  constexpr int kRounds = 20;
  std::atomic<int> inside = 0;
  std::atomic<int> done = 0;
  release("job", first_.id);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kStores; ++i) {
      threads.emplace_back([&, store = std::shared_ptr(another_store())] {
        for (int round = 0; round < kRounds; ++round) {
          std::atomic<int> calls = 0;
          Claim claim = wish();
          claim.waits = true;
          const auto watch =
              base::value_or_throw(store->watch("job", [&](const auto&) { ++calls; }));
          while (std::holds_alternative<Busy>(base::value_or_throw(store->claim("job", claim)))) {
            const int seen = calls;
            const auto until = std::chrono::steady_clock::now() + 500ms;
            while (calls == seen && std::chrono::steady_clock::now() < until) {
              std::this_thread::sleep_for(200us);
            }
          }
          EXPECT_EQ(++inside, 1);
          --inside;
          ++done;
          EXPECT_EQ(base::value_or_throw(store->release("job", claim.id)),
                    ReleaseOutcome::released);
        }
      });
    }
  }
  EXPECT_EQ(done, kStores * kRounds);
  EXPECT_EQ(in_queue(), 0);
  EXPECT_EQ(holder("job"), LeaseId());
}

}  // namespace
}  // namespace holdfast::tests
