#include <holdfast/engines/memory/memory_store.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <malloc.h>
#include <tests/support/forked_child.h>
#include <tests/support/patience.h>

#include <holdfast/base/manual_clock.h>
#include <holdfast/store/leases.h>

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

void hold(MemoryStore& store, const std::string& name) {
  const store::Claim claim{
      .id = base::LeaseId::generate(), .owner = "me", .reason = {}, .ttl = 1h, .permits = {}};
  ASSERT_TRUE(store.claim(name, claim));
}

void hold_and_release(MemoryStore& store, const std::string& name) {
  const store::Claim claim{
      .id = base::LeaseId::generate(), .owner = "me", .reason = {}, .ttl = 1h, .permits = {}};
  ASSERT_TRUE(store.claim(name, claim));
  ASSERT_TRUE(store.release(name, claim.id));
}

std::vector<std::string> all_names(MemoryStore& store, std::size_t at_a_time) {
  std::vector<std::string> names;
  for (store::PageRequest request{.limit = at_a_time};;) {
    const store::Page page = base::value_or_throw(store.list("", request));
    for (const store::NameState& state : page.names) {
      names.emplace_back(state.name.view());
    }
    if (page.next.empty()) {
      return names;
    }
    request.after = page.next;
  }
}

TEST(MemoryStore, AListingVisitsEveryNameAFewTimesHoweverManyPagesItHas) {
  constexpr std::size_t kNames = 2'000;
  MemoryStore store({.sweep_every = 0s});
  for (std::size_t i = 0; i < kNames; ++i) {
    hold(store, "name" + std::to_string(i));
  }
  const std::uint64_t before = store::Leases::visits();
  EXPECT_EQ(all_names(store, 10).size(), kNames);
  // Each name has one lease: one visit finds the name, two show it.
  EXPECT_LE(store::Leases::visits() - before, 3 * kNames);
}

TEST(MemoryStore, AListingShowsEveryNameThatIsHeldOnceWhileOthersComeAndAreSwept) {
  MemoryStore store({.sweep_every = 0s});
  std::vector<std::string> kept;
  for (int i = 0; i < 20'000; ++i) {
    kept.push_back("kept" + std::to_string(i));
    hold(store, kept.back());
  }
  std::ranges::sort(kept);
  std::atomic<bool> has_added_all = false;
  std::jthread adder([&] {
    for (int i = 0; i < 200'000; ++i) {
      hold(store, "other" + std::to_string(i));
    }
    has_added_all = true;
  });
  std::jthread sweeper([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      store.sweep_now();
    }
  });
  while (!has_added_all) {
    std::vector<std::string> names = all_names(store, 1'000);
    EXPECT_TRUE(std::ranges::adjacent_find(names) == names.end());
    std::erase_if(names, [](const std::string& name) { return !name.starts_with("kept"); });
    ASSERT_EQ(names, kept);
  }
}

TEST(MemoryStore, ASweepForgetsAllNamesThatAreNotHeldAnyMore) {
  base::ManualClock clock;
  MemoryStore store({.clock = &clock, .sweep_every = 0s});
  for (int i = 0; i < 1'000; ++i) {
    hold(store, std::to_string(i));
  }
  EXPECT_EQ(store.sweep_now(), 0U);
  clock.advance(2h);
  EXPECT_EQ(store.sweep_now(), 1'000U);
  EXPECT_EQ(store.size(), 0U);
}

TEST(MemoryStore, TheBackgroundSweepForgetsNamesThatExpiredAndKeepsThoseThatAreHeld) {
  base::ManualClock clock;
  MemoryStore store({.clock = &clock, .sweep_every = 10s});
  clock.wait_for_sleepers(1);
  for (int i = 0; i < 100; ++i) {
    hold(store, "early " + std::to_string(i));  // for an hour
  }
  clock.advance(50min);
  hold(store, "late");
  clock.advance(30min);
  EXPECT_TRUE(tests::eventually([&] { return store.size() == 1; }));
  EXPECT_EQ(all_names(store, 10), std::vector<std::string>{"late"});
}

TEST(MemoryStore, ItsMemoryDoesNotGrowWithNamesThatComeAndGo) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer has an allocator of its own";
#endif
  constexpr int kNamesOfARound = 1'000;
  base::ManualClock clock;
  MemoryStore store({.clock = &clock, .sweep_every = 0s});
  const auto memory_after = [&](int first_round, int end_round) {
    for (int i = first_round * kNamesOfARound; i < end_round * kNamesOfARound; ++i) {
      const std::string name = "a name that is used once only: " + std::to_string(i);
      if (i % 2 == 0) {
        hold(store, name);  // expires, and is swept
      } else {
        hold_and_release(store, name);
      }
      if (i % kNamesOfARound == 0) {
        clock.advance(2h);
        store.sweep_now();
      }
    }
    return mallinfo2().uordblks;
  };
  const std::size_t before = memory_after(0, 50);
  // A quarter of a byte for each name would be noticed.
  EXPECT_LE(memory_after(50, 500), before + 450 * kNamesOfARound / 4);
  EXPECT_LE(store.size(), kNamesOfARound);
}

// A clock whose sleepers are seen to be asked to stop.
class WatchedClock final : public base::Clock {
 public:
  [[nodiscard]] base::TimePoint now() const noexcept override { return base::TimePoint(1h); }
  [[nodiscard]] base::TimePoint coarse_now() const noexcept override { return now(); }
  [[nodiscard]] base::Duration coarse_lag() const noexcept override { return 0s; }
  bool sleep_until(base::TimePoint, std::stop_token stop) const override {
    const std::stop_callback asked(stop, [this] { asked_to_stop = true; });
    is_asleep = true;
    return base::steady_clock().sleep_until(base::TimePoint::max(), std::move(stop));
  }

  mutable std::atomic<bool> is_asleep = false;
  mutable std::atomic<bool> asked_to_stop = false;
};

TEST(MemoryStoreInAForkedChild, TheDestructorDoesNotAskForTheThreadThatIsNotThere) {
  const WatchedClock clock;
  std::optional<MemoryStore> store(std::in_place,
                                   MemoryOptions{.clock = &clock, .sweep_every = 1h});
  ASSERT_TRUE(tests::eventually([&] { return clock.is_asleep.load(); }));
  EXPECT_TRUE(tests::is_true_in_child([&] {
    store.reset();
    return !clock.asked_to_stop;
  }));
  store.reset();
  EXPECT_TRUE(clock.asked_to_stop);
}

// Whatever other threads did at the fork, they do not end it in the child.
TEST(MemoryStoreInAForkedChild, TheDestructorsOfTheStoreAndItsWatchesReturnAtOnce) {
  std::optional<MemoryStore> store(std::in_place, MemoryOptions{.sweep_every = 1h});
  std::optional<store::Watch> watch =
      base::value_or_throw(store->watch("job", [](const store::Notice&) {}));
  std::jthread busy([&](const std::stop_token& stop) {
    for (int i = 0; !stop.stop_requested(); ++i) {
      hold(*store, "job");
      const auto other =
          base::value_or_throw(store->watch(std::to_string(i % 9), [](const store::Notice&) {}));
      store->sweep_now();
    }
  });
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(tests::is_true_in_child([&] {
      watch.reset();
      store.reset();
      return true;
    }));
  }
}

}  // namespace
}  // namespace holdfast::engines::memory
