#include <gtest/gtest.h>

#include <holdfast/testing/internal/store_run.h>

namespace holdfast::testing::internal {

namespace {

using base::ErrorCode;
using store::Claim;

bool is_typed(std::optional<ErrorCode> code) {
  return code == ErrorCode::conflict || code == ErrorCode::corrupt;
}

constexpr StoreCase kCases[] = {
    {"ANameThatCountsHitsCannotBeLeased",
     [](StoreRun& run) {
       ASSERT_TRUE(base::value_or_throw(run.store().hit("name", {.limit = 2, .period = run.ttl()}))
                       .allowed);
       EXPECT_EQ(error_of(run.store().claim("name", wish())), ErrorCode::conflict);
       EXPECT_EQ(base::value_or_throw(run.store().hit("name", {.limit = 2, .period = run.ttl()}))
                     .remaining,
                 0U);
       EXPECT_TRUE(run.holders("name").empty());
       run.pass(run.ttl());
       (void)granted(run.store().claim("name", wish()));
     }},

    {"ALeasedNameCannotCountHits",
     [](StoreRun& run) {
       const Claim claim = wish(run.ttl());
       const store::Grant grant = granted(run.store().claim("name", claim));
       EXPECT_EQ(error_of(run.store().hit("name", {.limit = 2, .period = kLong})),
                 ErrorCode::conflict);
       EXPECT_EQ(granted(run.store().claim("name", claim)).token, grant.token);
       run.pass(run.ttl());
       EXPECT_TRUE(
           base::value_or_throw(run.store().hit("name", {.limit = 2, .period = kLong})).allowed);
     }},

    {"TokensGrowAcrossAWindowOfHits",
     [](StoreRun& run) {
       const Claim claim = wish();
       const store::Grant before = granted(run.store().claim("name", claim));
       run.release("name", claim.id);
       ASSERT_TRUE(base::value_or_throw(run.store().hit("name", {.limit = 2, .period = run.ttl()}))
                       .allowed);
       run.pass(run.ttl());
       EXPECT_GT(granted(run.store().claim("name", wish())).token, before.token);
     }},

    {"AForeignValueIsATypedErrorAndIsNotOverwritten",
     [](StoreRun& run) {
       if (!run.place().plant_foreign) {
         GTEST_SKIP() << "nothing foreign can be planted in this engine";
       }
       const auto intact = run.place().plant_foreign("foreign");
       const auto id = base::LeaseId::generate();
       EXPECT_TRUE(is_typed(error_of(run.store().claim("foreign", wish()))));
       EXPECT_TRUE(intact());
       EXPECT_TRUE(is_typed(error_of(run.store().hit("foreign", {.limit = 1, .period = kLong}))));
       EXPECT_TRUE(intact());
       const auto released = run.store().release("foreign", id);
       EXPECT_TRUE(released == store::ReleaseOutcome::not_held || is_typed(error_of(released)));
       EXPECT_TRUE(intact());
       const auto transferred = run.store().transfer("foreign", id, wish());
       EXPECT_TRUE(is_typed(error_of(transferred)) || is_lost(transferred));
       EXPECT_TRUE(intact());
       (void)granted(run.store().claim("another", wish()));
     }},
};

}  // namespace

std::span<const StoreCase> kind_cases() { return kCases; }

}  // namespace holdfast::testing::internal
