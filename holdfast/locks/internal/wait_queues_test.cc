#include <holdfast/locks/internal/wait_queues.h>

#include <deque>
#include <optional>

#include <gtest/gtest.h>

namespace holdfast::locks::internal {
namespace {

using namespace std::chrono_literals;

struct Count final : steps::Waker {
  void wake() noexcept override { ++wakes; }
  int wakes = 0;
};

// A waiter, and how often it was woken.
struct Caller {
  Count count;
  Waiter waiter{.claim = {.id = base::LeaseId::generate(), .owner = "me", .reason = {}, .ttl = 1s},
                .waker = count};
};

class WaitQueuesTest : public ::testing::Test {
 protected:
  // Callers that wait for "job", the first to come first, in a queue that watches it.
  std::deque<Caller>& join(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_TRUE(queues_.join("job", callers_.emplace_back().waiter));
    }
    queues_.watch("job", [this](store::WatchCallback callback) {
      notify_ = std::move(callback);
      return store::Watch();
    });
    return callers_;
  }
  void leave(Caller& caller) {
    std::optional<Granted> handed_over;
    ASSERT_TRUE(queues_.leave("job", caller.waiter, handed_over));
  }

  WaitQueues queues_{10, 1'000'000};
  std::deque<Caller> callers_;
  store::WatchCallback notify_;
};

TEST_F(WaitQueuesTest, AHintGoesToTheFirstInTheQueue) {
  auto& callers = join(3);
  notify_({});
  EXPECT_EQ(callers[0].count.wakes, 1);
  EXPECT_EQ(callers[1].count.wakes + callers[2].count.wakes, 0);
  EXPECT_FALSE(queues_.standing(callers[0].waiter).granted);
}

TEST_F(WaitQueuesTest, AGrantGoesToTheWaiterWhoseClaimItNamesWhereverItIs) {
  auto& callers = join(5);
  notify_({.granted = callers[3].waiter.claim.id});
  for (std::size_t i = 0; i < callers.size(); ++i) {
    EXPECT_EQ(callers[i].count.wakes, i == 3 ? 1 : 0) << i;
    EXPECT_EQ(queues_.standing(callers[i].waiter).granted, i == 3) << i;
  }
  EXPECT_FALSE(queues_.begin_claim(callers[3].waiter)) << "it is not the first";
  EXPECT_FALSE(queues_.standing(callers[3].waiter).granted) << "it has claimed since";
}

TEST_F(WaitQueuesTest, AGrantForAnotherProcessWakesNobodyHere) {
  auto& callers = join(2);
  const base::LeaseId left = callers[0].waiter.claim.id;
  leave(callers[0]);
  callers[1].count.wakes = 0;
  notify_({.granted = left});
  notify_({.granted = base::LeaseId::generate()});
  EXPECT_EQ(callers[0].count.wakes + callers[1].count.wakes, 0);
}

TEST_F(WaitQueuesTest, OnlyTheFirstInAQueueWaitsInTheStore) {
  auto& callers = join(2);
  EXPECT_TRUE(queues_.begin_claim(callers[0].waiter));
  EXPECT_FALSE(queues_.begin_claim(callers[1].waiter));
}

TEST_F(WaitQueuesTest, OnlyTheFirstInAQueueThatWatchesHearsOfItsGrant) {
  Caller alone;
  ASSERT_TRUE(queues_.join("other", alone.waiter));
  EXPECT_FALSE(queues_.hears("other", alone.waiter));
  auto& callers = join(2);
  EXPECT_TRUE(queues_.hears("job", callers[0].waiter));
  EXPECT_FALSE(queues_.hears("job", callers[1].waiter));
}

TEST_F(WaitQueuesTest, NothingIsOfferedToAWaiterWhoseWaitIsOver) {
  Caller caller;
  caller.waiter.waits_until = base::TimePoint(1s);
  ASSERT_TRUE(queues_.join("job", caller.waiter));
  const store::Permits permits = caller.waiter.claim.permits;
  EXPECT_EQ(queues_.offer("job", permits, base::TimePoint(1s)), nullptr);
  EXPECT_EQ(queues_.offer("job", permits, base::TimePoint(999ms)), &caller.waiter);
  queues_.settle("job", caller.waiter, std::optional<Granted>());
  leave(caller);
}

TEST_F(WaitQueuesTest, AWaiterThatLeavesWakesTheNextOneAndNoOther) {
  auto& callers = join(1'000);
  for (Caller& caller : callers) {
    leave(caller);
  }
  EXPECT_EQ(callers.front().count.wakes, 0);
  for (std::size_t i = 1; i < callers.size(); ++i) {
    EXPECT_EQ(callers[i].count.wakes, 1) << i;
  }
}

TEST_F(WaitQueuesTest, AHandOverWakesNoOtherWaiter) {
  auto& callers = join(3);
  Waiter* const next = queues_.offer("job", callers[0].waiter.claim.permits, base::TimePoint());
  ASSERT_EQ(next, &callers[0].waiter);
  queues_.settle("job", *next,
                 std::optional(Granted{.grant = {.token = base::FencingToken(1), .time_left = 1s},
                                       .sent = {}}));
  EXPECT_EQ(callers[0].count.wakes, 1);
  EXPECT_EQ(callers[1].count.wakes, 0) << "there is nothing to contend for";
  EXPECT_TRUE(queues_.standing(callers[1].waiter).first);
  queues_.wake_first("job");
  EXPECT_EQ(callers[1].count.wakes, 1);
  EXPECT_EQ(callers[2].count.wakes, 0);
}

}  // namespace
}  // namespace holdfast::locks::internal
