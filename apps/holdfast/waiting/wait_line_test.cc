#include <chrono>

#include <gtest/gtest.h>

#include "apps/holdfast/waiting/wait_line.h"

namespace holdfast::cli {

namespace {

using namespace std::chrono_literals;

TEST(WaitLine, SaysWhomOneWaitsFor) {
  const store::Holder holder{.id = {},
                             .owner = "ci@host:41",
                             .reason = "deploy 812",
                             .permits = 1,
                             .token = base::FencingToken(1),
                             .held_for = 3min,
                             .time_left = 8s};
  store::NameState state{.name = *base::Name::make("x"), .capacity = 1, .holders = {holder}};
  EXPECT_EQ(held_by(state).text, "held by ci@host (pid 41) \"deploy 812\" for 3m · lease 8s left");
  EXPECT_EQ(held_by(state).holders, WaitNews::Tokens{1});
  state.holders.push_back(holder);
  EXPECT_EQ(held_by(state).text,
            "held by ci@host (pid 41) \"deploy 812\" for 3m and 1 more · lease 8s left");
  EXPECT_EQ(held_by(std::nullopt).text, "");
}

TEST(WaitLine, SaysHowLongTheWaitTakesAndLasts) {
  const Wait without_limit{.name = "x", .at_most = base::Duration::max(), .ask = {}};
  EXPECT_EQ(waiting_text(12s, without_limit, "held by me"), "waiting 12s for x · held by me");
  EXPECT_EQ(waiting_text(12s, without_limit, ""), "waiting 12s for x");
  const Wait a_minute{.name = "x", .at_most = 1min, .ask = {}};
  EXPECT_EQ(waiting_text(12s, a_minute, "held by me"),
            "waiting 12s for x · held by me · gives up in 48s");
  EXPECT_EQ(waiting_text(61s, a_minute, ""), "waiting 1m 1s for x · gives up in 0s");
}

}  // namespace

}  // namespace holdfast::cli
