#include <holdfast/locks/steps/bell.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <thread>

#include <gtest/gtest.h>

#include <holdfast/base/manual_clock.h>

namespace holdfast::locks::steps {
namespace {

using namespace std::chrono_literals;

TEST(Bell, EndsASleep) {
  const base::ManualClock clock;
  Bell bell;
  bool rung = false;
  {
    std::jthread sleeper([&] { rung = bell.wait_until(clock, base::TimePoint::max()); });
    clock.wait_for_sleepers(1);
    bell.ring();
  }
  EXPECT_TRUE(rung);
}

TEST(Bell, RungBeforeTheSleepEndsItAtOnceAndCountsOnce) {
  base::ManualClock clock;
  Bell bell;
  bell.ring();
  bell.ring();
  EXPECT_TRUE(bell.wait_until(clock, base::TimePoint::max()));
  EXPECT_FALSE(bell.wait_until(clock, clock.now()));
}

TEST(Bell, TheTimeEndsASleepToo) {
  base::ManualClock clock;
  Bell bell;
  bool rung = true;
  {
    std::jthread sleeper([&] { rung = bell.wait_until(clock, clock.now() + 1s); });
    clock.wait_for_sleepers(1);
    clock.advance(1s);
  }
  EXPECT_FALSE(rung);
}

TEST(Bell, NoRingIsLostBetweenTwoThreads) {
  Bell bell;
  Bell answer;
  constexpr int kRounds = 2000;
  std::jthread other([&] {
    for (int i = 0; i < kRounds; ++i) {
      ASSERT_TRUE(bell.wait_until(base::steady_clock(), base::TimePoint::max()));
      answer.ring();
    }
  });
  for (int i = 0; i < kRounds; ++i) {
    bell.ring();
    ASSERT_TRUE(answer.wait_until(base::steady_clock(), base::TimePoint::max()));
  }
}

// Nothing comes but what a test lets come; the deadline is left out, so that a lost ring shows.
class Ears final : public store::Listener {
 public:
  bool begin() noexcept override {
    const std::lock_guard guard(mutex_);
    return !std::exchange(is_taken_, true);
  }
  bool hear(base::Deadline deadline) override {
    std::unique_lock guard(mutex_);
    ++hears_;
    last_deadline_ = deadline;
    changed_.notify_all();
    EXPECT_TRUE(changed_.wait_for(guard, 60s, [&] { return is_roused_ || to_come_ || is_deaf_; }));
    is_roused_ = false;
    if (const auto coming = std::exchange(to_come_, nullptr)) {
      guard.unlock();
      coming();
    }
    return !is_deaf_;
  }
  void end() noexcept override {
    const std::lock_guard guard(mutex_);
    is_taken_ = false;
  }
  void rouse() noexcept override {
    const std::lock_guard guard(mutex_);
    ++rouses_;
    is_roused_ = true;
    changed_.notify_all();
  }

  // In the thread that listens.
  void let_come(std::function<void()> what) {
    const std::lock_guard guard(mutex_);
    to_come_ = std::move(what);
    changed_.notify_all();
  }
  void go_deaf() {
    const std::lock_guard guard(mutex_);
    is_deaf_ = true;
    changed_.notify_all();
  }
  void wait_for_hears(int count) {
    std::unique_lock guard(mutex_);
    EXPECT_TRUE(changed_.wait_for(guard, 60s, [&] { return hears_ >= count; }));
  }
  int hears() {
    const std::lock_guard guard(mutex_);
    return hears_;
  }
  int rouses() {
    const std::lock_guard guard(mutex_);
    return rouses_;
  }
  base::Deadline last_deadline() {
    const std::lock_guard guard(mutex_);
    return last_deadline_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_taken_ = false;
  bool is_roused_ = false;
  std::atomic<bool> is_deaf_ = false;
  std::function<void()> to_come_;
  int hears_ = 0;
  int rouses_ = 0;
  base::Deadline last_deadline_ = base::Deadline::never();
};

TEST(Bell, RungWhileItsOwnerListensEndsThat) {
  const base::ManualClock clock;
  Ears ears;
  Bell bell;
  bool rung = false;
  {
    std::jthread listener([&] { rung = bell.listen_until(ears, clock, base::TimePoint::max()); });
    ears.wait_for_hears(1);
    bell.ring();
  }
  EXPECT_TRUE(rung);
  EXPECT_TRUE(ears.begin());
}

TEST(Bell, RungByWhatItsOwnerHearsNeedsNobodyToRouseIt) {
  const base::ManualClock clock;
  Ears ears;
  Bell bell;
  ears.let_come([&] {
    bell.ring();
    bell.ring();
  });
  EXPECT_TRUE(bell.listen_until(ears, clock, base::TimePoint::max()));
  EXPECT_EQ(ears.rouses(), 0);
  EXPECT_FALSE(bell.wait_until(clock, clock.now()));
}

TEST(Bell, RungBeforeNobodyListens) {
  const base::ManualClock clock;
  Ears ears;
  Bell bell;
  bell.ring();
  EXPECT_TRUE(bell.listen_until(ears, clock, base::TimePoint::max()));
  EXPECT_EQ(ears.hears(), 0);
  EXPECT_FALSE(bell.wait_until(clock, clock.now()));
}

TEST(Bell, ItsOwnerListensOnAfterWhatWasForOthers) {
  const base::ManualClock clock;
  Ears ears;
  Bell bell;
  bool rung = false;
  {
    std::jthread listener([&] { rung = bell.listen_until(ears, clock, base::TimePoint::max()); });
    ears.wait_for_hears(1);
    ears.let_come([] {});
    ears.wait_for_hears(2);
    bell.ring();
  }
  EXPECT_TRUE(rung);
}

TEST(Bell, WhereAnotherListensItsOwnerSleeps) {
  const base::ManualClock clock;
  Ears ears;
  ASSERT_TRUE(ears.begin());
  Bell bell;
  bool rung = false;
  {
    std::jthread sleeper([&] { rung = bell.listen_until(ears, clock, base::TimePoint::max()); });
    clock.wait_for_sleepers(1);
    bell.ring();
  }
  EXPECT_TRUE(rung);
  EXPECT_EQ(ears.rouses(), 0);
}

TEST(Bell, ItsOwnerSleepsOnWhenThereIsNothingToListenToAnyMore) {
  const base::ManualClock clock;
  Ears ears;
  ears.go_deaf();
  Bell bell;
  bool rung = false;
  {
    std::jthread sleeper([&] { rung = bell.listen_until(ears, clock, base::TimePoint::max()); });
    clock.wait_for_sleepers(1);
    EXPECT_TRUE(ears.begin());
    bell.ring();
  }
  EXPECT_TRUE(rung);
}

TEST(Bell, TheTimeEndsListeningToo) {
  base::ManualClock clock;
  Ears ears;
  Bell bell;
  ears.let_come([&] { clock.advance(1s); });
  EXPECT_FALSE(bell.listen_until(ears, clock, clock.now() + 1s));
  EXPECT_EQ(ears.hears(), 1);
  EXPECT_TRUE(ears.begin());
}

TEST(Bell, ItsOwnerListensNoLongerThanTheTimeAllows) {
  base::ManualClock clock;
  Ears ears;
  Bell bell;
  ears.let_come([&] { clock.advance(1ms); });
  const auto latest = [](base::Duration wait) {
    return base::Deadline::after(base::steady_clock(), wait);
  };
  EXPECT_FALSE(bell.listen_until(ears, clock, clock.now() + 1ms));
  EXPECT_LE(ears.last_deadline(), latest(1ms));
  ears.let_come([&] { bell.ring(); });
  EXPECT_TRUE(bell.listen_until(ears, clock, base::TimePoint::max()));
  EXPECT_LE(ears.last_deadline(), latest(250ms));  // a clock may have jumped meanwhile
}

// They listen in turns, so that each may take what roused the other.
TEST(Bell, NoRingIsLostBetweenTwoThreadsThatListenToTheSame) {
  Ears ears;
  Bell bell;
  Bell answer;
  constexpr int kRounds = 5000;
  std::jthread other([&] {
    for (int i = 0; i < kRounds; ++i) {
      ASSERT_TRUE(bell.listen_until(ears, base::steady_clock(), base::TimePoint::max()));
      answer.ring();
    }
  });
  for (int i = 0; i < kRounds; ++i) {
    bell.ring();
    ASSERT_TRUE(answer.listen_until(ears, base::steady_clock(), base::TimePoint::max()));
  }
}

}  // namespace
}  // namespace holdfast::locks::steps
