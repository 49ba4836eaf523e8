#include <atomic>
#include <limits>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/testing/internal/recipe_cases/recipe_cases.h>

namespace holdfast::testing::internal {

namespace {

using namespace std::chrono_literals;
using base::ErrorCode;
using locks::AcquireOptions;

AcquireOptions waiting() {
  AcquireOptions options = LockRun::options();
  options.wait = 24h;
  return options;
}

constexpr LockCase kCases[] = {
    {"ReachesItsCapacityAndNotMore",
     [](LockRun& run) {
       const auto pool = run.recipes().semaphore("pool", 3);
       EXPECT_EQ(pool->available(), 3U);
       const auto one = pool->acquire(1, run.options());
       const auto two = pool->acquire(2, run.options());
       EXPECT_EQ(pool->available(), 0U);
       EXPECT_TRUE(is_busy(pool->try_acquire(1, run.options())));
     }},

    {"IsNeverOverItsCapacityInACrowd",
     [](LockRun& run) {
       constexpr std::uint32_t kCapacity = 3;
       const auto other = run.another_provider();
       std::atomic<std::uint32_t> inside = 0;
       std::atomic<std::uint32_t> most = 0;
       std::atomic<int> failed = 0;
       auto crowd = run.in_background([&] {
         together(8, [&](int i) {
           const auto pool =
               (i % 2 == 0 ? run.provider() : *other).recipes().semaphore("pool", kCapacity);
           for (int round = 0; round < scaled(16); ++round) {
             const auto permits = static_cast<std::uint32_t>(1 + (i + round) % 2);
             auto lock = pool->try_acquire(permits, waiting());
             if (!lock || !*lock) {
               ++failed;
               continue;
             }
             const std::uint32_t now = inside += permits;
             for (auto seen = most.load(); now > seen && !most.compare_exchange_weak(seen, now);) {
             }
             std::this_thread::yield();
             inside -= permits;
           }
         });
         return 0;
       });
       run.result_of(crowd);
       EXPECT_EQ(failed, 0);
       EXPECT_LE(most, kCapacity);
       EXPECT_EQ(run.recipes().semaphore("pool", kCapacity)->available(), kCapacity);
     }},

    {"SeveralPermitsAreAcquiredAllOrNone",
     [](LockRun& run) {
       const auto pool = run.recipes().semaphore("pool", 3);
       const auto two = pool->acquire(2, run.options());
       EXPECT_TRUE(is_busy(pool->try_acquire(2, run.options())));
       EXPECT_EQ(pool->available(), 1U);
     }},

    {"ADrainWaitsForAllHoldersAndIsNotPassed",
     [](LockRun& run) {
       const auto pool = run.recipes().semaphore("pool", 4);
       auto one = pool->acquire(1, run.options());
       const auto other = run.another_provider();
       auto drained = run.in_background(
           [&] { return other->recipes().semaphore("pool", 4)->drain(waiting()); });
       EXPECT_TRUE(run.soon([&] { return is_busy(pool->try_acquire(1, run.options())); }));
       EXPECT_EQ(pool->available(), 3U);
       one.reset();
       const auto all = run.result_of(drained);
       EXPECT_EQ(pool->available(), 0U);
       ASSERT_TRUE(pool->reduce(*all, 1));
       EXPECT_EQ(pool->available(), 3U);
       EXPECT_FALSE(is_busy(pool->try_acquire(3, run.options())));
     }},

    {"AWaiterBehindADrainIsNotHandedAPermit",
     [](LockRun& run) {
       const auto pool = run.recipes().semaphore("pool", 2);
       const auto one = pool->acquire(1, run.options());
       const auto two = pool->acquire(1, run.options());
       // A third caller waits in this process, a drain in another; then a permit becomes free.
       auto third = run.in_background([&] { return pool->try_acquire(1, waiting()); });
       EXPECT_TRUE(run.soon([&] { return run.provider().waiting() == 1; }));
       const store::Claim drain{.id = base::LeaseId::generate(),
                                .owner = "a drain",
                                .reason = {},
                                .ttl = 1h,
                                .permits = store::Permits::of(2, 2),
                                .holds_back = 24h};
       ASSERT_TRUE(run.store().claim("pool", drain));
       EXPECT_EQ(one->release(), store::ReleaseOutcome::released);
       EXPECT_EQ(run.holders("pool").size(), 1U);
       EXPECT_EQ(two->release(), store::ReleaseOutcome::released);
       EXPECT_TRUE(run.is_soon_free("pool"));
       const auto granted = base::value_or_throw(run.store().claim("pool", drain));
       EXPECT_TRUE(std::holds_alternative<store::Grant>(granted));
       EXPECT_EQ(run.store().release("pool", drain.id), store::ReleaseOutcome::released);
       EXPECT_TRUE(must_have(run.result_of(third))->check());
     }},

    {"MayHaveAsManyPermitsAsAnIntCounts",
     [](LockRun& run) {
       constexpr auto kMany = static_cast<std::uint32_t>(std::numeric_limits<int>::max());
       const auto tickets = run.recipes().semaphore("tickets", kMany);
       const auto most = tickets->acquire(kMany - 1, run.options());
       EXPECT_EQ(tickets->available(), 1U);
       const auto last = tickets->acquire(1, run.options());
       EXPECT_TRUE(is_busy(tickets->try_acquire(1, run.options())));
     }},

    {"AnExpiredSlotIsUsedAgain",
     [](LockRun& run) {
       const auto pool = run.recipes().semaphore("pool", 2);
       const auto mine = pool->acquire(1, run.brief_options());
       const store::Claim dead{.id = base::LeaseId::generate(),
                               .owner = "the dead",
                               .reason = {},
                               .ttl = run.ttl(),
                               .permits = store::Permits::of(1, 2)};
       ASSERT_TRUE(run.store().claim("pool", dead));
       EXPECT_TRUE(is_busy(pool->try_acquire(1, run.options())));
       const auto next =
           must_have(run.result_of_call([&] { return pool->try_acquire(1, waiting()); }));
       EXPECT_TRUE(mine->check());
     }},

    {"AnotherCapacityIsAConflict",
     [](LockRun& run) {
       const auto three = run.recipes().semaphore("pool", 3);
       const auto four = run.recipes().semaphore("pool", 4);
       {
         const auto one = three->acquire(1, run.options());
         EXPECT_EQ(error_of(four->try_acquire(1, run.options())), ErrorCode::conflict);
         EXPECT_EQ(error_of(four->available()), ErrorCode::conflict);
       }
       EXPECT_FALSE(is_busy(four->try_acquire(4, run.options())));
     }},

    {"BadNumbersAreRejected",
     [](LockRun& run) {
       EXPECT_EQ(code_thrown_by([&] { (void)run.recipes().semaphore("pool", 0); }),
                 ErrorCode::invalid_argument);
       const auto pool = run.recipes().semaphore("pool", 3);
       EXPECT_EQ(error_of(pool->try_acquire(0, run.options())), ErrorCode::invalid_argument);
       EXPECT_EQ(error_of(pool->try_acquire(4, run.options())), ErrorCode::invalid_argument);
     }},
};

}  // namespace

std::span<const LockCase> semaphore_cases() { return kCases; }

}  // namespace holdfast::testing::internal
