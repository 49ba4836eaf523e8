// How much work the table of active objects has with calls, saves and idle objects.
#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/base/manual_clock.h>
#include <holdfast/objects/internal/call_scope.h>
#include <holdfast/objects/internal/host_core.h>
#include <holdfast/objects/testing_support.h>

namespace holdfast::objects::internal {
namespace {

using namespace std::chrono_literals;
using base::value_or_throw;
using testing::Scripted;

// The parts of a host with one type, whose table can be asked.
class EffortTest : public ::testing::Test {
 protected:
  void start(HostOptions options) {
    core_.emplace(face_.host, face_.repository, std::move(options));
    type_ = &core_->types.add(
        type_slot<Scripted>(),
        std::make_unique<ObjectType>(&*core_, "scripted", TypeOptions{}, [](void*) {
          return new Scripted(std::make_shared<testing::Script>());
        }));
    value_or_throw(core_->types.find("scripted"));  // in use from now on
  }
  void change(const std::string& id) {
    CallScope scope(*core_, *type_, kNoLimits);
    value_or_throw(scope.begin(id));
    value_or_throw(
        scope.run(Effect::changes, [&] { return static_cast<Scripted&>(scope.object()).add(1); }));
  }
  void change(int from, int to) {
    for (int i = from; i < to; ++i) change(std::to_string(i));
  }
  [[nodiscard]] ActivationTable::Effort effort() const { return type_->table.effort(); }

  testing::HostTest face_;
  base::ManualClock clock_;
  std::optional<HostCore> core_;
  ObjectType* type_ = nullptr;
};

TEST_F(EffortTest, ACallLooksForItsObjectOnce) {
  start(testing::HostTest::quiet());
  change(0, 100);
  value_or_throw(core_->save_all(kNoLimits));
  const auto before = effort();
  change(0, 100);  // and marks each as changed
  EXPECT_EQ(effort().lookups - before.lookups, 100U);
}

TEST_F(EffortTest, ASaveOfAllLooksForEachObjectOnceAndFillsItsRequests) {
  start(testing::HostTest::quiet());
  change(0, 2500);
  const auto before = effort();
  EXPECT_EQ(core_->save_all(kNoLimits), 2500U);
  EXPECT_EQ(effort().lookups - before.lookups, 2500U);
  EXPECT_EQ(effort().visits, before.visits);
  EXPECT_EQ(face_.repository->batches(), (std::vector<std::size_t>{1000, 1000, 500}));
}

TEST_F(EffortTest, ObjectsAreSavedInTheOrderOfTheirIds) {
  start(testing::HostTest::quiet());
  change(0, 300);
  const std::vector<std::string> ids = type_->table.listed_ids();
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
    const auto page = type_->table.ids("", 100, after, clock_.now());
    seen.insert(seen.end(), page.ids.begin(), page.ids.end());
    after = page.next;
  } while (!after.empty());
  EXPECT_EQ(seen.size(), 2500U);
  EXPECT_TRUE(std::ranges::is_sorted(seen));
  EXPECT_EQ(effort().visits - before.visits, 2500U);
  EXPECT_EQ(effort().lookups - before.lookups, 2500U);
}

TEST_F(EffortTest, TheWalkOverIdleObjectsVisitsEachObjectOnce) {
  start({.save_every = std::nullopt, .idle_after = 60s, .clock = &clock_});
  change(0, 5500);
  clock_.wait_for_sleepers(1);
  clock_.advance(40s);
  change(0, 3000);  // these stay
  clock_.wait_for_sleepers(1);
  const auto before = effort();
  clock_.advance(30s);
  EXPECT_TRUE(testing::eventually([&] { return core_->stats().idle == 2500; }));
  clock_.wait_for_sleepers(1);
  EXPECT_EQ(effort().visits - before.visits, 5500U);
  EXPECT_EQ(type_->table.size(), 3000U);
}

}  // namespace
}  // namespace holdfast::objects::internal
