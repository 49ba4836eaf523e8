#include <tests/simulation/history.h>

#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <tests/simulation/shrink.h>

namespace holdfast::simulation {
namespace {

// Returns everything that happens in a history.
std::string trace_of(HistoryOptions options) {
  std::ostringstream out;
  options.trace = &out;
  static_cast<void>(play(options));
  return out.str();
}

// Returns a history that finds the bug.
HistoryOptions finds(Bug bug) {
  HistoryOptions options{.bug = bug};
  do {
    ++options.seed;
  } while (!play(options).violation);
  return options;
}

TEST(History, TheSameSeedPlaysTheSameHistory) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const std::string first = trace_of({.seed = seed});
    EXPECT_FALSE(first.empty());
    EXPECT_EQ(trace_of({.seed = seed}), first);
  }
}

TEST(History, AHistoryWithItsOwnFaultsOnlyIsTheSameHistory) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const Outcome outcome = play({.seed = seed});
    HistoryOptions again{.seed = seed};
    again.only.emplace(outcome.injected.begin(), outcome.injected.end());
    EXPECT_EQ(trace_of(again), trace_of({.seed = seed}));
  }
}

TEST(History, NoFaultHappensWhereNoneMay) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const Outcome outcome = play({.seed = seed, .only = std::set<FaultId>()});
    EXPECT_TRUE(outcome.injected.empty());
    EXPECT_FALSE(outcome.violation);
  }
}

TEST(History, ShrinkingKeepsTheViolationAndNeedsEveryFaultThatItLeaves) {
  const HistoryOptions options = finds(Bug::suspend_is_not_counted);
  const Outcome broken = play(options);
  const std::set<FaultId> fewest = fewest_faults(options, broken);
  EXPECT_LE(fewest.size(), broken.injected.size());
  HistoryOptions shrunk = options;
  shrunk.only = fewest;
  ASSERT_TRUE(play(shrunk).violation);
  EXPECT_EQ(play(shrunk).violation->promise, broken.violation->promise);
  for (const FaultId id : fewest) {
    shrunk.only = fewest;
    shrunk.only->erase(id);
    const Outcome without = play(shrunk);
    EXPECT_FALSE(without.violation && without.violation->promise == broken.violation->promise);
  }
}

TEST(History, EverySeedHasItsOwnHistory) {
  EXPECT_NE(trace_of({.seed = 1}), trace_of({.seed = 2}));
}

}  // namespace
}  // namespace holdfast::simulation
