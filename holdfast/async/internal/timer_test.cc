#include <holdfast/async/internal/timer.h>

#include <atomic>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/base/manual_clock.h>

namespace holdfast::async::internal {
namespace {

using namespace std::chrono_literals;

class Counter final : public Timer::Sleeper {
 public:
  void on_time() noexcept override {
    ++wakes;
    wakes.notify_all();
  }
  void wait() const { wakes.wait(0); }

  std::atomic<int> wakes = 0;
};

TEST(Timer, WakesAtItsTimeAndNotBefore) {
  base::ManualClock clock;
  Timer timer(clock);
  Counter early;
  Counter late;
  timer.set(late, clock.now() + 2s);
  timer.set(early, clock.now() + 1s);
  clock.advance(1s);
  early.wait();
  EXPECT_EQ(late.wakes, 0);
  clock.advance(1s);
  late.wait();
  EXPECT_EQ(early.wakes, 1);
}

TEST(Timer, AnEarlierTimeThatIsSetLaterIsServedFirst) {
  base::ManualClock clock;
  Timer timer(clock);
  Counter first;
  Counter late;
  Counter early;
  timer.set(late, clock.now() + 1h);
  timer.set(first, clock.now() + 1s);
  clock.advance(1s);
  first.wait();
  clock.wait_for_sleepers(1);  // for the later time
  timer.set(early, clock.now() + 1s);
  clock.advance(1s);
  early.wait();
  EXPECT_EQ(late.wakes, 0);
  timer.cancel(late);
}

TEST(Timer, ACancelledSleeperIsNotCalled) {
  base::ManualClock clock;
  Timer timer(clock);
  Counter cancelled;
  Counter other;
  timer.set(cancelled, clock.now() + 1s);
  timer.set(other, clock.now() + 2s);
  timer.cancel(cancelled);
  timer.cancel(cancelled);
  clock.advance(2s);
  other.wait();
  EXPECT_EQ(cancelled.wakes, 0);
}

TEST(Timer, EndsWithSleepersThatCancelled) {
  const base::ManualClock clock;
  Counter sleeper;
  {
    Timer timer(clock);
    timer.set(sleeper, clock.now() + 1h);
    timer.cancel(sleeper);
  }
  EXPECT_EQ(sleeper.wakes, 0);
}

}  // namespace
}  // namespace holdfast::async::internal
