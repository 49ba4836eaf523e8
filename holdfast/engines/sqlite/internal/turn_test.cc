#include <holdfast/engines/sqlite/internal/turn.h>

#include <chrono>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast::engines::sqlite::internal {
namespace {

using namespace std::chrono_literals;
using base::Deadline;

Deadline in(base::Duration time) { return Deadline::after(base::steady_clock(), time); }

TEST(Turn, ComesAtOnceWhenNobodyHasIt) {
  Turn turn;
  EXPECT_TRUE(turn.enter(in(0s)));
  turn.leave();
  EXPECT_TRUE(turn.enter(Deadline::never()));
}

TEST(Turn, DoesNotComeAfterTheDeadlineAndLeavesTheLineInOrder) {
  Turn turn;
  ASSERT_TRUE(turn.enter(Deadline::never()));
  EXPECT_FALSE(turn.enter(in(-1s)));
  EXPECT_FALSE(turn.enter(in(20ms)));
  turn.leave();
  EXPECT_TRUE(turn.enter(in(0s)));
}

TEST(Turn, IsHadByOneThreadAtATime) {
  Turn turn;
  int counter = 0;
  int given_up = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&, i] {
        for (int round = 0; round < 500; ++round) {
          // Some give up: the others must still all be let in.
          if (turn.enter(i % 2 == 0 ? in(60s) : in(10us))) {
            ++counter;
            turn.leave();
          } else {
            ASSERT_TRUE(turn.enter(Deadline::never()));
            ++given_up;
            turn.leave();
          }
        }
      });
    }
  }
  EXPECT_EQ(counter + given_up, 8 * 500);
}

}  // namespace
}  // namespace holdfast::engines::sqlite::internal
