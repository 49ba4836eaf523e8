#include <holdfast/objects/internal/activation_table.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/objects/internal/host_core.h>
#include <holdfast/objects/testing_support.h>

namespace holdfast::objects::internal {
namespace {

class ActivationTableTest : public ::testing::Test {
 protected:
  Activation& add(std::string id, bool dirty) {
    auto activation = Activation::make(core_, type_, id);
    activation->dirty = dirty;
    return table_.insert(std::move(activation));
  }
  using Ids = std::vector<std::string>;
  [[nodiscard]] Ids listed() const {
    Ids ids = table_.listed_ids();
    std::ranges::sort(ids);
    return ids;
  }

  [[nodiscard]] Ids unused_since(int time) const {
    Ids all;
    for (std::size_t shard = 0; shard < ActivationTable::kShards; ++shard) {
      std::ranges::copy(table_.unused_since(base::TimePoint(base::Duration(time)), shard),
                        std::back_inserter(all));
    }
    return all;
  }

  [[nodiscard]] Ids ids(std::string_view prefix, std::size_t limit, std::string_view after) const {
    return table_.ids(prefix, limit, after, base::TimePoint()).ids;
  }

  testing::HostTest test_;
  HostCore core_{test_.host, test_.repository, testing::HostTest::quiet()};
  ObjectType type_{&core_, "type", {}, {}};
  ActivationTable& table_ = type_.table;
};

TEST_F(ActivationTableTest, FindsAnObjectUntilItIsExtracted) {
  Activation& a = add("a", false);
  EXPECT_EQ(table_.find("a"), &a);
  EXPECT_EQ(table_.find("b"), nullptr);
  EXPECT_EQ(table_.size(), 1U);
  EXPECT_EQ(table_.extract("a").get(), &a);
  EXPECT_EQ(table_.extract("a"), nullptr);
  EXPECT_EQ(table_.size(), 0U);
}

TEST_F(ActivationTableTest, ListsADirtyObjectOnce) {
  add("a", true);
  add("b", false);
  EXPECT_EQ(listed(), Ids{"a"});
  table_.list(*table_.find("b"));
  table_.list(*table_.find("b"));
  EXPECT_EQ(listed(), (Ids{"a", "b"}));
}

TEST_F(ActivationTableTest, AnUnlistedObjectIsNoLongerListed) {
  for (const char* id : {"a", "b", "c"}) add(id, true);
  table_.unlist(*table_.find("b"));
  table_.unlist(*table_.find("b"));
  EXPECT_EQ(listed(), (Ids{"a", "c"}));
  table_.list(*table_.find("b"));
  EXPECT_EQ(listed(), (Ids{"a", "b", "c"}));
}

TEST_F(ActivationTableTest, AnExtractedObjectIsNotListed) {
  for (int i = 0; i < 300; ++i) add(std::to_string(i), true);
  for (int i = 0; i < 300; i += 2) EXPECT_NE(table_.extract(std::to_string(i)), nullptr);
  const Ids ids = listed();
  EXPECT_EQ(ids.size(), 150U);
  EXPECT_TRUE(std::ranges::all_of(ids, [](const auto& id) { return std::stoi(id) % 2 == 1; }));
}

TEST_F(ActivationTableTest, AnExtractedObjectCannotBeListedAgain) {
  add("a", true);
  const auto extracted = table_.extract("a");
  table_.list(*extracted);
  EXPECT_EQ(listed(), Ids{});
}

TEST_F(ActivationTableTest, PagesOfIdsAreInByteOrder) {
  for (const char* id : {"b2", "a", "b10", "c", "b1"}) add(id, false);
  EXPECT_EQ(ids("", 10, ""), (Ids{"a", "b1", "b10", "b2", "c"}));
  EXPECT_EQ(ids("b", 2, ""), (Ids{"b1", "b10"}));
  EXPECT_EQ(ids("b", 2, "b10"), Ids{"b2"});
}

TEST_F(ActivationTableTest, AListingLeavesOutObjectsThatWereExtractedMeanwhile) {
  for (const char* id : {"a", "b", "c", "d"}) add(id, false);
  EXPECT_EQ(ids("", 1, ""), Ids{"a"});
  EXPECT_NE(table_.extract("b"), nullptr);
  EXPECT_EQ(ids("", 1, "a"), Ids{"c"});
}

TEST_F(ActivationTableTest, ClearsAllButObjectsToBeSaved) {
  add("clean", false);
  add("dirty", true);
  add("lost", true).lost = true;
  table_.clear_saved();
  EXPECT_EQ(ids("", 10, ""), Ids{"dirty"});
}

TEST_F(ActivationTableTest, ReturnsUnusedObjects) {
  add("old", false).last_used = 10;
  add("new", false).last_used = 20;
  EXPECT_EQ(unused_since(15), Ids{"old"});
  EXPECT_EQ(unused_since(30).size(), 2U);
  EXPECT_EQ(unused_since(5), Ids{});
}

}  // namespace
}  // namespace holdfast::objects::internal
