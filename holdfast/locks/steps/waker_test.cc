#include <holdfast/locks/steps/waker.h>

#include <thread>

#include <gtest/gtest.h>

#include <holdfast/base/manual_clock.h>

namespace holdfast::locks::steps {
namespace {

using namespace std::chrono_literals;

TEST(ThreadWaker, EndsASleep) {
  const base::ManualClock clock;
  ThreadWaker waker;
  bool is_woken = false;
  {
    std::jthread sleeper([&] { is_woken = waker.wait_until(clock, base::TimePoint::max()); });
    clock.wait_for_sleepers(1);
    waker.wake();
  }
  EXPECT_TRUE(is_woken);
}

TEST(ThreadWaker, AWakeUpBeforeTheSleepEndsItAtOnceAndCountsOnce) {
  base::ManualClock clock;
  ThreadWaker waker;
  waker.wake();
  waker.wake();
  EXPECT_TRUE(waker.wait_until(clock, base::TimePoint::max()));
  EXPECT_FALSE(waker.wait_until(clock, clock.now()));
}

TEST(ThreadWaker, TheTimeEndsASleepToo) {
  base::ManualClock clock;
  ThreadWaker waker;
  bool is_woken = true;
  {
    std::jthread sleeper([&] { is_woken = waker.wait_until(clock, clock.now() + 1s); });
    clock.wait_for_sleepers(1);
    clock.advance(1s);
  }
  EXPECT_FALSE(is_woken);
}

void expect_no_wake_up_is_lost(const base::Clock& clock, base::Duration slack) {
  ThreadWaker waker;
  ThreadWaker answer;
  constexpr int kRounds = 2000;
  std::jthread other([&] {
    for (int i = 0; i < kRounds; ++i) {
      ASSERT_TRUE(waker.wait_until(clock, base::TimePoint::max(), slack));
      answer.wake();
    }
  });
  for (int i = 0; i < kRounds; ++i) {
    waker.wake();
    ASSERT_TRUE(answer.wait_until(clock, base::TimePoint::max(), slack));
  }
}

TEST(ThreadWaker, NoWakeUpIsLostBetweenTwoThreads) {
  expect_no_wake_up_is_lost(base::steady_clock(), 0s);
}

TEST(ThreadWaker, NoWakeUpIsLostWhereASleepMayBeLate) {
  expect_no_wake_up_is_lost(base::boot_clock(), 1h);
  expect_no_wake_up_is_lost(base::boot_clock(), base::Duration::max());
}

TEST(ThreadWaker, ASleepThatMayBeLateEndsWhenTheTimeHasCome) {
  ThreadWaker waker;
  const base::TimePoint when = base::boot_clock().now() + 1ms;
  EXPECT_FALSE(waker.wait_until(base::boot_clock(), when, 1h));
  EXPECT_GE(base::boot_clock().now(), when);
}

}  // namespace
}  // namespace holdfast::locks::steps
