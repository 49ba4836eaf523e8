#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <tests/support/patience.h>

#include <holdfast/base/manual_clock.h>
#include <holdfast/engines/memory/memory_store.h>
#include <holdfast/locks/lock_provider.h>
#include <holdfast/testing/faulty_store.h>

namespace holdfast::locks {
namespace {

using namespace std::chrono_literals;
using testing::Operation;

constexpr std::size_t kLeases = 10'000;
constexpr base::Duration kTtl = 30s;

class ManyLeasesTest : public ::testing::Test {
 protected:
  ManyLeasesTest() {
    for (std::size_t i = 0; i < kLeases; ++i) {
      held_.push_back(provider_.acquire("job " + std::to_string(i), {.ttl = kTtl}));
    }
  }

  static ProviderOptions options_with(const base::Clock& clock,
                                      std::atomic<std::uint64_t>& renewed) {
    ProviderOptions options;
    options.clock = &clock;
    options.metrics.count = [&renewed](std::string_view what, std::string_view, std::uint64_t by) {
      renewed += what == "renewed" ? by : 0;
    };
    return options;
  }
  std::size_t renewals() const { return store_->calls(Operation::renew); }
  void make_due() {
    clock_.wait_for_sleepers(1);
    clock_.advance(kTtl / 3);
  }

  base::ManualClock clock_;
  std::atomic<std::uint64_t> renewed_ = 0;
  const std::shared_ptr<testing::FaultyStore> store_ =
      std::make_shared<testing::FaultyStore>(std::make_shared<engines::memory::MemoryStore>(
          engines::memory::MemoryOptions{.clock = &clock_, .sweep_every = base::Duration::zero()}));
  LockProvider provider_{store_, options_with(clock_, renewed_)};
  std::vector<Lock> held_;
};

TEST_F(ManyLeasesTest, AreRenewedInSeveralBatches) {
  make_due();
  EXPECT_TRUE(tests::eventually([&] { return renewed_ == kLeases; }));
  EXPECT_EQ(renewals(), 3U);
}

TEST_F(ManyLeasesTest, ABatchThatFailsKeepsNoneOfTheOthersBack) {
  store_->lose_request(Operation::renew);
  make_due();
  // Without more time: the batch that failed is not tried again at once.
  EXPECT_TRUE(tests::eventually([&] { return renewals() == 3; }));
  EXPECT_TRUE(tests::eventually([&] { return renewed_ == kLeases - 4096; }));
}

}  // namespace
}  // namespace holdfast::locks
