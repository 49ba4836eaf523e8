#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "apps/holdfast/serve/names_query.h"

namespace holdfast::cli::serve {

namespace {

using namespace std::chrono_literals;

std::pair<std::string, Entry> held(const std::string& name, base::Duration held_for,
                                   base::Duration left) {
  const store::Holder holder{.id = base::LeaseId(1, 1),
                             .owner = "me",
                             .reason = "",
                             .token = base::FencingToken(1),
                             .held_for = held_for,
                             .time_left = left};
  return {name, {.state = store::NameState{*base::Name::make(name), 1, {holder}}}};
}

std::vector<std::string> names_by(NamesQuery::Order order) {
  const Snapshot snapshot{
      .entries = {{"free", {}}, held("long", 1s, 9s), held("old", 9s, 5s), held("soon", 2s, 1s)}};
  std::vector<std::string> names;
  for (const std::size_t place : select(snapshot, {.order = order}).places) {
    names.push_back(snapshot.entries[place].first);
  }
  return names;
}

TEST(NamesQuery, ANameThatNobodyHoldsComesLastInTheOrdersOfItsHolders) {
  EXPECT_EQ(names_by(NamesQuery::Order::left),
            (std::vector<std::string>{"soon", "old", "long", "free"}));
  EXPECT_EQ(names_by(NamesQuery::Order::held),
            (std::vector<std::string>{"old", "soon", "long", "free"}));
}

}  // namespace

}  // namespace holdfast::cli::serve
