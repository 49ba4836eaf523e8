#include <tests/simulation/checker.h>

#include <vector>

#include <gtest/gtest.h>

namespace holdfast::simulation {
namespace {

using namespace std::chrono_literals;
using Kind = Checker::Operation::Kind;

constexpr base::LeaseId kA{1, 1};
constexpr base::LeaseId kB{2, 2};
constexpr base::TimePoint kNow{10s};

class CheckerTest : public ::testing::Test {
 protected:
  void done(Kind kind, base::LeaseId id, std::vector<Checker::Lease> live,
            base::TimePoint now = kNow, base::LeaseId to = {}) {
    checker_.done(0, {.kind = kind, .id = id, .to = to}, 1, live, now);
  }
  static Checker::Lease lease(base::LeaseId id, std::uint64_t token,
                              base::TimePoint expires = kNow + 5s) {
    return {.id = id, .token = token, .permits = 1, .expires = expires};
  }
  void acquired(base::LeaseId id, bool is_ours = true) {
    checker_.acquired({.name = 0, .id = id, .is_ours = [is_ours] { return is_ours; }});
  }
  // Returns what was violated.
  [[nodiscard]] std::optional<Promise> violated() const {
    return checker_.violation() ? std::optional(checker_.violation()->promise) : std::nullopt;
  }

  Checker checker_{1};
};

TEST_F(CheckerTest, ALeaseThatIsGrantedRenewedAndReleasedIsFine) {
  done(Kind::claim, kA, {lease(kA, 1)});
  done(Kind::claim, kB, {lease(kA, 1)});
  done(Kind::renew, kA, {lease(kA, 1, kNow + 9s)});
  done(Kind::transfer, kA, {lease(kB, 2)}, kNow, kB);
  done(Kind::release, kB, {});
  done(Kind::claim, kA, {lease(kA, 3)});
  EXPECT_EQ(violated(), std::nullopt);
}

TEST_F(CheckerTest, AReleaseMayGrantTheNameToAWaiter) {
  done(Kind::claim, kA, {lease(kA, 1)});
  done(Kind::release, kA, {lease(kB, 2)});
  EXPECT_EQ(violated(), std::nullopt);
}

TEST_F(CheckerTest, TwoLeasesOfAMutexAreTooMany) {
  done(Kind::claim, kA, {lease(kA, 1)});
  done(Kind::claim, kB, {lease(kA, 1), lease(kB, 2)});
  EXPECT_EQ(violated(), Promise::one_holder);
}

TEST_F(CheckerTest, ATokenThatDoesNotGrowIsNoticed) {
  done(Kind::claim, kA, {lease(kA, 7)});
  done(Kind::release, kA, {});
  done(Kind::claim, kB, {lease(kB, 7)});
  EXPECT_EQ(violated(), Promise::tokens_grow);
}

TEST_F(CheckerTest, ARequestThatRemovesTheLeaseOfAnotherIsNoticed) {
  done(Kind::claim, kA, {lease(kA, 1)});
  done(Kind::release, kB, {});
  EXPECT_EQ(violated(), Promise::release_frees_own);
}

TEST_F(CheckerTest, AnExpiredLeaseMayBeRemovedByAnybody) {
  done(Kind::claim, kA, {lease(kA, 1)});
  done(Kind::claim, kB, {lease(kB, 2, kNow + 15s)}, kNow + 6s);
  EXPECT_EQ(violated(), std::nullopt);
}

TEST_F(CheckerTest, ARenewalThatBringsALeaseBackIsNoticed) {
  done(Kind::claim, kA, {lease(kA, 1)});
  done(Kind::renew, kA, {lease(kA, 1, kNow + 20s)}, kNow + 6s);
  EXPECT_EQ(violated(), Promise::one_holder);
}

TEST_F(CheckerTest, ARenewalThatGrantsIsNoticed) {
  done(Kind::renew, kA, {lease(kA, 1)});
  EXPECT_EQ(violated(), Promise::one_holder);
}

TEST_F(CheckerTest, TwoCallersThatRelyOnAMutexAreTooMany) {
  acquired(kA);
  acquired(kB);
  EXPECT_EQ(violated(), Promise::one_holder);
}

TEST_F(CheckerTest, ACallerThatKnowsThatItsLeaseIsOverIsNoHolder) {
  acquired(kA, false);
  acquired(kB);
  checker_.ended(kB);
  acquired(kA);
  EXPECT_EQ(violated(), std::nullopt);
}

TEST_F(CheckerTest, LeasesOfAStoreThatLostThemAreExcusedAndLaterOnesAreNot) {
  done(Kind::claim, kA, {lease(kA, 1)});
  acquired(kA);
  checker_.excuse(0, {});
  done(Kind::claim, kB, {lease(kB, 2)});
  acquired(kB);
  EXPECT_EQ(violated(), std::nullopt);
  acquired({3, 3});
  EXPECT_EQ(violated(), Promise::one_holder);
}

TEST_F(CheckerTest, AHolderMayRelyOnALeaseUntilItsLimit) {
  checker_.relies(kA, kNow, kNow);
  EXPECT_EQ(violated(), std::nullopt);
  checker_.relies(kA, kNow + 1us, kNow);
  EXPECT_EQ(violated(), Promise::lost_in_time);
}

TEST_F(CheckerTest, ALeaseThatTheStoreStillHasMustNotCountAsLost) {
  done(Kind::claim, kA, {lease(kA, 1)});
  checker_.lost_early(0, kB, kNow);
  checker_.lost_early(0, kA, kNow + 5s);
  EXPECT_EQ(violated(), std::nullopt);
  checker_.lost_early(0, kA, kNow);
  EXPECT_EQ(violated(), Promise::kept_while_held);
}

TEST_F(CheckerTest, OnlyTheFirstViolationIsKept) {
  checker_.fail(Promise::calls_end, "first");
  checker_.fail(Promise::one_holder, "second");
  EXPECT_EQ(checker_.violation()->what, "first");
}

}  // namespace
}  // namespace holdfast::simulation
