#include <holdfast/locks/internal/wait_lines.h>

#include <time.h>

#include <deque>
#include <optional>

#include <gtest/gtest.h>

namespace holdfast::locks::internal {
namespace {

using namespace std::chrono_literals;

struct Count final : steps::Ringer {
  void ring() noexcept override { ++rings; }
  int rings = 0;
};

// A waiter, and how often it was rung.
struct Caller {
  Count count;
  Waiter waiter{.claim = {.id = base::LeaseId::generate(), .owner = "me", .reason = {}, .ttl = 1s},
                .ringer = count};
};

class WaitLinesTest : public ::testing::Test {
 protected:
  // Callers that wait for "job", the first to come first, in a line that watches it.
  std::deque<Caller>& join(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_TRUE(lines_.join("job", callers_.emplace_back().waiter));
    }
    lines_.watch("job", [this](store::WatchCallback callback) {
      notify_ = std::move(callback);
      return store::Watch();
    });
    return callers_;
  }
  void leave(Caller& caller) {
    std::optional<Granted> handed_over;
    ASSERT_TRUE(lines_.leave("job", caller.waiter, handed_over));
  }

  WaitLines lines_{10, 1'000'000};
  std::deque<Caller> callers_;
  store::WatchCallback notify_;
};

TEST_F(WaitLinesTest, AHintGoesToTheFirstInLine) {
  auto& callers = join(3);
  notify_({});
  EXPECT_EQ(callers[0].count.rings, 1);
  EXPECT_EQ(callers[1].count.rings + callers[2].count.rings, 0);
  EXPECT_FALSE(lines_.take_grant(callers[0].waiter));
}

TEST_F(WaitLinesTest, AGrantGoesToTheWaiterWhoseClaimItNamesWhereverItIs) {
  auto& callers = join(5);
  notify_({.granted = callers[3].waiter.claim.id});
  for (std::size_t i = 0; i < callers.size(); ++i) {
    EXPECT_EQ(callers[i].count.rings, i == 3 ? 1 : 0) << i;
    EXPECT_EQ(lines_.take_grant(callers[i].waiter), i == 3) << i;
  }
  EXPECT_FALSE(lines_.take_grant(callers[3].waiter)) << "it was told once";
}

TEST_F(WaitLinesTest, AGrantForNobodyHereRingsNobody) {
  auto& callers = join(2);
  const base::LeaseId left = callers[0].waiter.claim.id;
  leave(callers[0]);
  callers[1].count.rings = 0;
  notify_({.granted = left});
  notify_({.granted = base::LeaseId::generate()});
  EXPECT_EQ(callers[0].count.rings + callers[1].count.rings, 0);
}

TEST_F(WaitLinesTest, OnlyTheFirstInALineThatWatchesWaitsInTheStore) {
  Caller alone;
  ASSERT_TRUE(lines_.join("other", alone.waiter));
  EXPECT_FALSE(lines_.may_wait_in_store("other", alone.waiter));
  auto& callers = join(2);
  EXPECT_TRUE(lines_.may_wait_in_store("job", callers[0].waiter));
  EXPECT_FALSE(lines_.may_wait_in_store("job", callers[1].waiter));
}

TEST_F(WaitLinesTest, NothingIsOfferedToAWaiterWhoseWaitIsOver) {
  Caller caller;
  caller.waiter.waits_until = base::TimePoint(1s);
  ASSERT_TRUE(lines_.join("job", caller.waiter));
  const store::Permits permits = caller.waiter.claim.permits;
  EXPECT_EQ(lines_.offer("job", permits, base::TimePoint(1s)), nullptr);
  EXPECT_EQ(lines_.offer("job", permits, base::TimePoint(999ms)), &caller.waiter);
  lines_.settle("job", caller.waiter, std::optional<Granted>());
  leave(caller);
}

// In the time of this thread alone, which other programs do not take.
base::Duration cpu_time() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + base::Duration(time.tv_nsec);
}

TEST_F(WaitLinesTest, LeavingCostsTheSameHoweverManyWait) {
  const auto cost_of_leaving = [](std::size_t count) {
    WaitLines lines(1, count);
    std::deque<Caller> callers;
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_TRUE(lines.join("job", callers.emplace_back().waiter));
    }
    const base::Duration began = cpu_time();
    for (Caller& caller : callers) {
      std::optional<Granted> handed_over;
      EXPECT_TRUE(lines.leave("job", caller.waiter, handed_over));
    }
    return (cpu_time() - began) / static_cast<long>(count);
  };
  const base::Duration few = cost_of_leaving(1'000);
  const base::Duration many = cost_of_leaving(100'000);
  // Ten times for caches that miss; to look through the line would be a hundred times as much.
  EXPECT_LT(many, 10 * few + 1us);
}

}  // namespace
}  // namespace holdfast::locks::internal
