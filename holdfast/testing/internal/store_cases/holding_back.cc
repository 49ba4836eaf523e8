#include <atomic>
#include <string>

#include <gtest/gtest.h>

#include <holdfast/testing/internal/patience.h>
#include <holdfast/testing/internal/store_run.h>

namespace holdfast::testing::internal {

namespace {

using store::Claim;
using store::Permits;
using store::ReleaseOutcome;
using store::Watch;

// Returns the claim of a writer that holds readers back while it waits.
Claim patient_writer(base::Duration holds_back = kLong) {
  Claim claim = wish(kLong, Permits::writer());
  claim.holds_back = holds_back;
  return claim;
}

Claim reader() { return wish(kLong, Permits::reader()); }

constexpr StoreCase kCases[] = {
    {"AWaitingClaimHoldsBackSmallerClaims",
     [](StoreRun& run) {
       const Claim first = reader();
       const Claim writer = patient_writer();
       (void)granted(run.store().claim("doc", first));
       (void)busy(run.store().claim("doc", writer));
       const store::Busy refused = busy(run.store().claim("doc", reader()));
       EXPECT_GT(refused.frees_in, base::Duration::zero());
       EXPECT_LE(refused.frees_in, kLong);
       // A present holder is not affected.
       (void)granted(run.store().claim("doc", first));
       EXPECT_EQ(run.renew("doc", first.id, kLong), store::RenewOutcome::renewed);
       run.release("doc", first.id);
       EXPECT_TRUE(run.holders("doc").empty());
       const store::Busy still = busy(run.open()->claim("doc", reader()));
       EXPECT_TRUE(still.holders.empty());
       (void)granted(run.store().claim("doc", writer));
     }},

    {"AClaimThatWaitsWithoutHoldingBackIsPassed",
     [](StoreRun& run) {
       (void)granted(run.store().claim("doc", reader()));
       (void)busy(run.store().claim("doc", wish(kLong, Permits::writer())));
       (void)granted(run.store().claim("doc", reader()));
     }},

    {"AfterTheGrantNothingIsHeldBack",
     [](StoreRun& run) {
       const Claim first = reader();
       const Claim writer = patient_writer();
       (void)granted(run.store().claim("doc", first));
       (void)busy(run.store().claim("doc", writer));
       run.release("doc", first.id);
       (void)granted(run.store().claim("doc", writer));
       run.release("doc", writer.id);
       (void)granted(run.store().claim("doc", reader()));
     }},

    {"AReleaseEndsTheWaitOfItsId",
     [](StoreRun& run) {
       const Claim writer = patient_writer();
       (void)granted(run.store().claim("doc", reader()));
       (void)busy(run.store().claim("doc", writer));
       EXPECT_EQ(run.release("doc", writer.id), ReleaseOutcome::not_held);
       (void)granted(run.store().claim("doc", reader()));
     }},

    {"AReleaseOfAWaitingIdWakesAWatcher",
     [](StoreRun& run) {
       if (!run.store().capabilities().push) {
         GTEST_SKIP() << "the engine does not promise to push";
       }
       const Claim writer = patient_writer();
       (void)granted(run.store().claim("doc", reader()));
       (void)busy(run.store().claim("doc", writer));
       std::atomic<int> calls = 0;
       const Watch watch =
           base::value_or_throw(run.store().watch("doc", [&](const auto&) { ++calls; }));
       // A hint may be spurious; then claim again, and wait until no more hints come.
       (void)busy(run.store().claim("doc", reader()));
       const int before = calls;
       EXPECT_EQ(run.release("doc", writer.id), ReleaseOutcome::not_held);
       EXPECT_TRUE(eventually([&] { return calls > before; }));
     }},

    {"AWaitExpires",
     [](StoreRun& run) {
       (void)granted(run.store().claim("doc", reader()));
       (void)busy(run.store().claim("doc", patient_writer(run.ttl())));
       run.pass(run.ttl());
       (void)granted(run.store().claim("doc", reader()));
     }},

    {"ClaimsForAsMuchAreNotHeldBack",
     [](StoreRun& run) {
       const Claim first = reader();
       const Claim two = patient_writer();
       (void)granted(run.store().claim("doc", first));
       (void)busy(run.store().claim("doc", patient_writer()));
       (void)busy(run.store().claim("doc", two));
       run.release("doc", first.id);
       (void)granted(run.store().claim("doc", two));
       run.release("doc", two.id);
       // The other one still waits.
       (void)busy(run.store().claim("doc", reader()));
     }},

    {"AMutexIsNeverHeldBack",
     [](StoreRun& run) {
       Claim waiting = wish();
       waiting.holds_back = kLong;
       const Claim holder = wish();
       (void)granted(run.store().claim("job", holder));
       (void)busy(run.store().claim("job", waiting));
       run.release("job", holder.id);
       (void)granted(run.store().claim("job", wish()));
     }},

    {"AWaitIsOfItsCapacity",
     [](StoreRun& run) {
       const Claim first = reader();
       (void)granted(run.store().claim("doc", first));
       (void)busy(run.store().claim("doc", patient_writer()));
       run.release("doc", first.id);
       (void)granted(run.store().claim("doc", wish()));
     }},

    {"ALeaseIsNotHandedOnPastAWaitingClaim",
     [](StoreRun& run) {
       const Claim first = reader();
       const Claim writer = patient_writer();
       (void)granted(run.store().claim("doc", first));
       (void)busy(run.store().claim("doc", writer));
       EXPECT_TRUE(std::holds_alternative<store::HeldBack>(
           base::value_or_throw(run.store().transfer("doc", first.id, reader()))));
       EXPECT_EQ(run.release("doc", first.id), ReleaseOutcome::released);
       (void)granted(run.store().claim("doc", writer));
     }},

    {"ManyWaitingClaimsAreBounded",
     [](StoreRun& run) {
       const Claim first = reader();
       (void)granted(run.store().claim("doc", first));
       std::vector<Claim> writers;
       for (std::size_t i = 0; i < 3 * Claim::kMaxWaiting; ++i) {
         writers.push_back(patient_writer());
         (void)busy(run.store().claim("doc", writers.back()));
       }
       (void)busy(run.store().claim("doc", reader()));
       for (const Claim& each : writers) {
         EXPECT_EQ(run.release("doc", each.id), ReleaseOutcome::not_held);
       }
       (void)granted(run.store().claim("doc", reader()));
     }},

    {"AWaitSurvivesCleanUp",
     [](StoreRun& run) {
       if (!run.place().clean_up) {
         GTEST_SKIP() << "the engine's clean-up cannot be asked for";
       }
       const Claim first = reader();
       (void)granted(run.store().claim("doc", first));
       (void)busy(run.store().claim("doc", patient_writer()));
       run.release("doc", first.id);
       run.place().clean_up();
       (void)busy(run.store().claim("doc", reader()));
     }},
};

}  // namespace

std::span<const StoreCase> holding_back_cases() { return kCases; }

}  // namespace holdfast::testing::internal
