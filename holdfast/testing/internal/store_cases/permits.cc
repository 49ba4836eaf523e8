#include <algorithm>
#include <atomic>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/testing/internal/patience.h>
#include <holdfast/testing/internal/store_run.h>

namespace holdfast::testing::internal {

namespace {

using base::ErrorCode;
using store::Claim;
using store::Permits;

constexpr StoreCase kCases[] = {
    {"PermitsAreGrantedUpToTheCapacity",
     [](StoreRun& run) {
       std::vector<Claim> claims;
       for (int i = 0; i < 5; ++i) {
         claims.push_back(wish(kLong, Permits::of(1, 5)));
         (void)granted(run.store().claim("pool", claims.back()));
       }
       EXPECT_EQ(busy(run.store().claim("pool", wish(kLong, Permits::of(1, 5)))).holders.size(),
                 5U);
       run.release("pool", claims[2].id);
       (void)granted(run.store().claim("pool", wish(kLong, Permits::of(1, 5))));
       (void)busy(run.store().claim("pool", wish(kLong, Permits::of(1, 5))));
     }},

    {"AClaimForSeveralPermitsIsAllOrNothing",
     [](StoreRun& run) {
       const Claim two = wish(kLong, Permits::of(2, 4));
       (void)granted(run.store().claim("pool", two));
       (void)busy(run.store().claim("pool", wish(kLong, Permits::of(3, 4))));
       (void)granted(run.store().claim("pool", wish(kLong, Permits::of(2, 4))));
       (void)busy(run.store().claim("pool", wish(kLong, Permits::of(1, 4))));
       run.release("pool", two.id);
       (void)busy(run.store().claim("pool", wish(kLong, Permits::of(3, 4))));
       (void)granted(run.store().claim("pool", wish(kLong, Permits::of(2, 4))));
     }},

    {"AnotherCapacityForAHeldNameIsAConflict",
     [](StoreRun& run) {
       const Claim claim = wish(kLong, Permits::of(1, 3));
       (void)granted(run.store().claim("pool", claim));
       EXPECT_EQ(error_of(run.store().claim("pool", wish(kLong, Permits::of(1, 4)))),
                 ErrorCode::conflict);
       EXPECT_EQ(error_of(run.store().claim("pool", wish())), ErrorCode::conflict);
       ASSERT_EQ(run.holders("pool").size(), 1U);
       run.release("pool", claim.id);
       (void)granted(run.store().claim("pool", wish(kLong, Permits::of(1, 4))));
     }},

    {"TheSameIdWithOtherPermitsIsAConflict",
     [](StoreRun& run) {
       Claim claim = wish(kLong, Permits::of(1, 3));
       (void)granted(run.store().claim("pool", claim));
       claim.permits = Permits::of(2, 3);
       EXPECT_EQ(error_of(run.store().claim("pool", claim)), ErrorCode::conflict);
       EXPECT_EQ(run.holders("pool").at(0).permits, 1U);
     }},

    {"AnExpiredPermitIsUsedAgain",
     [](StoreRun& run) {
       (void)granted(run.store().claim("pool", wish(run.ttl(), Permits::of(1, 2))));
       (void)granted(run.store().claim("pool", wish(kLong, Permits::of(1, 2))));
       run.pass(run.ttl());
       (void)granted(run.store().claim("pool", wish(kLong, Permits::of(1, 2))));
       (void)busy(run.store().claim("pool", wish(kLong, Permits::of(1, 2))));
     }},

    {"AfterAllHaveExpiredAnotherCapacityIsFine",
     [](StoreRun& run) {
       (void)granted(run.store().claim("pool", wish(run.ttl(), Permits::of(1, 2))));
       run.pass(run.ttl());
       (void)granted(run.store().claim("pool", wish(kLong, Permits::of(1, 9))));
       EXPECT_EQ(base::value_or_throw(run.store().look("pool"))->capacity, 9U);
     }},

    {"BusySaysWhenEnoughPermitsWillBeFree",
     [](StoreRun& run) {
       using std::chrono::minutes;
       (void)granted(run.store().claim("pool", wish(minutes(30), Permits::of(1, 3))));
       (void)granted(run.store().claim("pool", wish(minutes(10), Permits::of(1, 3))));
       (void)granted(run.store().claim("pool", wish(minutes(20), Permits::of(1, 3))));
       for (const std::uint32_t wanted : {1U, 2U, 3U}) {
         const auto answer = busy(run.store().claim("pool", wish(kLong, Permits::of(wanted, 3))));
         EXPECT_LE(answer.frees_in, minutes(10) * wanted);
         EXPECT_GT(answer.frees_in, minutes(10) * (wanted - 1));
       }
     }},

    {"ReadersShareAndAWriterIsAlone",
     [](StoreRun& run) {
       const Claim reader = wish(kLong, Permits::reader());
       const Claim other = wish(kLong, Permits::reader());
       (void)granted(run.store().claim("data", reader));
       (void)granted(run.store().claim("data", other));
       (void)busy(run.store().claim("data", wish(kLong, Permits::writer())));
       run.release("data", reader.id);
       (void)busy(run.store().claim("data", wish(kLong, Permits::writer())));
       run.release("data", other.id);
       (void)granted(run.store().claim("data", wish(kLong, Permits::writer())));
       (void)busy(run.store().claim("data", wish(kLong, Permits::reader())));
       (void)busy(run.store().claim("data", wish(kLong, Permits::writer())));
     }},

    {"NeverMoreThanTheCapacityAmong64ClaimersAndTheCapacityIsReached",
     [](StoreRun& run) {
       constexpr int kCapacity = 5;
       std::atomic<int> held = 0;
       std::atomic<int> most = 0;
       std::atomic<int> errors = 0;
       together(64, [&](int) {
         for (int i = 0; i < scaled(24); ++i) {
           const Claim claim = wish(kLong, Permits::of(1, kCapacity));
           const auto outcome = run.store().claim("pool", claim);
           if (outcome && std::holds_alternative<store::Grant>(*outcome)) {
             const int now = ++held;
             int before = most;
             while (before < now && !most.compare_exchange_weak(before, now)) {
             }
             --held;
             errors += run.store().release("pool", claim.id) ? 0 : 1;
           }
           errors += outcome ? 0 : 1;
         }
       });
       EXPECT_LE(most, kCapacity);
       EXPECT_EQ(errors, 0);
       EXPECT_TRUE(run.holders("pool").empty());

       std::atomic<int> grants = 0;
       together(64, [&](int) {
         const auto outcome = run.store().claim("pool", wish(kLong, Permits::of(1, kCapacity)));
         grants += outcome && std::holds_alternative<store::Grant>(*outcome) ? 1 : 0;
       });
       EXPECT_EQ(grants, kCapacity);
     }},
};

}  // namespace

std::span<const StoreCase> permit_cases() { return kCases; }

}  // namespace holdfast::testing::internal
