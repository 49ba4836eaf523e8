#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/base/name.h>
#include <holdfast/locks/deadlock.h>

namespace holdfast::locks {
namespace {

using namespace std::chrono_literals;

base::LeaseId lease(char name) { return {1, static_cast<std::uint64_t>(name)}; }

// A process that holds the name `held` and has waited for `wanted`; it showed itself 300 ms ago.
Waiter waiter(char held, char wanted) {
  return {.name = std::string(1, wanted),
          .id = {2, static_cast<std::uint64_t>(held)},
          .owner = std::string("owner of ") + held,
          .reason = "",
          .wants = store::Permits::mutex(),
          .holding = {lease(held)},
          .waited = 10s,
          .seen_before = 300ms};
}

WaitListing listing(const std::string& names, std::vector<Waiter> waiters) {
  WaitListing all{.waiters = std::move(waiters)};
  for (const char name : names) {
    all.names.push_back({*base::Name::make(std::string(1, name)),
                         1,
                         {{.id = lease(name),
                           .owner = std::string("owner of ") + name,
                           .reason = "",
                           .token = base::FencingToken(1),
                           .held_for = 20s,
                           .time_left = 20s}}});
  }
  return all;
}

TEST(DeadlocksInTest, EveryDeadlockOfAListingIsNamedOnce) {
  const WaitListing all =
      listing("abcdexy", {waiter('a', 'b'), waiter('b', 'a'), waiter('c', 'd'), waiter('d', 'e'),
                          waiter('e', 'c'), waiter('x', 'a'), waiter('y', 'x')});
  const auto deadlocks = deadlocks_in(all, all, 1s);
  ASSERT_EQ(deadlocks.size(), 2U);
  EXPECT_EQ(deadlocks[0].size(), 2U);
  EXPECT_EQ(deadlocks[1].size(), 3U);
}

TEST(DeadlocksInTest, WaitersThatShareOneNameWithoutACircleAreNone) {
  const WaitListing all = listing("abc", {waiter('a', 'c'), waiter('b', 'c')});
  EXPECT_TRUE(deadlocks_in(all, all, 1s).empty());
}

TEST(DeadlocksInTest, OneListingDoesNotProveADeadlock) {
  const WaitListing all = listing("ab", {waiter('a', 'b'), waiter('b', 'a')});
  EXPECT_EQ(deadlocks_in(all, all, 1s).size(), 1U);
  EXPECT_TRUE(deadlocks_in({}, all, 1s).empty());
  // Neither has shown itself since the first listing.
  EXPECT_TRUE(deadlocks_in(all, all, 200ms).empty());
}

TEST(DeadlocksInTest, ALeaseThatHasChangedHandsBreaksTheCircle) {
  const WaitListing before = listing("a", {waiter('a', 'b'), waiter('b', 'a')});
  const WaitListing after = listing("ab", {waiter('a', 'b'), waiter('b', 'a')});
  EXPECT_TRUE(deadlocks_in(before, after, 1s).empty());
}

}  // namespace
}  // namespace holdfast::locks
