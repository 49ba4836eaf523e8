#include <holdfast/engines/mongodb/internal/poll_pace.h>

#include <gtest/gtest.h>

namespace holdfast::engines::mongodb::internal {
namespace {

using namespace std::chrono_literals;

// In the middle of the range.
base::Duration middle(const PollPace& pace) {
  const base::Duration least = pace.next(0);
  return least;
}

TEST(PollPace, StaysWithinItsRange) {
  PollPace pace(10ms, 800ms);
  for (int i = 0; i < 100; ++i) {
    for (const std::uint64_t random : {0ULL, 12'345'678'901ULL, ~0ULL}) {
      EXPECT_GE(pace.next(random), 10ms);
      EXPECT_LE(pace.next(random), 800ms);
    }
    pace.found_nothing(3);
  }
}

TEST(PollPace, GrowsWhileNothingIsFoundAndShrinksWhenSomethingIs) {
  PollPace pace(10ms, 800ms);
  for (int i = 0; i < 100; ++i) {
    pace.found_nothing(1);
  }
  EXPECT_EQ(middle(pace), 400ms);
  pace.found_something();
  EXPECT_EQ(middle(pace), 10ms);
}

TEST(PollPace, GrowsFasterWithMoreNamesAndAfterFailures) {
  PollPace few(10ms, 800ms);
  PollPace many(10ms, 800ms);
  PollPace failing(10ms, 800ms);
  for (int i = 0; i < 5; ++i) {
    few.found_nothing(1);
    many.found_nothing(12);
    failing.failed();
  }
  EXPECT_LT(middle(few), middle(many));
  EXPECT_LT(middle(few), middle(failing));
}

}  // namespace
}  // namespace holdfast::engines::mongodb::internal
