#include <holdfast/engines/sqlite/internal/machine.h>

#include <chrono>

#include <gtest/gtest.h>

#include <holdfast/base/manual_clock.h>

namespace holdfast::engines::sqlite::internal {
namespace {

using namespace std::chrono_literals;
using base::ErrorCode;

TEST(Machine, ReadsTheOffsetOfTheBootClockOfATimeNamespace) {
  EXPECT_EQ(boot_clock_ahead("monotonic           0         0\nboottime         1000         5\n"),
            1000s + 5ns);
  EXPECT_EQ(boot_clock_ahead("monotonic         -7        0\nboottime  -3 999999999\n"), -2s - 1ns);
  EXPECT_EQ(boot_clock_ahead("1 0 0\n7 12 0\n"), 12s);
}

TEST(Machine, DoesNotGuessAnOffsetThatItCannotRead) {
  for (const char* const text : {"", "monotonic 0 0\n", "boottime x 0\n", "boottime 1\n",
                                 "boottime 9999999999999999 0\n", "boottime 0 1000000000\n"}) {
    const auto ahead = boot_clock_ahead(text);
    ASSERT_FALSE(ahead.has_value()) << text;
    EXPECT_EQ(ahead.error().code, ErrorCode::unsupported) << text;
  }
}

TEST(Machine, SubtractsWhatItsClockIsAhead) {
  base::ManualClock clock(base::TimePoint(1h));
  const Machine machine{.clock = &clock, .clock_ahead = 10min};
  EXPECT_EQ(machine.now(), base::TimePoint(50min));
}

TEST(Machine, LeavesAClockOfTheCallersOwnAsItIs) {
  const base::ManualClock clock;
  const auto machine = complete({.clock = &clock, .boot_id = "first"});
  ASSERT_TRUE(machine.has_value());
  EXPECT_EQ(machine->clock_ahead, 0ns);
  EXPECT_EQ(machine->boot_id, "first");
}

}  // namespace
}  // namespace holdfast::engines::sqlite::internal
