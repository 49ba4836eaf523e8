#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>
#include <thread>
#include <utility>

#include <gtest/gtest.h>
#include <tests/support/patience.h>

#include <holdfast/base/manual_clock.h>
#include <holdfast/engines/memory/memory_store.h>
#include <holdfast/locks/lock_provider.h>

namespace holdfast::locks {
namespace {

using namespace std::chrono_literals;
using engines::memory::MemoryStore;

class StartKeeping : public testing::Test {
 protected:
  static std::ptrdiff_t threads() {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
  }
  // Returns a thread that acquires the name and leaves the lock in `lock`; it has joined the queue.
  static std::jthread waiter(LockProvider& provider, std::optional<Lock>& lock) {
    const std::size_t before = provider.waiting();
    std::jthread thread([&](const std::stop_token& stop) {
      auto acquired = provider.try_acquire("job", {.wait = base::Duration::max(), .stop = stop});
      if (acquired) lock = *std::move(acquired);
    });
    EXPECT_TRUE(tests::eventually([&] { return provider.waiting() == before + 1; }));
    return thread;
  }
  base::Duration time_left() const { return store_->look("job")->value().holders.at(0).time_left; }

  base::ManualClock clock_;
  std::shared_ptr<store::LeaseStore> store_ = std::make_shared<MemoryStore>(
      engines::memory::MemoryOptions{.clock = &clock_, .sweep_every = {}});
  LockProvider provider_{store_, {.ttl = 30s, .clock = &clock_, .keeping = Keeping::on_request}};
};

TEST_F(StartKeeping, BeforeItALockHasNoThread) {
  const auto before = threads();
  Lock lock = provider_.acquire("job");
  EXPECT_EQ(threads(), before);
  EXPECT_TRUE(lock.check());
  EXPECT_EQ(lock.release(), store::ReleaseOutcome::released);
  EXPECT_EQ(threads(), before);
}

TEST_F(StartKeeping, BeforeItALossIsFoundByEveryCheck) {
  const Lock lock = provider_.acquire("job");
  clock_.advance(30s);
  EXPECT_EQ(lock.time_left(), 0s);
  EXPECT_TRUE(lock.lost().stop_requested());
}

// Nothing but their own polls tells the waiters of a lease that has expired.
TEST_F(StartKeeping, BeforeItAWaiterAcquiresAfterTheLeaseOfAnEarlierWaiterHasExpired) {
  std::optional<Lock> lock = provider_.acquire("job");
  std::optional<Lock> hung;
  std::optional<Lock> last;
  std::jthread earlier = waiter(provider_, hung);
  std::jthread later = waiter(provider_, last);
  lock.reset();
  earlier.join();
  ASSERT_TRUE(hung);
  EXPECT_TRUE(tests::eventually([&] {
    clock_.advance(1s);
    return provider_.waiting() == 0;
  }));
  later.request_stop();
  later.join();
  EXPECT_TRUE(last);
}

TEST_F(StartKeeping, AfterItAReleaseHandsTheNameOver) {
  std::atomic<int> hand_overs = 0;
  const auto count = [&](std::string_view counter, std::string_view /*name*/, std::uint64_t by) {
    if (counter == "handed_over") hand_overs += static_cast<int>(by);
  };
  LockProvider provider(
      store_, {.metrics = {.count = count}, .clock = &clock_, .keeping = Keeping::on_request});
  for (const int expected : {0, 1}) {
    std::optional<Lock> lock = provider.acquire("job");
    std::optional<Lock> next;
    std::jthread thread = waiter(provider, next);
    lock.reset();
    thread.join();
    EXPECT_TRUE(next);
    EXPECT_EQ(hand_overs, expected);
    EXPECT_TRUE(provider.start_keeping());
  }
}

TEST_F(StartKeeping, RenewsAtOnceWhatIsDue) {
  const Lock lock = provider_.acquire("job");
  clock_.advance(20s);
  EXPECT_EQ(time_left(), 10s);
  EXPECT_TRUE(provider_.start_keeping());
  EXPECT_TRUE(tests::eventually([&] { return time_left() == 30s; }));
  EXPECT_TRUE(lock.check());
}

TEST_F(StartKeeping, MayBeCalledAgain) {
  const Lock lock = provider_.acquire("job");
  EXPECT_TRUE(provider_.start_keeping());
  const auto after = threads();
  EXPECT_TRUE(provider_.start_keeping());
  EXPECT_EQ(threads(), after);
}

}  // namespace
}  // namespace holdfast::locks
