#include <holdfast/async/internal/alarm.h>

#include <atomic>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/base/manual_clock.h>

namespace holdfast::async::internal {
namespace {

using namespace std::chrono_literals;

class Counter final : public Alarm::Sleeper {
 public:
  void on_time() noexcept override {
    ++rung;
    rung.notify_all();
  }
  void wait() const { rung.wait(0); }

  std::atomic<int> rung = 0;
};

TEST(Alarm, RingsAtItsTimeAndNotBefore) {
  base::ManualClock clock;
  Alarm alarm(clock);
  Counter early;
  Counter late;
  alarm.set(late, clock.now() + 2s);
  alarm.set(early, clock.now() + 1s);
  clock.advance(1s);
  early.wait();
  EXPECT_EQ(late.rung, 0);
  clock.advance(1s);
  late.wait();
  EXPECT_EQ(early.rung, 1);
}

TEST(Alarm, AnEarlierTimeThatIsSetLaterIsServedFirst) {
  base::ManualClock clock;
  Alarm alarm(clock);
  Counter first;
  Counter late;
  Counter early;
  alarm.set(late, clock.now() + 1h);
  alarm.set(first, clock.now() + 1s);
  clock.advance(1s);
  first.wait();
  clock.wait_for_sleepers(1);  // for the later time
  alarm.set(early, clock.now() + 1s);
  clock.advance(1s);
  early.wait();
  EXPECT_EQ(late.rung, 0);
  alarm.cancel(late);
}

TEST(Alarm, ACancelledSleeperIsNotCalled) {
  base::ManualClock clock;
  Alarm alarm(clock);
  Counter cancelled;
  Counter other;
  alarm.set(cancelled, clock.now() + 1s);
  alarm.set(other, clock.now() + 2s);
  alarm.cancel(cancelled);
  alarm.cancel(cancelled);
  clock.advance(2s);
  other.wait();
  EXPECT_EQ(cancelled.rung, 0);
}

TEST(Alarm, EndsWithSleepersThatCancelled) {
  const base::ManualClock clock;
  Counter sleeper;
  {
    Alarm alarm(clock);
    alarm.set(sleeper, clock.now() + 1h);
    alarm.cancel(sleeper);
  }
  EXPECT_EQ(sleeper.rung, 0);
}

}  // namespace
}  // namespace holdfast::async::internal
