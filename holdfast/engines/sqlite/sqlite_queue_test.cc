// The queue of the claims that wait for a mutex: which of them is granted the name, and which is
// not.
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <memory>
#include <mutex>
#include <string>

#include <gtest/gtest.h>
#include <tests/recipes/processes.h>

#include <holdfast/engines/sqlite/internal/watchers.h>
#include <holdfast/engines/sqlite/sqlite_store.h>
#include <holdfast/engines/sqlite/testing_support.h>

namespace holdfast::engines::sqlite {
namespace {

using namespace std::chrono_literals;
using base::LeaseId;
using store::Busy;
using store::Grant;
using store::ReleaseOutcome;
using testing::take;
using tests::eventually;

template <class Outcome>
Outcome expect(const base::Result<store::ClaimOutcome>& outcome) {
  EXPECT_TRUE(outcome.has_value()) << to_string(outcome.error());
  const auto* const as_expected = outcome ? std::get_if<Outcome>(&*outcome) : nullptr;
  EXPECT_NE(as_expected, nullptr);
  return as_expected != nullptr ? *as_expected : Outcome{};
}
template <>
Grant expect<Grant>(const base::Result<store::ClaimOutcome>& outcome) {
  EXPECT_TRUE(outcome.has_value()) << to_string(outcome.error());
  const auto* const grant = outcome ? std::get_if<Grant>(&*outcome) : nullptr;
  EXPECT_NE(grant, nullptr);
  return grant != nullptr ? *grant : Grant{.token = base::FencingToken(0), .time_left = {}};
}

// A waiter for "a" with a store of its own, as in another process.
class Waiter {
 public:
  explicit Waiter(const SqliteOptions& options) : store_(testing::open(options)) {
    claim_.waits = true;
    watch_ = *store_->watch("a", [this](const store::Notice& notice) {
      const std::lock_guard guard(mutex_);
      granted_ |= notice.granted == claim_.id;
      told_.notify_all();
    });
  }

  base::Result<store::ClaimOutcome> ask() { return store_->claim("a", claim_); }
  base::Result<store::ClaimOutcome> ask_for_the_last_time() {
    store::Claim claim = claim_;
    claim.waits = false;
    return store_->claim("a", claim);
  }
  void join() { EXPECT_TRUE(expect<Busy>(ask()).pending); }
  [[nodiscard]] bool is_granted() {
    std::unique_lock lock(mutex_);
    return told_.wait_for(lock, tests::kPatience, [&] { return granted_; });
  }
  auto give_up() { return store_->release("a", claim_.id); }
  SqliteStore& store() { return *store_; }
  [[nodiscard]] const LeaseId& id() const { return claim_.id; }

 private:
  store::Claim claim_ = testing::claim_of(LeaseId::generate(), 10s);
  std::mutex mutex_;
  std::condition_variable told_;
  bool granted_ = false;  // protected by mutex_
  std::shared_ptr<SqliteStore> store_;
  store::Watch watch_;
};

class SqliteQueueTest : public ::testing::Test {
 protected:
  [[nodiscard]] LeaseId holder() { return (*store_->look("a"))->holders.front().id; }
  void release() { EXPECT_EQ(store_->release("a", id_), ReleaseOutcome::released); }
  void hold() { take(*store_, "a", id_, 1h); }

  testing::Folder folder_;
  base::ManualClock clock_;
  const SqliteOptions options_{.file = folder_ / "locks.db", .machine = {.clock = &clock_}};
  const std::shared_ptr<SqliteStore> store_ = testing::open(options_);
  const LeaseId id_ = LeaseId::generate();
};

TEST_F(SqliteQueueTest, AReleaseGrantsTheNameToTheClaimThatHasWaitedLongestAndToNoOther) {
  hold();
  Waiter first(options_);
  Waiter second(options_);
  first.join();
  second.join();
  first.join();  // keeps its position
  release();
  EXPECT_TRUE(first.is_granted());
  EXPECT_EQ(holder(), first.id());
  EXPECT_TRUE(expect<Busy>(second.ask()).pending);
  EXPECT_EQ(first.give_up(), ReleaseOutcome::released);
  EXPECT_TRUE(second.is_granted());
}

TEST_F(SqliteQueueTest, TheWaiterConfirmsItsGrantAndThenHasTheSameTokenAndTheWholeTime) {
  hold();
  Waiter waiter(options_);
  waiter.join();
  release();
  const auto state = *store_->look("a");
  EXPECT_EQ(state->holders.front().owner, "tester");
  EXPECT_EQ(state->holders.front().reason, "a test");
  EXPECT_LE(state->holders.front().time_left, 2s);
  const Grant grant = expect<Grant>(waiter.ask());
  EXPECT_EQ(grant.token, state->holders.front().token);
  EXPECT_EQ(grant.time_left, 10s);
}

TEST_F(SqliteQueueTest, AClaimDoesNotPassAWaiter) {
  take(*store_, "a", id_, 5s);
  Waiter waiter(options_);
  waiter.join();
  clock_.advance(5s);  // the lease has expired, and nobody has released it
  expect<Busy>(store_->claim("a", testing::claim_of(LeaseId::generate())));
  EXPECT_TRUE(waiter.is_granted());
  EXPECT_EQ(holder(), waiter.id());
}

TEST_F(SqliteQueueTest, TheFirstWaiterTakesAnExpiredNameItself) {
  take(*store_, "a", id_, 5s);
  Waiter waiter(options_);
  waiter.join();
  clock_.advance(5s);
  EXPECT_EQ(expect<Grant>(waiter.ask()).time_left, 10s);
  EXPECT_EQ(waiter.give_up(), ReleaseOutcome::released);
  EXPECT_FALSE(testing::is_held(*store_, "a"));
}

TEST_F(SqliteQueueTest, AGrantThatNobodyConfirmsEndsAfterTwoSecondsAndTheNextWaiterHasItsTurn) {
  hold();
  Waiter silent(options_);
  Waiter next(options_);
  silent.join();
  next.join();
  release();
  clock_.advance(1999ms);
  EXPECT_TRUE(expect<Busy>(next.ask()).pending);
  clock_.advance(1ms);
  expect<Grant>(next.ask());
}

TEST_F(SqliteQueueTest, AClaimThatDoesNotWaitAnyMoreLeavesTheQueue) {
  hold();
  Waiter waiter(options_);
  waiter.join();
  EXPECT_FALSE(expect<Busy>(waiter.ask_for_the_last_time()).pending);
  release();
  EXPECT_FALSE(testing::is_held(*store_, "a"));
}

TEST_F(SqliteQueueTest, AWaiterThatGivesUpLeavesTheQueue) {
  hold();
  Waiter first(options_);
  Waiter second(options_);
  first.join();
  second.join();
  EXPECT_EQ(first.give_up(), ReleaseOutcome::not_held);
  release();
  EXPECT_EQ(holder(), second.id());
}

TEST_F(SqliteQueueTest, AWaiterThatGivesUpItsGrantPassesItOn) {
  hold();
  Waiter first(options_);
  Waiter second(options_);
  first.join();
  second.join();
  release();
  EXPECT_EQ(first.give_up(), ReleaseOutcome::released);
  EXPECT_TRUE(second.is_granted());
  EXPECT_EQ(holder(), second.id());
}

TEST_F(SqliteQueueTest, AWaiterToWhichTheNameWasHandedOverLeavesTheQueue) {
  hold();
  auto claim = testing::claim_of(LeaseId::generate());
  claim.waits = true;
  EXPECT_TRUE(expect<Busy>(store_->claim("a", claim)).pending);
  ASSERT_TRUE(store_->transfer("a", id_, claim));
  EXPECT_EQ(store_->release("a", claim.id), ReleaseOutcome::released);
  EXPECT_FALSE(testing::is_held(*store_, "a"));
}

TEST_F(SqliteQueueTest, WaitersWhoseStoresAreClosedAreSkipped) {
  hold();
  for (int i = 0; i < 70; ++i) {
    Waiter(options_).join();
  }
  Waiter live(options_);
  live.join();
  release();
  EXPECT_TRUE(live.is_granted());
  EXPECT_EQ(holder(), live.id());
}

TEST_F(SqliteQueueTest, AWaiterThatWasNotHeardOfForAMinuteIsForgotten) {
  hold();
  Waiter silent(options_);
  Waiter waiter(options_);
  silent.join();
  clock_.advance(20s);
  waiter.join();
  clock_.advance(31s);
  waiter.join();  // again: it is there
  clock_.advance(9s);
  release();
  EXPECT_EQ(holder(), waiter.id());
}

TEST_F(SqliteQueueTest, OnlyAMutexHasAQueue) {
  auto reader = testing::claim_of(id_);
  reader.permits = store::Permits::reader();
  expect<Grant>(store_->claim("a", reader));
  auto writer = testing::claim_of(LeaseId::generate());
  writer.permits = store::Permits::writer();
  writer.waits = true;
  EXPECT_FALSE(expect<Busy>(store_->claim("a", writer)).pending);
  release();
  EXPECT_FALSE(testing::is_held(*store_, "a"));
}

TEST_F(SqliteQueueTest, AnotherWatchOfTheProcessThatReleasesIsHintedSoThatItsWaiterCanJoin) {
  hold();
  Waiter elsewhere(options_);
  elsewhere.join();
  int hints = 0;
  const auto watch =
      store_->watch("a", [&](const auto& notice) { hints += notice.granted ? 0 : 1; });
  release();
  EXPECT_TRUE(elsewhere.is_granted());
  EXPECT_EQ(hints, 1);
}

TEST_F(SqliteQueueTest, AWaiterLearnsItsPosition) {
  hold();
  Waiter first(options_);
  Waiter second(options_);
  EXPECT_EQ(expect<Busy>(first.ask()).position, 1U);
  EXPECT_EQ(expect<Busy>(second.ask()).position, 2U);
  EXPECT_EQ(expect<Busy>(second.ask()).position, 2U);
  EXPECT_EQ(first.give_up(), ReleaseOutcome::not_held);
  EXPECT_EQ(expect<Busy>(second.ask()).position, 1U);
}

TEST_F(SqliteQueueTest, TheDeadDoNotCountInAPosition) {
  hold();
  Waiter first(options_);
  first.join();
  Waiter(options_).join();  // closed at once
  Waiter live(options_);
  EXPECT_EQ(expect<Busy>(live.ask()).position, 2U);
  clock_.advance(30s);
  EXPECT_EQ(expect<Busy>(live.ask()).position, 2U);
  clock_.advance(31s);
  EXPECT_EQ(expect<Busy>(live.ask()).position, 1U) << "the first was not heard of for a minute";
}

TEST_F(SqliteQueueTest, AWaiterThatCannotBeNotifiedLearnsNoPosition) {
  hold();
  auto claim = testing::claim_of(LeaseId::generate());
  claim.waits = true;
  EXPECT_EQ(expect<Busy>(store_->claim("a", claim)).position, 0U) << "it does not watch";
  {
    const auto watch = store_->watch("a", [](const auto&) {});
    EXPECT_EQ(expect<Busy>(store_->claim("a", claim)).position, 1U);
    std::filesystem::resize_file(folder_ / "locks.db-wake", 0);
    EXPECT_EQ(expect<Busy>(store_->claim("a", claim)).position, 0U);
    std::filesystem::resize_file(folder_ / "locks.db-wake", 4096);
    EXPECT_EQ(expect<Busy>(store_->claim("a", claim)).position, 1U);
    std::filesystem::remove(folder_ / "locks.db-wake");
    EXPECT_EQ(expect<Busy>(store_->claim("a", claim)).position, 0U);
  }
}

TEST_F(SqliteQueueTest, AWaiterIsHintedWhenTheWakeFileIsLost) {
  testing::write(folder_ / "db", "");
  internal::Watchers watchers(*internal::WakeBoard::open(folder_ / "db"), {});
  std::atomic<int> hints = 0;
  const auto watch =
      watchers.add("a", [&](const auto& notice) { hints += notice.granted ? 0 : 1; });
  watchers.set_queued("a", id_, internal::Watchers::Queued::yes);
  std::filesystem::remove(folder_ / "db-wake");
  EXPECT_TRUE(eventually([&] { return hints > 0; }));
}

TEST_F(SqliteQueueTest, WithoutTheWakeFileAGrantLastsUntilAWaiterThatPollsEveryFewSecondsAsks) {
  std::filesystem::remove(folder_ / "locks.db-wake");
  std::filesystem::create_directory(folder_ / "locks.db-wake");
  hold();
  Waiter waiter(options_);
  waiter.join();
  release();
  clock_.advance(4s);
  expect<Busy>(store_->claim("a", testing::claim_of(LeaseId::generate())));
  expect<Grant>(waiter.ask());
}

TEST_F(SqliteQueueTest, WithoutTheWakeFileWaitersStillHaveTheirTurn) {
  std::filesystem::remove(folder_ / "locks.db-wake");
  std::filesystem::create_directory(folder_ / "locks.db-wake");
  hold();
  Waiter waiter(options_);
  EXPECT_FALSE(waiter.store().capabilities().push);
  waiter.join();
  release();
  expect<Busy>(store_->claim("a", testing::claim_of(LeaseId::generate())));
  expect<Grant>(waiter.ask());
}

TEST_F(SqliteQueueTest, AFileThatWasMadeBeforeThereWereQueuesGetsThem) {
  const auto file = folder_ / "old.db";
  testing::open({.file = file}).reset();
  testing::Stranger(file).run("DROP TABLE queue");
  const SqliteOptions options{.file = file};
  const auto store = testing::open(options);
  take(*store, "a", id_);
  Waiter waiter(options);
  waiter.join();
  EXPECT_EQ(store->release("a", id_), ReleaseOutcome::released);
  EXPECT_TRUE(waiter.is_granted());
}

TEST_F(SqliteQueueTest, NoWaiterSurvivesABoot) {
  hold();
  Waiter waiter(options_);
  waiter.join();
  SqliteOptions later = options_;
  later.machine.boot_id = "the next one";
  const auto store = testing::open(later);
  testing::use(*store, "a");
  EXPECT_EQ(testing::Stranger(later.file).ask("SELECT count(*) FROM queue"), "0");
}

TEST_F(SqliteQueueTest, WhatDeadWaitersLeftIsForgottenWithTheName) {
  take(*store_, "a", id_, 5s);
  Waiter(options_).join();
  clock_.advance(24h);
  ASSERT_TRUE(store_->sweep_now());
  EXPECT_EQ(testing::Stranger(options_.file).ask("SELECT count(*) FROM queue"), "0");
}

// The slot of a name has room for one grant.
TEST_F(SqliteQueueTest, AGrantThatALaterOneOverwritesStillReachesItsWaiter) {
  testing::write(folder_ / "db", "");
  const auto other = *internal::WakeBoard::open(folder_ / "db");
  internal::Watchers watchers(*internal::WakeBoard::open(folder_ / "db"), {});
  std::atomic<int> calls = 0;
  const auto watch = watchers.add("a", [&](const auto&) { ++calls; });
  watchers.set_queued("a", id_, internal::Watchers::Queued::yes);
  const auto slot = internal::WakeBoard::slot_of("a");
  for (int i = 0; i < 200; ++i) {
    const int before = calls;
    other->grant(slot, watchers.address(), id_);
    other->grant(slot, other->address(), LeaseId::generate());
    ASSERT_TRUE(eventually([&] { return calls > before; }));
  }
}

TEST(SqliteQueueProcessTest, AKilledWaiterIsSkipped) {
  const testing::Folder folder;
  const SqliteOptions options{.file = folder / "locks.db"};
  const LeaseId id = LeaseId::generate();
  const int failed = testing::in_child([&] {
    // A grandchild, so that the other processes of the test have no store open when it is forked.
    const auto dies_waiting = [&] {
      const auto store = base::value_or_throw(open_store(options));
      auto claim = testing::claim_of(LeaseId::generate());
      claim.waits = true;
      (void)store->claim("a", claim);
      raise(SIGKILL);
      return 0;
    };
    {
      const auto store = base::value_or_throw(open_store(options));
      take(*store, "a", id, 1h);
    }
    return testing::in_child(dies_waiting) == -1 ? 0 : 1;
  });
  EXPECT_EQ(failed, 0);
  const auto store = testing::open(options);
  Waiter live(options);
  live.join();
  EXPECT_EQ(testing::Stranger(options.file).ask("SELECT count(*) FROM queue"), "2");
  EXPECT_EQ(store->release("a", id), ReleaseOutcome::released);
  EXPECT_TRUE(live.is_granted());
  EXPECT_EQ((*store->look("a"))->holders.front().id, live.id());
}

}  // namespace
}  // namespace holdfast::engines::sqlite
