#include <holdfast/locks/internal/wait_graph.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast::locks::internal {
namespace {

using namespace std::chrono_literals;
using base::LeaseId;
using store::Permits;

LeaseId lease(std::uint64_t number) { return {1, number}; }

// Returns a waiter for a name, whose claim has this number.
Waiter waiter(std::uint64_t claim, const std::string& name, std::vector<LeaseId> holding,
              Permits wants = Permits::mutex()) {
  return {.name = name,
          .id = lease(claim),
          .owner = "owner " + std::to_string(claim),
          .reason = "",
          .wants = wants,
          .holding = std::move(holding),
          .waited = 2s,
          .seen_before = 0s};
}

struct Part {
  LeaseId id;
  std::uint32_t permits = 1;
};

store::NameState held(const std::string& name, const std::vector<Part>& parts,
                      std::uint32_t capacity = 1) {
  store::NameState state{.name = *base::Name::make(name), .capacity = capacity, .holders = {}};
  for (const Part& part : parts) {
    state.holders.push_back({.id = part.id,
                             .owner = "",
                             .reason = "",
                             .permits = part.permits,
                             .token = base::FencingToken(1),
                             .held_for = 1s,
                             .time_left = 1s,
                             .foreign = false});
  }
  return state;
}

// Returns the names that the waiters of a deadlock wait for, in its order.
std::vector<std::string> names_of(const std::vector<Waiter>& circle) {
  std::vector<std::string> names;
  for (const Waiter& waiter : circle) {
    names.push_back(waiter.name);
  }
  return names;
}

using Names = std::vector<std::string>;

// Each of `size` waiters holds its own name and waits for the next one's.
WaitGraph circle_of(std::uint64_t size) {
  WaitGraph graph;
  for (std::uint64_t i = 0; i < size; ++i) {
    const std::uint64_t next = (i + 1) % size;
    graph.waiters.push_back(waiter(1000 + i, "n" + std::to_string(next), {lease(i)}));
    graph.names.push_back(held("n" + std::to_string(i), {{lease(i)}}));
  }
  return graph;
}

TEST(WaitGraphTest, CirclesOfEverySizeAreFoundFromEachOfTheirNames) {
  for (std::uint64_t size = 1; size <= 16; ++size) {
    const WaitGraph graph = circle_of(size);
    for (std::uint64_t i = 0; i < size; ++i) {
      const auto circle = deadlock_behind("n" + std::to_string(i), graph);
      ASSERT_EQ(circle.size(), size);
      for (std::size_t j = 0; j < circle.size(); ++j) {
        const Waiter& next = circle[(j + 1) % circle.size()];
        EXPECT_EQ(graph.state_of(circle[j].name)->holders.front().id, next.holding.front());
      }
    }
  }
}

TEST(WaitGraphTest, WithoutOneOfItsWaitersACircleIsNone) {
  for (std::size_t without = 0; without < 5; ++without) {
    WaitGraph graph = circle_of(5);
    graph.waiters.erase(graph.waiters.begin() + static_cast<std::ptrdiff_t>(without));
    EXPECT_TRUE(deadlock_behind("n0", graph).empty());
  }
}

TEST(WaitGraphTest, AChainIsNoDeadlock) {
  const WaitGraph graph{
      .waiters = {waiter(11, "b", {lease(1)}), waiter(12, "c", {lease(2)})},
      .names = {held("a", {{lease(1)}}), held("b", {{lease(2)}}), held("c", {{lease(3)}})}};
  EXPECT_TRUE(deadlock_behind("a", graph).empty());
}

TEST(WaitGraphTest, ADeadlockBehindAChainIsFound) {
  const WaitGraph graph{
      .waiters = {waiter(11, "b", {lease(1)}), waiter(12, "c", {lease(2)}),
                  waiter(13, "b", {lease(3)})},
      .names = {held("a", {{lease(1)}}), held("b", {{lease(2)}}), held("c", {{lease(3)}})}};
  EXPECT_EQ(names_of(deadlock_behind("a", graph)), (Names{"c", "b"}));
}

TEST(WaitGraphTest, OneWaiterThatWasGrantedItsClaimIsNotStuck) {
  WaitGraph graph = circle_of(2);
  graph.names[1].holders.front().id = graph.waiters[0].id;
  EXPECT_TRUE(deadlock_behind("n0", graph).empty());
}

TEST(WaitGraphTest, APermitThatWillBeReleasedEndsTheWait) {
  const Permits one_of_two = Permits::of(1, 2);
  WaitGraph graph{
      .waiters = {waiter(11, "pool", {lease(1)}, one_of_two), waiter(12, "a", {lease(2)})},
      .names = {held("a", {{lease(1)}}), held("pool", {{lease(2)}, {lease(3)}}, 2)}};
  EXPECT_TRUE(deadlock_behind("a", graph).empty()) << "lease 3 waits for nothing";
  graph.waiters.push_back(waiter(13, "a", {lease(3)}));
  EXPECT_EQ(names_of(deadlock_behind("a", graph)), (Names{"pool", "a"}));
  graph.names[1].holders.pop_back();
  EXPECT_TRUE(deadlock_behind("a", graph).empty()) << "a permit is free";
}

TEST(WaitGraphTest, AWriterWaitsForEveryReader) {
  const WaitGraph graph{
      .waiters = {waiter(11, "doc", {lease(1)}, Permits::writer()), waiter(12, "a", {lease(2)})},
      .names = {held("a", {{lease(1)}}), held("doc", {{lease(2)}, {lease(3)}}, Permits::kAll)}};
  EXPECT_EQ(names_of(deadlock_behind("doc", graph)), (Names{"a", "doc"}));
}

TEST(WaitGraphTest, ANameThatIsHeldInAnotherWayProvesNothing) {
  WaitGraph graph = circle_of(2);
  graph.waiters[0].wants = Permits::of(1, 5);
  EXPECT_TRUE(deadlock_behind("n0", graph).empty());
}

TEST(WaitGraphTest, WhatIsInBothLooksIsCertain) {
  const WaitGraph graph = circle_of(2);
  EXPECT_EQ(deadlock_behind("n0", certain(graph, graph, 0s)).size(), 2U);
}

TEST(WaitGraphTest, AWaiterThatIsNewOrWasNotSeenAgainIsNotCertain) {
  const WaitGraph before = circle_of(2);
  WaitGraph after = before;
  after.waiters[0].seen_before = 1s;
  EXPECT_TRUE(deadlock_behind("n0", certain(before, after, 999ms)).empty());
  EXPECT_FALSE(deadlock_behind("n0", certain(before, after, 1s)).empty());
  after = before;
  after.waiters[1].id = lease(77);
  EXPECT_TRUE(deadlock_behind("n0", certain(before, after, 1s)).empty());
}

TEST(WaitGraphTest, ALeaseThatIsNewIsNotCertain) {
  const WaitGraph before = circle_of(2);
  WaitGraph after = before;
  after.names[0].holders.front().id = lease(99);
  after.waiters[0].holding.push_back(lease(99));
  EXPECT_FALSE(deadlock_behind("n0", after).empty());
  EXPECT_TRUE(deadlock_behind("n0", certain(before, after, 1s)).empty());
}

}  // namespace
}  // namespace holdfast::locks::internal
