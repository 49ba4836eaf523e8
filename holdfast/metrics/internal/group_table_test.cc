#include <holdfast/metrics/internal/group_table.h>

#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast::metrics::internal {
namespace {

std::set<std::string> labels_in(const GroupTable& table) {
  std::set<std::string> labels;
  table.for_each([&](const Group& group) {
    EXPECT_TRUE(labels.insert(group.label).second) << group.label << " is there twice";
  });
  return labels;
}

TEST(GroupTable, ALabelHasOneGroup) {
  GroupTable table(3);
  Group& jobs = table.at("jobs");
  EXPECT_EQ(&table.at("jobs"), &jobs);
  EXPECT_NE(&table.at("orders"), &jobs);
  EXPECT_EQ(labels_in(table), (std::set<std::string>{"jobs", "orders"}));
}

TEST(GroupTable, LabelsBeyondItsSizeShareOther) {
  GroupTable table(2);
  Group& first = table.at("first");
  static_cast<void>(table.at("second"));
  EXPECT_EQ(table.at("third").label, "other");
  EXPECT_EQ(&table.at("fourth"), &table.at("third"));
  EXPECT_EQ(&table.at("first"), &first) << "a label that has a group keeps it";
  EXPECT_EQ(labels_in(table).size(), 3U);
}

TEST(GroupTable, ALabelNamedOtherIsTheSharedOne) {
  GroupTable table(1);
  Group& other = table.at("other");
  EXPECT_EQ(table.at("first").label, "first") << "\"other\" takes no room";
  EXPECT_EQ(&table.at("second"), &other);
}

TEST(GroupTable, OnlyTheFirst64BytesOfALabelCount) {
  GroupTable table(5);
  EXPECT_EQ(table.at(std::string(64, 'x') + "a").label, std::string(64, 'x'));
  EXPECT_EQ(&table.at(std::string(64, 'x') + "a"), &table.at(std::string(64, 'x') + "b"));
}

TEST(GroupTable, ThreadsThatAddTheSameLabelsCountInTheSameGroups) {
  constexpr int kThreads = 4;
  constexpr int kLabels = 50;
  constexpr int kRounds = 200;
  GroupTable table(kLabels - 10);
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&table] {
        for (int round = 0; round < kRounds; ++round) {
          for (int label = 0; label < kLabels; ++label) {
            table.at("label " + std::to_string(label)).counters[0].fetch_add(1);
          }
        }
      });
    }
  }
  std::uint64_t counted = 0;
  table.for_each([&](const Group& group) { counted += group.counters[0].load(); });
  EXPECT_EQ(counted, std::uint64_t{kThreads} * kLabels * kRounds);
  EXPECT_EQ(labels_in(table).size(), std::size_t{kLabels - 10 + 1});
}

}  // namespace
}  // namespace holdfast::metrics::internal
