#include <holdfast/store/store_lease_provider.h>

#include <gtest/gtest.h>

#include <holdfast/base/lease_provider_testing.h>
#include <holdfast/base/manual_clock.h>
#include <holdfast/engines/memory/memory_store.h>

namespace holdfast::store {
namespace {

using namespace base::testing_support;

class StoreLeaseProviderTest : public ::testing::Test {
 protected:
  base::ManualClock clock_;
  engines::memory::MemoryStore store_{{.clock = &clock_}};
  StoreLeaseProvider locks_{store_};
  const ProviderUnderTest test_{locks_, [this](base::Duration by) { clock_.advance(by); }};
};

TEST_F(StoreLeaseProviderTest, LeasesEndWithTheirTtl) { expect_leases_that_end(test_); }
TEST_F(StoreLeaseProviderTest, UnlocksOnlyWhatIsMeant) { expect_unlocks_of_what_is_meant(test_); }
TEST_F(StoreLeaseProviderTest, RefusesBadArguments) { expect_refusal_of_bad_arguments(test_); }
TEST_F(StoreLeaseProviderTest, OneOfManyRacersWins) { expect_one_winner_among_many(test_); }

}  // namespace
}  // namespace holdfast::store
