#include <gtest/gtest.h>

#include "apps/holdfast/cli/outer_leases.h"

namespace holdfast::cli {

namespace {

using store::Permits;

class OuterLeases : public ::testing::Test {
 protected:
  void hold(const base::LeaseId& id, std::uint32_t permits) {
    state_.holders.push_back({.id = id,
                              .owner = "me",
                              .reason = "",
                              .permits = permits,
                              .token = base::FencingToken(7),
                              .held_for = {},
                              .time_left = {}});
  }

  const base::LeaseId mine_ = base::LeaseId::generate();
  const base::LeaseId other_ = base::LeaseId::generate();
  const std::string leases_ = with_lease(with_lease("", base::LeaseId::generate()), mine_);
  store::NameState state_{.name = *base::Name::make("a"), .capacity = 1, .holders = {}};
};

TEST_F(OuterLeases, ANameThatAnOuterCommandHoldsIsNeverFreeForAnInnerOne) {
  hold(mine_, 1);
  EXPECT_TRUE(waits_for_own(leases_, state_, Permits::mutex()));
  EXPECT_TRUE(waits_for_own(leases_, state_, Permits::reader()));
}

TEST_F(OuterLeases, ANameThatAnotherCommandHoldsIsFreeSomeTime) {
  hold(other_, 1);
  EXPECT_FALSE(waits_for_own(leases_, state_, Permits::mutex()));
  EXPECT_FALSE(waits_for_own("", state_, Permits::mutex()));
}

TEST_F(OuterLeases, OnlyTheOwnPermitsCount) {
  state_.capacity = 3;
  hold(mine_, 1);
  hold(other_, 2);
  EXPECT_FALSE(waits_for_own(leases_, state_, Permits::of(2, 3)));
  EXPECT_TRUE(waits_for_own(leases_, state_, Permits::of(3, 3)));
}

TEST_F(OuterLeases, AReaderMayReadAgainButNotWrite) {
  state_.capacity = Permits::kAll;
  hold(mine_, 1);
  EXPECT_FALSE(waits_for_own(leases_, state_, Permits::reader()));
  EXPECT_TRUE(waits_for_own(leases_, state_, Permits::writer()));
  EXPECT_TRUE(waits_for_own(leases_, state_, Permits::mutex()));
}

}  // namespace

}  // namespace holdfast::cli
