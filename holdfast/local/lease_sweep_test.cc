// The reports of a table's sweeps, and the times of background sweeps.
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/base/manual_clock.h>
#include <holdfast/local/lease_table.h>
#include <holdfast/local/testing_support.h>

namespace holdfast::local {
namespace {

using namespace std::chrono_literals;
using testing_support::wait_until;

void lock(LeaseTable& table, std::string_view key, base::Ttl ttl) {
  const auto token = table.try_lock(key, "one", ttl);
  ASSERT_TRUE(token && *token);
}

TEST(LeaseSweep, TheHookLearnsWhatWasRemovedAndWhatIsLeft) {
  base::ManualClock clock;
  std::vector<SweepReport> reports;
  LeaseTable table({.clock = &clock, .sweep_every = 0s, .on_sweep = [&](const SweepReport& report) {
                      reports.push_back(report);
                    }});
  lock(table, "short", 1s);
  lock(table, "long", 1min);
  lock(table, "longer", 2min);
  clock.advance(1s);
  table.sweep_now();
  table.sweep_now();
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_EQ(reports[0].removed, 1U);
  EXPECT_EQ(reports[0].left, 2U);
  EXPECT_GT(reports[0].slices, 0U);
  EXPECT_EQ(reports[1].removed, 0U);
  EXPECT_EQ(reports[1].left, 2U);
}

TEST(LeaseSweep, TheHookMayCallTheTable) {
  base::ManualClock clock;
  LeaseTable* sweeping = nullptr;
  std::size_t size = 99;
  LeaseTable table({.clock = &clock, .sweep_every = 0s, .on_sweep = [&](const SweepReport&) {
                      size = sweeping->size();
                      lock(*sweeping, "from the hook", 1s);
                    }});
  sweeping = &table;
  table.sweep_now();
  EXPECT_EQ(size, 0U);
  EXPECT_EQ(table.size(), 1U);
}

TEST(LeaseSweep, ASweepThatRemovedSomethingIsLogged) {
  base::ManualClock clock;
  std::vector<std::string> lines;
  const base::Logger logger(
      [&](base::LogLevel, std::string_view line) { lines.emplace_back(line); });
  LeaseTable table({.clock = &clock, .sweep_every = 0s, .logger = logger});
  lock(table, "a", 1s);
  table.sweep_now();
  EXPECT_TRUE(lines.empty());
  clock.advance(1s);
  table.sweep_now();
  EXPECT_EQ(lines, std::vector<std::string>{"the sweep removed 1 expired leases and left 0"});
}

TEST(LeaseSweep, ASlowSweepIsFollowedByTheNextAtOnceAndThenByTheOldPace) {
  base::ManualClock clock;
  std::atomic<int> warnings = 0;
  const base::Logger logger([&](base::LogLevel, std::string_view) { ++warnings; },
                            base::LogLevel::warning);
  std::atomic<int> sweeps = 0;
  LeaseTable table(
      {.clock = &clock, .sweep_every = 1min, .logger = logger, .on_sweep = [&](const SweepReport&) {
         if (++sweeps == 1) {
           clock.advance(150s);  // the first sweep takes two periods and a half
         }
       }});
  const auto next_tick_after = [&](base::Duration time) {
    clock.wait_for_sleepers(1);
    clock.advance(time);
  };
  next_tick_after(1min);
  wait_until([&] { return table.sweeps() == 2; });  // at 3:30, without any further tick
  clock.wait_for_sleepers(1);
  EXPECT_EQ(warnings, 1);
  next_tick_after(29s);
  EXPECT_EQ(table.sweeps(), 2U);
  next_tick_after(1s);  // 4:00
  wait_until([&] { return table.sweeps() == 3; });
  next_tick_after(59s);
  EXPECT_EQ(table.sweeps(), 3U);
  next_tick_after(1s);  // 5:00
  wait_until([&] { return table.sweeps() == 4; });
  EXPECT_EQ(warnings, 1);
}

}  // namespace
}  // namespace holdfast::local
