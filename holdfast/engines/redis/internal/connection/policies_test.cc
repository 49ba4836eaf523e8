#include <gtest/gtest.h>

#include <holdfast/engines/redis/internal/connection/backoff.h>
#include <holdfast/engines/redis/internal/connection/spin_budget.h>

namespace holdfast::engines::redis::internal {
namespace {

TEST(Backoff, GrowsToItsBoundAndStartsAgain) {
  constexpr std::uint64_t kAll = 0;
  Backoff backoff;
  base::Duration last = backoff.next(kAll);
  EXPECT_EQ(last, Backoff::kFirst / 2);
  for (int i = 0; i < 20; ++i) {
    const base::Duration next = backoff.next(kAll);
    EXPECT_GE(next, last);
    EXPECT_LE(next, Backoff::kMost);
    last = next;
  }
  EXPECT_EQ(last, Backoff::kMost / 2);
  backoff.reset();
  EXPECT_EQ(backoff.next(kAll), Backoff::kFirst / 2);
}

TEST(Backoff, TakesARandomPartBetweenHalfAndAll) {
  for (const std::uint64_t random :
       {std::uint64_t{0}, std::uint64_t{12'345'678}, ~std::uint64_t{0}}) {
    Backoff backoff;
    const base::Duration pause = backoff.next(random);
    EXPECT_GE(pause, Backoff::kFirst / 2);
    EXPECT_LE(pause, Backoff::kFirst);
  }
  Backoff one;
  Backoff other;
  EXPECT_NE(one.next(1), other.next(2));
}

TEST(SpinBudget, NeverSpinsOnOneCore) {
  SpinBudget budget(SpinBudget::Cores::one);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_FALSE(budget.should_spin());
  }
}

TEST(SpinBudget, SpinsWhileItPays) {
  SpinBudget budget(SpinBudget::Cores::several);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_TRUE(budget.should_spin());
    budget.succeeded();
  }
}

TEST(SpinBudget, StopsWhereItDoesNotPayButLooksNowAndThen) {
  SpinBudget budget(SpinBudget::Cores::several);
  int spins = 0;
  for (int i = 0; i < 1000; ++i) {
    if (budget.should_spin()) {
      ++spins;
      budget.failed();
    }
  }
  EXPECT_GT(spins, 4);
  EXPECT_LT(spins, 50);
}

TEST(SpinBudget, ComesBackWhenItPaysAgain) {
  SpinBudget budget(SpinBudget::Cores::several);
  while (budget.should_spin()) {
    budget.failed();
  }
  while (!budget.should_spin()) {
  }
  budget.succeeded();
  EXPECT_TRUE(budget.should_spin());
}

}  // namespace
}  // namespace holdfast::engines::redis::internal
