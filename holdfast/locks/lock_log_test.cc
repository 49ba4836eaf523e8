#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/base/manual_clock.h>
#include <holdfast/base/mutex.h>
#include <holdfast/engines/memory/memory_store.h>
#include <holdfast/locks/lock_provider.h>

namespace holdfast::locks {
namespace {

using namespace std::chrono_literals;
using base::LogLevel;

// A provider whose log lines and counters the test reads. Leases are not renewed in it: its clock
// moves only when the test moves it.
class LockLog : public testing::Test {
 protected:
  ProviderOptions options() {
    ProviderOptions options{.owner = "root@web1:811", .clock = &clock_};
    options.logger = base::Logger([this](LogLevel level, std::string_view text) {
      const base::MutexLock guard(mutex_);
      lines_.push_back(std::string(to_string(level)) + ": " + std::string(text));
    });
    options.metrics.count = [this](std::string_view counter, std::uint64_t by) {
      const base::MutexLock guard(mutex_);
      counts_[std::string(counter)] += by;
    };
    return options;
  }
  std::vector<std::string> lines() {
    const base::MutexLock guard(mutex_);
    return std::exchange(lines_, {});
  }
  std::uint64_t counted(const std::string& counter) {
    const base::MutexLock guard(mutex_);
    return counts_[counter];
  }

  base::ManualClock clock_;
  base::Mutex mutex_;
  std::vector<std::string> lines_ HOLDFAST_GUARDED_BY(mutex_);
  std::map<std::string, std::uint64_t> counts_ HOLDFAST_GUARDED_BY(mutex_);
  std::shared_ptr<store::LeaseStore> store_ = std::make_shared<engines::memory::MemoryStore>(
      engines::memory::MemoryOptions{.clock = &clock_, .sweep_every = {}});
  LockProvider provider_{store_, options()};
};

TEST_F(LockLog, ALineForEachAcquireRefusalAndRelease) {
  Lock lock = provider_.acquire("report");
  EXPECT_EQ(lines(), std::vector<std::string>{"debug: acquired report after 0s, token " +
                                              to_string(lock.token())});
  ASSERT_FALSE(provider_.try_acquire("report")->has_value());
  EXPECT_EQ(lines(), std::vector<std::string>{"debug: not acquired: report was not free within the "
                                              "wait: it is held by root@web1:811"});
  clock_.advance(3s);
  ASSERT_EQ(lock.release(), store::ReleaseOutcome::released);
  EXPECT_EQ(lines(), std::vector<std::string>{"debug: released report after 3s"});
}

TEST_F(LockLog, AReleaseOfALeaseThatIsNoLongerOursIsAWarningAndACounterOfItsOwn) {
  Lock lock = provider_.acquire("report");
  ASSERT_EQ(store_->release("report", lock.id()), store::ReleaseOutcome::released);
  static_cast<void>(lines());
  ASSERT_EQ(lock.release(), store::ReleaseOutcome::not_held);
  EXPECT_EQ(lines(),
            std::vector<std::string>{"warning: the lease on report was no longer ours when "
                                     "it was released: it had expired or was stolen"});
  EXPECT_EQ(counted("not_held"), 1U);
  EXPECT_EQ(counted("released"), 0U);
}

TEST_F(LockLog, ASecondReleaseSaysNothing) {
  Lock lock = provider_.acquire("report");
  ASSERT_EQ(lock.release(), store::ReleaseOutcome::released);
  static_cast<void>(lines());
  ASSERT_EQ(lock.release(), store::ReleaseOutcome::not_held);
  EXPECT_EQ(lines(), std::vector<std::string>{});
  EXPECT_EQ(counted("not_held"), 0U);
}

TEST_F(LockLog, ATimeOutNamesTheNameAndTheHolder) {
  const Lock lock = provider_.acquire("report");
  try {
    const Lock second = provider_.acquire("report", {.wait = 0s});
    FAIL() << "acquired twice";
  } catch (const base::Exception& late) {
    EXPECT_STREQ(late.what(),
                 "timed_out: report was not free within the wait: it is held by root@web1:811");
  }
}

}  // namespace
}  // namespace holdfast::locks
