#include <chrono>

#include <gtest/gtest.h>

#include "apps/holdfast/waiting/until.h"

namespace holdfast::cli {

namespace {

using namespace std::chrono_literals;

std::optional<store::NameState> held_for_another(base::Duration left) {
  return store::NameState{.name = *base::Name::make("a"),
                          .capacity = 1,
                          .holders = {{.id = {},
                                       .owner = "me",
                                       .reason = "",
                                       .permits = 1,
                                       .token = base::FencingToken(7),
                                       .held_for = 1s,
                                       .time_left = left}}};
}

TEST(Until, LooksAgainWhenALeaseHasRunOut) {
  EXPECT_EQ(pause_before_look(100ms, held_for_another(30ms), 1h), 31ms);
  EXPECT_EQ(pause_before_look(100ms, held_for_another(9s), 1h), 100ms);
  EXPECT_EQ(pause_before_look(100ms, std::nullopt, 1h), 100ms);
}

TEST(Until, ALeaseWithoutTimeLeftIsNoReasonToAskWithoutPause) {
  for (const base::Duration left : {base::Duration(0), base::Duration(-1s), base::Duration(1us)}) {
    EXPECT_EQ(pause_before_look(100ms, held_for_another(left), 1h), 5ms);
  }
}

TEST(Until, LooksNoLaterThanAtTheDeadline) {
  EXPECT_EQ(pause_before_look(100ms, std::nullopt, 20ms), 20ms);
  EXPECT_EQ(pause_before_look(100ms, held_for_another(0ms), 1ms), 1ms);
}

}  // namespace

}  // namespace holdfast::cli
