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
  EXPECT_EQ(waiting_text(12s, state),
            "waiting 12s · held by ci@host pid 41 \"deploy 812\" for 3m · lease 8s left");
  state.holders.push_back(holder);
  EXPECT_EQ(
      waiting_text(12s, state),
      "waiting 12s · held by ci@host pid 41 \"deploy 812\" for 3m and 1 more · lease 8s left");
  EXPECT_EQ(waiting_text(12s, std::nullopt), "waiting 12s");
}

}  // namespace

}  // namespace holdfast::cli
