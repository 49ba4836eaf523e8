#include <atomic>
#include <optional>
#include <string_view>

#include <gtest/gtest.h>

#include <holdfast/testing/internal/recipe_cases/degradation_run.h>

namespace holdfast::testing::internal {

namespace {

using namespace std::chrono_literals;
using base::ErrorCode;
using recipes::CircuitState;
using recipes::Protection;
using recipes::WhenUnavailable;

void remove_all(LockRun& run, std::string_view name) {
  for (const store::Holder& holder : run.holders(name)) {
    EXPECT_TRUE(run.store().release(name, holder.id));
  }
}

// Releases the lease, or removes it if an outage prevents that, so that no case has to wait for it
// to expire.
void give_back(LockRun& run, DegradableLockFace& lock) {
  const auto token = lock.token();
  if (lock.release() || !token) {
    return;
  }
  for (const store::Holder& holder : run.holders(lock.name())) {
    if (holder.token == *token) {
      EXPECT_TRUE(run.store().release(lock.name(), holder.id));
    }
  }
}

constexpr LockCase kCases[] = {
    {"ReturnsToNormalAutomatically",
     [](LockRun& run) {
       DegradationRun with(run, WhenUnavailable::proceed_without_lock);
       with.go_away_and_notice();
       run.network().come_back();
       with.pass_the_pause();
       EXPECT_EQ(with.protection_of_try("job"), Protection::full);
       EXPECT_EQ(with.provider().state(), CircuitState::closed);
       EXPECT_EQ(with.counted("breaker_opened"), 1);
       EXPECT_EQ(with.counted("breaker_probed"), 1);
       EXPECT_EQ(with.counted("breaker_closed"), 1);
       EXPECT_TRUE(with.has_said("the lock store is back"));
     }},

    {"AnAnsweredRenewalClosesTheBreaker",
     [](LockRun& run) {
       DegradationRun with(run, recipes::DegradationOptions{
                                    .when_unavailable = WhenUnavailable::proceed_without_lock,
                                    .failures = DegradationRun::kFailures,
                                    .retry_after = 24h,
                                    .answer_within = kPatience});
       locks::AcquireOptions options = run.options();
       options.renew_every = run.ttl() / 3;
       const auto lock = base::value_or_throw(with.provider().try_acquire("job", options));
       with.go_away_and_notice();
       run.network().come_back();
       run.pass(run.ttl());
       EXPECT_TRUE(run.soon([&] { return with.provider().state() == CircuitState::closed; }));
       EXPECT_TRUE(lock && lock->check());
       EXPECT_EQ(with.protection_of_try("another"), Protection::full);
     }},

    {"LostFiresOnAFullLockInALongOutage",
     [](LockRun& run) {
       DegradationRun with(run, WhenUnavailable::fall_back_to_local);
       auto held = with.provider().try_acquire("job", run.brief_options());
       const auto lock = must_have(std::move(held));
       std::atomic<bool> told = false;
       const std::stop_callback callback(lock->lost(), [&] { told = true; });
       run.network().go_away();
       run.pass(run.ttl());
       EXPECT_EQ(error_of(lock->check()), ErrorCode::lost);
       EXPECT_TRUE(run.soon([&] { return told.load(); }));
     }},

    {"CallersOfOneProviderExcludeEachOtherAcrossAnOutage",
     [](LockRun& run) {
       DegradationRun with(run, WhenUnavailable::fall_back_to_local);
       auto before = with.must_acquire("job");
       EXPECT_EQ(before->protection(), Protection::full);
       with.go_away_and_notice();
       EXPECT_EQ(with.protection_of_try("job"), std::nullopt);
       before.reset();

       auto meanwhile = with.must_acquire("job");
       EXPECT_EQ(meanwhile->protection(), Protection::local_only);
       run.network().come_back();
       with.pass_the_pause();
       EXPECT_EQ(with.protection_of_try("another"), Protection::full);
       EXPECT_EQ(with.protection_of_try("job"), std::nullopt);
       meanwhile.reset();

       // The lease of the first could not be released; remove it instead of waiting for it to
       // expire.
       remove_all(run, "job");
       EXPECT_EQ(with.protection_of_try("job"), Protection::full);
     }},

    {"AnUnprotectedCounterEndsExactAcrossOutages",
     [](LockRun& run) {
       DegradationRun with(
           run, recipes::DegradationOptions{.when_unavailable = WhenUnavailable::fall_back_to_local,
                                            .failures = 1,
                                            .retry_after = 1ms,
                                            .answer_within = kPatience});
       const int callers = 8;
       const int rounds = scaled(80);
       int counter = 0;  // protected by nothing but the lock
       std::atomic<int> locked = 0;
       auto all = run.in_background([&] {
         together(callers, [&](int i) {
           for (int round = 0; round < rounds; ++round) {
             if (i == 0 && round % 4 == 0) {
               round % 8 == 0 ? run.network().go_away() : run.network().come_back();
             }
             const auto lock = with.provider().acquire("job", patient_options());
             ++counter;
             ++locked;
             give_back(run, *lock);
           }
         });
         run.network().come_back();
       });
       run.result_of(all);
       EXPECT_EQ(locked, callers * rounds);
       EXPECT_EQ(counter, locked);
     },
     CaseTime::real},
};

}  // namespace

std::span<const LockCase> recovery_cases() { return kCases; }

}  // namespace holdfast::testing::internal
