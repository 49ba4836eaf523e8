#include <chrono>

#include <gtest/gtest.h>

#include "apps/holdfast/watching/lease_history.h"

namespace holdfast::cli {

namespace {

using Kind = LeaseEvent::Kind;
using namespace std::chrono_literals;

constexpr base::TimePoint kNow{100s};
constexpr base::LeaseId kOne(0, 1);
constexpr base::LeaseId kTwo(0, 2);

store::NameState held(const char* name, const base::LeaseId& id, base::Duration left) {
  return {.name = *base::Name::make(name),
          .capacity = 1,
          .holders = {{.id = id,
                       .owner = "me",
                       .reason = "",
                       .permits = 1,
                       .token = base::FencingToken(7),
                       .held_for = 1s,
                       .time_left = left}}};
}

std::vector<std::pair<Kind, std::string>> kinds(const std::vector<LeaseEvent>& events) {
  std::vector<std::pair<Kind, std::string>> all;
  for (const LeaseEvent& event : events) {
    all.emplace_back(event.kind, event.name);
  }
  return all;
}

using Kinds = std::vector<std::pair<Kind, std::string>>;

TEST(LeaseHistory, TellsFirstWhatIsHeldAlready) {
  LeaseHistory history;
  EXPECT_EQ(kinds(history.update(kNow, {held("a", kOne, 9s)})), (Kinds{{Kind::held, "a"}}));
  EXPECT_EQ(kinds(history.update(kNow + 1s, {held("a", kOne, 8s)})), Kinds{});
}

TEST(LeaseHistory, TellsAReleaseFromAnExpiry) {
  LeaseHistory history;
  history.update(kNow - 2s, {held("a", kOne, 9s), held("b", kTwo, 3s)});
  history.update(kNow, {held("a", kOne, 9s), held("b", kTwo, 1s)});
  EXPECT_EQ(kinds(history.update(kNow + 2s, {})),
            (Kinds{{Kind::expired, "b"}, {Kind::released, "a"}}));
}

TEST(LeaseHistory, ALeaseThatMayHaveBeenRenewedSinceItWasSeenHasEndedSomehow) {
  LeaseHistory history;
  // Renewed in time, as the second listing shows; a pause of 5 s then hides two renewals more.
  history.update(kNow, {held("a", kOne, 5s)});
  history.update(kNow + 5s, {held("a", kOne, 4s)});
  EXPECT_EQ(kinds(history.update(kNow + 10s, {})), (Kinds{{Kind::ended, "a"}}));
}

TEST(LeaseHistory, TellsInTheOrderOfTime) {
  const auto held_since = [](const char* name, const base::LeaseId& id, base::Duration age) {
    store::NameState state = held(name, id, 9s);
    state.holders.front().held_for = age;
    return state;
  };
  LeaseHistory history;
  EXPECT_EQ(kinds(history.update(kNow, {held_since("a", kOne, 1s), held_since("b", kTwo, 5s)})),
            (Kinds{{Kind::held, "b"}, {Kind::held, "a"}}));
  // b was handed over before a was.
  const auto events =
      history.update(kNow + 8s, {held_since("a", kTwo, 2s), held_since("b", kOne, 5s)});
  EXPECT_EQ(kinds(events), (Kinds{{Kind::released, "b"},
                                  {Kind::acquired, "b"},
                                  {Kind::released, "a"},
                                  {Kind::acquired, "a"}}));
  EXPECT_EQ(events[1].when, kNow + 3s);
  EXPECT_EQ(events[3].when, kNow + 6s);
}

TEST(LeaseHistory, NothingHappensBeforeTheSnapshotBefore) {
  LeaseHistory history;
  history.update(kNow, {});
  store::NameState state = held("a", kOne, 9s);
  state.holders.front().held_for = 1h;  // by a clock that was set
  EXPECT_EQ(history.update(kNow + 1s, {state}).front().when, kNow);
}

TEST(LeaseHistory, AHandOverIsAReleaseAndThenAnAcquisition) {
  LeaseHistory history;
  history.update(kNow, {held("a", kTwo, 9s)});
  EXPECT_EQ(kinds(history.update(kNow + 1s, {held("a", kOne, 9s)})),
            (Kinds{{Kind::released, "a"}, {Kind::acquired, "a"}}));
}

TEST(LeaseHistory, ARenewedLeaseExpiresLater) {
  LeaseHistory history;
  history.update(kNow, {held("a", kOne, 2s)});
  history.update(kNow + 1s, {held("a", kOne, 9s)});
  EXPECT_EQ(kinds(history.update(kNow + 3s, {})), (Kinds{{Kind::released, "a"}}));
}

TEST(LeaseHistory, TwoLocksOfOtherProgramsAreToldApart) {
  const auto foreign = [](const char* owner) {
    store::NameState state = held("a", base::LeaseId(), 9s);
    state.holders.front().owner = owner;
    state.holders.front().foreign = true;
    return state;
  };
  LeaseHistory history;
  history.update(kNow, {foreign("x")});
  EXPECT_EQ(kinds(history.update(kNow + 1s, {foreign("x")})), Kinds{});
  EXPECT_EQ(kinds(history.update(kNow + 1s, {foreign("y")})),
            (Kinds{{Kind::released, "a"}, {Kind::acquired, "a"}}));
}

}  // namespace

}  // namespace holdfast::cli
