#include <holdfast/engines/memory/memory_store.h>

#include <atomic>
#include <vector>

#include <gtest/gtest.h>
#include <tests/support/patience.h>

#include <holdfast/base/manual_clock.h>

namespace holdfast::engines::memory {
namespace {

using namespace std::chrono_literals;

// A clock that keeps the times until which a thread sleeps, and moves on by a second when the
// thread wakes: its work takes that long.
class SlowWorkClock final : public base::Clock {
 public:
  [[nodiscard]] base::TimePoint now() const noexcept override { return clock_.now(); }
  [[nodiscard]] base::TimePoint coarse_now() const noexcept override { return now(); }
  [[nodiscard]] base::Duration coarse_lag() const noexcept override { return 0s; }
  bool sleep_until(base::TimePoint when, std::stop_token stop) const override {
    if (ticks_.size() == kTicks) {
      has_all_ticks_ = true;
      return clock_.sleep_until(base::TimePoint::max(), std::move(stop));
    }
    ticks_.push_back(when.time_since_epoch());
    clock_.set(when + 1s);
    return true;
  }
  // Blocks until the thread has slept a few times. Returns until when it slept each time.
  [[nodiscard]] std::vector<base::Duration> ticks() const {
    EXPECT_TRUE(tests::eventually([&] { return has_all_ticks_.load(); }));
    return ticks_;
  }

 private:
  static constexpr std::size_t kTicks = 3;

  mutable base::ManualClock clock_;
  mutable std::vector<base::Duration> ticks_;  // of the one thread that sleeps, until it has all
  mutable std::atomic<bool> has_all_ticks_ = false;
};

TEST(MemoryStore, SweepsKeepTheirIntervalHoweverLongOneTakes) {
  const SlowWorkClock clock;
  const MemoryStore store({.clock = &clock, .sweep_every = 10s});
  EXPECT_EQ(clock.ticks(), (std::vector<base::Duration>{10s, 20s, 30s}));
}

}  // namespace
}  // namespace holdfast::engines::memory
