// The work of the table of active objects for calls, saves and idle objects.
#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/objects/internal/testing_support.h>

namespace holdfast::objects::internal {
namespace {

using namespace std::chrono_literals;
using base::value_or_throw;

class EffortTest : public ::testing::Test, protected testing::CoreTest {
 protected:
  using CoreTest::change;
  void change(int from, int to) {
    for (int i = from; i < to; ++i) change(std::to_string(i));
  }
  [[nodiscard]] ActivationTable::Effort effort() const { return type->table.effort(); }
};

TEST_F(EffortTest, ACallLooksForItsObjectOnce) {
  start(testing::HostTest::quiet());
  change(0, 100);
  value_or_throw(core->save_all(kNoLimits));
  const auto before = effort();
  change(0, 100);  // and marks each as changed
  EXPECT_EQ(effort().lookups - before.lookups, 100U);
}

TEST_F(EffortTest, ALookupVisitsFewSlotsHoweverManyObjectsThereAre) {
  start(testing::HostTest::quiet());
  change(0, 10'000);
  const auto before = effort();
  change(0, 10'000);
  EXPECT_LE(effort().probes - before.probes, 4U * (effort().lookups - before.lookups));
}

TEST_F(EffortTest, ASaveOfAllLooksForEachObjectOnceAndFillsItsRequests) {
  start(testing::HostTest::quiet());
  change(0, 2500);
  const auto before = effort();
  EXPECT_EQ(core->save_all(kNoLimits), 2500U);
  EXPECT_EQ(effort().lookups - before.lookups, 2500U);
  EXPECT_EQ(effort().visits, before.visits);
  EXPECT_EQ(face.repository->batches(), (std::vector<std::size_t>{1000, 1000, 500}));
}

TEST_F(EffortTest, ObjectsAreSavedInTheOrderOfTheirIds) {
  start(testing::HostTest::quiet());
  change(0, 300);
  const std::vector<std::string> ids = type->table.listed_ids();
  EXPECT_EQ(ids.size(), 300U);
  EXPECT_TRUE(std::ranges::is_sorted(ids));
}

TEST_F(EffortTest, AListingByPagesVisitsEachObjectOnce) {
  start(testing::HostTest::quiet());
  change(0, 2500);
  const auto before = effort();
  std::vector<std::string> seen;
  std::string after;
  do {
    const auto page = type->table.ids("", 100, after, clock.now());
    seen.insert(seen.end(), page.ids.begin(), page.ids.end());
    after = page.next;
  } while (!after.empty());
  EXPECT_EQ(seen.size(), 2500U);
  EXPECT_TRUE(std::ranges::is_sorted(seen));
  EXPECT_EQ(effort().visits - before.visits, 2500U);
  EXPECT_EQ(effort().lookups - before.lookups, 2500U);
}

TEST_F(EffortTest, TheWalkOverIdleObjectsVisitsEachObjectOnce) {
  start({.save_every = std::nullopt, .idle_after = 60s, .clock = &clock});
  change(0, 5500);
  clock.wait_for_sleepers(1);
  clock.advance(40s);
  change(0, 3000);  // these stay
  clock.wait_for_sleepers(1);
  const auto before = effort();
  clock.advance(30s);
  EXPECT_TRUE(testing::eventually([&] { return core->stats().idle == 2500; }));
  clock.wait_for_sleepers(1);
  EXPECT_EQ(effort().visits - before.visits, 5500U);
  EXPECT_EQ(type->table.size(), 3000U);
}

}  // namespace
}  // namespace holdfast::objects::internal
