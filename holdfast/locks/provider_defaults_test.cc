#include <atomic>
#include <chrono>
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

class ProviderDefaults : public testing::Test {
 protected:
  std::unique_ptr<LockProvider> provider(ProviderOptions options) {
    options.clock = &clock_;
    options.metrics.count = [this](std::string_view counter, std::string_view, std::uint64_t by) {
      if (counter == "renewed") renewed_ += by;
    };
    return std::make_unique<LockProvider>(store_, std::move(options));
  }

  base::Duration time_left() const { return store_->look("job")->value().holders.at(0).time_left; }

  base::ManualClock clock_;
  std::atomic<std::uint64_t> renewed_ = 0;
  std::shared_ptr<store::LeaseStore> store_ = std::make_shared<MemoryStore>(
      engines::memory::MemoryOptions{.clock = &clock_, .sweep_every = {}});
};

TEST_F(ProviderDefaults, ALeaseLastsThirtySecondsWhereNobodySaysOtherwise) {
  const auto locks = provider({});
  const Lock lock = locks->acquire("job");
  EXPECT_EQ(time_left(), 30s);
}

TEST_F(ProviderDefaults, TheTtlOfACallComesBeforeThatOfTheProvider) {
  const auto locks = provider({.ttl = 10s});
  {
    const Lock lock = locks->acquire("job");
    EXPECT_EQ(time_left(), 10s);
  }
  const Lock lock = locks->acquire("job", {.ttl = 3s});
  EXPECT_EQ(time_left(), 3s);
}

TEST_F(ProviderDefaults, TheCadenceOfTheProviderIsKept) {
  const auto locks = provider({.ttl = 10s, .renew_every = 9s});
  const Lock lock = locks->acquire("job");
  clock_.wait_for_sleepers(2);
  clock_.advance(8s);
  clock_.wait_for_sleepers(2);
  EXPECT_EQ(renewed_, 0U);  // at a third of the ttl it would have been renewed by now
  clock_.advance(1s);
  EXPECT_TRUE(tests::eventually([&] { return time_left() == 10s && renewed_ == 1; }));
}

TEST_F(ProviderDefaults, ACallWithItsOwnTtlIsRenewedByItsOwnCadence) {
  const auto locks = provider({.ttl = 10s, .renew_every = 9s});
  const Lock lock = locks->acquire("job", {.ttl = 6s});
  clock_.wait_for_sleepers(1);
  clock_.advance(2s);
  EXPECT_TRUE(tests::eventually([&] { return time_left() == 6s; }));
}

TEST_F(ProviderDefaults, AnInvalidDefaultIsRejectedWhenTheProviderIsMade) {
  EXPECT_THROW(provider({.ttl = 99ms}), base::Exception);
  EXPECT_THROW(provider({.ttl = 10s, .renew_every = 10s}), base::Exception);
  EXPECT_THROW(provider({.renew_every = 0s}), base::Exception);
}

}  // namespace
}  // namespace holdfast::locks
