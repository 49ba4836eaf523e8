#include <chrono>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string_view>

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
