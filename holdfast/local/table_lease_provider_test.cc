#include <holdfast/local/table_lease_provider.h>

#include <gtest/gtest.h>

#include <holdfast/base/lease_provider_testing.h>
#include <holdfast/base/manual_clock.h>

namespace holdfast::local {
namespace {

using namespace base::testing_support;

class TableLeaseProviderTest : public ::testing::Test {
 protected:
  base::ManualClock clock_;
  LeaseTable table_{{.clock = &clock_, .sweep_every = base::Duration::zero()}};
  TableLeaseProvider locks_{table_};
  const ProviderUnderTest test_{locks_, [this](base::Duration by) { clock_.advance(by); }};
};

TEST_F(TableLeaseProviderTest, LeasesEndWithTheirTtl) { expect_leases_that_end(test_); }
TEST_F(TableLeaseProviderTest, UnlocksOnlyWhatIsMeant) { expect_unlocks_of_what_is_meant(test_); }
TEST_F(TableLeaseProviderTest, RefusesBadArguments) { expect_refusal_of_bad_arguments(test_); }
TEST_F(TableLeaseProviderTest, OneOfManyRacersWins) { expect_one_winner_among_many(test_); }

}  // namespace
}  // namespace holdfast::local
