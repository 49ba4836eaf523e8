#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/testing/internal/lock_run.h>

namespace holdfast::testing::internal {

namespace {

using namespace std::chrono_literals;
using locks::AcquireOptions;
using Lock = LockUnderTest;
using LockProvider = ProviderUnderTest;

// A counter that only exclusion keeps right: reading and writing are two steps. Atomic only so that
// a sanitizer, which does not see how a store excludes, does not report a race.
class UnprotectedCounter {
 public:
  void add() {
    value_.store(value_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  [[nodiscard]] int value() const { return value_; }

 private:
  std::atomic<int> value_ = 0;
};

// Every caller gets the name once, one at a time; callers of one provider share a queue.
void count_in_parallel(LockRun& run, int callers, std::vector<LockProvider*> providers) {
  UnprotectedCounter counter;
  std::atomic<int> inside = 0;
  std::atomic<int> overlaps = 0;
  auto all = run.in_background([&] {
    together(callers, [&](int i) {
      LockProvider& provider = *providers[static_cast<std::size_t>(i) % providers.size()];
      const auto lock = provider.try_acquire("job", {.ttl = 1h, .wait = 24h});
      if (lock && *lock) {
        overlaps += inside++ == 0 ? 0 : 1;
        counter.add();
        --inside;
      }
    });
  });
  run.result_of(all);
  EXPECT_EQ(counter.value(), callers);
  EXPECT_EQ(overlaps, 0);
  EXPECT_TRUE(run.holders("job").empty());
  for (const LockProvider* const provider : providers) {
    EXPECT_EQ(provider->held(), 0U);
    EXPECT_EQ(provider->waiting(), 0U);
  }
}

constexpr LockCase kCases[] = {
    {"OneOfFourCallersThatTryOnceAcquiresTheName",
     [](LockRun& run) {
       for (int round = 0; round < scaled(40); ++round) {
         std::vector<std::unique_ptr<LockProvider>> providers;
         for (int i = 0; i < 4; ++i) {
           providers.push_back(run.another_provider());
         }
         std::vector<std::optional<Lock>> held(4);
         together(4, [&](int i) {
           const auto at = static_cast<std::size_t>(i);
           held[at] = providers[at]->try_acquire("job", run.options()).value_or(std::nullopt);
         });
         ASSERT_EQ(std::ranges::count_if(held, [](const auto& lock) { return !!lock; }), 1);
       }
     }},

    {"AHundredInSequence",
     [](LockRun& run) {
       base::FencingToken last(0);
       for (int i = 0; i < 100; ++i) {
         const Lock lock = run.provider().acquire("job", run.options());
         ASSERT_GT(lock.token(), last);
         last = lock.token();
       }
       EXPECT_TRUE(run.holders("job").empty());
     }},

    {"AHundredAndFiftyNamesInParallel",
     [](LockRun& run) {
       const int count = scaled(150);
       std::atomic<int> held = 0;
       together(count, [&](int i) {
         // A wait, although the names are free: a try without a wait soon gives up on a store that
         // is this busy.
         const auto lock =
             run.provider().try_acquire("job " + std::to_string(i), {.ttl = 1h, .wait = 24h});
         held += lock && *lock && (*lock)->check() ? 1 : 0;
       });
       EXPECT_EQ(held, count);
       EXPECT_EQ(run.provider().held(), 0U);
     }},

    {"FiveHundredInParallelOneAtATime",
     [](LockRun& run) { count_in_parallel(run, scaled(500), {&run.provider()}); }, CaseTime::real},

    {"FiveHundredInParallelOverFourProvidersOneAtATime",
     [](LockRun& run) {
       const auto two = run.another_provider();
       const auto three = run.another_provider();
       const auto four = run.another_provider();
       count_in_parallel(run, scaled(500), {&run.provider(), two.get(), three.get(), four.get()});
     },
     CaseTime::real},

    {"NeverMoreThanTheCapacityInACrowd",
     [](LockRun& run) {
       std::atomic<int> inside = 0;
       std::atomic<int> excesses = 0;
       std::atomic<int> served = 0;
       const int callers = scaled(128);
       auto all = run.in_background([&] {
         together(callers, [&](int) {
           AcquireOptions options = run.options();
           options.wait = 24h;
           options.permits = store::Permits::of(1, 3);
           const auto lock = run.provider().try_acquire("pool", options);
           if (lock && *lock) {
             excesses += ++inside > 3 ? 1 : 0;
             ++served;
             --inside;
           }
         });
       });
       run.result_of(all);
       EXPECT_EQ(excesses, 0);
       EXPECT_EQ(served, callers);
     },
     CaseTime::real},
};

}  // namespace

std::span<const LockCase> crowd_cases() { return kCases; }

}  // namespace holdfast::testing::internal
