#include <algorithm>
#include <chrono>
#include <cstddef>
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
#include <holdfast/locks/steps/acquire_steps.h>
#include <holdfast/locks/steps/release_steps.h>

namespace holdfast::locks {
namespace {

using namespace std::chrono_literals;
using base::LogLevel;
using base::Result;
using Kind = steps::Step::Kind;

struct Flag final : steps::Waker {
  void wake() noexcept override {}
};

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
    options.metrics.count = [this](std::string_view counter, std::string_view, std::uint64_t by) {
      const base::MutexLock guard(mutex_);
      counts_[std::string(counter)] += by;
    };
    options.metrics.observe = [this](std::string_view duration, std::string_view,
                                     std::chrono::nanoseconds) {
      const base::MutexLock guard(mutex_);
      ++samples_[std::string(duration)];
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
  std::uint64_t observed(const std::string& duration) {
    const base::MutexLock guard(mutex_);
    return samples_[duration];
  }

  // Returns how many lines since the last call say that a lease was gone when it was released.
  std::ptrdiff_t losses() {
    return std::ranges::count_if(
        lines(), [](const std::string& line) { return line.contains("no longer ours"); });
  }
  // Answers the steps of a release as a store does that could not hand the name over and has no
  // such lease afterwards.
  void find_gone_after_a_hand_over_that_failed(base::ErrorCode code) {
    const Lock lock = provider_.acquire("report");
    Flag flag;
    const AcquireOptions patient{.wait = 1h};
    steps::AcquireSteps next(*provider_.core(), "report", patient, 0s, flag,
                             steps::AcquireSteps::Joins::at_once);
    ASSERT_EQ(next.start().kind, Kind::claim);
    steps::ReleaseSteps release(*lock.hold());
    ASSERT_EQ(release.start().kind, Kind::transfer);
    Result<store::TransferOutcome> failed = base::fail(code, "on purpose");
    ASSERT_EQ(release.on(std::move(failed)).kind, Kind::release);
    ASSERT_EQ(release.on(Result<store::ReleaseOutcome>(store::ReleaseOutcome::not_held)).kind,
              Kind::done);
    Result<store::ClaimOutcome> broken = base::fail(base::ErrorCode::corrupt, "on purpose");
    ASSERT_EQ(next.on(std::move(broken)).kind, Kind::release);
    ASSERT_EQ(next.on(Result<store::ReleaseOutcome>(store::ReleaseOutcome::released)).kind,
              Kind::done);
  }

  base::ManualClock clock_;
  base::Mutex mutex_;
  std::vector<std::string> lines_ HOLDFAST_GUARDED_BY(mutex_);
  std::map<std::string, std::uint64_t> counts_ HOLDFAST_GUARDED_BY(mutex_);
  std::map<std::string, std::uint64_t> samples_ HOLDFAST_GUARDED_BY(mutex_);
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

TEST_F(LockLog, ASecondReleaseOfALostLockSaysNothingEither) {
  {
    Lock lock = provider_.acquire("report");
    clock_.advance(1h);
    ASSERT_EQ(lock.check().error().code, base::ErrorCode::lost);
    ASSERT_TRUE(lock) << "it is still to be released";
    ASSERT_EQ(lock.release(), store::ReleaseOutcome::not_held);
    EXPECT_FALSE(lock);
    EXPECT_TRUE(lock.released());
    EXPECT_EQ(lock.state(), LockState::lost) << "never both";
    EXPECT_EQ(counted("not_held"), 1U);
    EXPECT_EQ(losses(), 1);
    EXPECT_EQ(lock.release(), store::ReleaseOutcome::not_held);
  }
  EXPECT_EQ(losses(), 0) << "neither does its destruction";
  EXPECT_EQ(counted("not_held"), 1U);
  EXPECT_EQ(observed("hold"), 1U);
}

TEST_F(LockLog, ANameThatWasHandedOverThoughTheReplyIsLostIsNoLoss) {
  find_gone_after_a_hand_over_that_failed(base::ErrorCode::unknown_outcome);
  EXPECT_EQ(losses(), 0);
  EXPECT_EQ(counted("not_held"), 0U);
}

TEST_F(LockLog, AHandOverThatWasNotExecutedDoesNotHideALoss) {
  find_gone_after_a_hand_over_that_failed(base::ErrorCode::unavailable);
  EXPECT_EQ(losses(), 1);
  EXPECT_EQ(counted("not_held"), 1U);
}

TEST_F(LockLog, AGrantThatCameTooLateIsNoLoss) {
  Flag flag;
  const AcquireOptions hasty{.ttl = 1s, .wait = 0s};
  steps::AcquireSteps call(*provider_.core(), "report", hasty, 0s, flag);
  ASSERT_EQ(call.start().kind, Kind::claim);
  clock_.advance(1s);
  ASSERT_EQ(call.on(Result<store::ClaimOutcome>(
                        store::Grant{.token = base::FencingToken(1), .time_left = 1s}))
                .kind,
            Kind::release);
  ASSERT_EQ(call.on(Result<store::ReleaseOutcome>(store::ReleaseOutcome::not_held)).kind,
            Kind::done);
  EXPECT_EQ(losses(), 0);
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
