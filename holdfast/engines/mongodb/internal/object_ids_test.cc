#include <holdfast/engines/mongodb/internal/object_ids.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/base/utf8.h>

namespace holdfast::engines::mongodb::internal {
namespace {

// Short texts of few bytes, so that all ways in which they can meet come up.
std::vector<std::string> odd_names() {
  std::mt19937 random(7);
  constexpr std::string_view kBytes(
      "\0"
      "1:a\x7f\x80\xbf\xc3\xff",
      9);
  std::set<std::string> names{"$where", "a.b", "5:order:17"};
  while (names.size() < 300) {
    std::string name;
    for (std::size_t left = 1 + random() % 4; left > 0; --left) {
      name += kBytes[random() % kBytes.size()];
    }
    names.insert(name);
  }
  return {names.begin(), names.end()};
}

TEST(ObjectIds, AreReadable) {
  EXPECT_EQ(ObjectIds("").id_of({.type = "order", .id = "17"}), "5:order:17");
  EXPECT_EQ(ObjectIds("app/").id_of({.type = "order", .id = "\xff"}), "app/5:order:\xc3\xbf");
}

TEST(ObjectIds, DifferentObjectsHaveDifferentOnes) {
  std::set<std::string> ids;
  const auto names = odd_names();
  for (const std::string& type : names) {
    for (const std::string& id : names) {
      EXPECT_TRUE(ids.insert(ObjectIds("").id_of({.type = type, .id = id})).second);
    }
  }
}

TEST(ObjectIds, AreTextAndLeadBackToTheObject) {
  const ObjectIds ids("p");
  for (const std::string& name : odd_names()) {
    const std::string id = ids.id_of({.type = "order", .id = name});
    EXPECT_TRUE(base::is_utf8(id));
    EXPECT_EQ(ids.object_of("order", id), name);
    EXPECT_EQ(ids.object_of("orde", id), std::nullopt);
  }
  EXPECT_EQ(ids.object_of("order", "something else"), std::nullopt);
  EXPECT_EQ(ids.object_of("order", "p5:order:\xc4\x80"), std::nullopt);
}

TEST(ObjectIds, AreInTheOrderOfTheirBytes) {
  const ObjectIds ids("");
  const auto names = odd_names();  // in byte order
  std::vector<std::string> made;
  for (const std::string& name : names) {
    made.push_back(ids.id_of({.type = "order", .id = name}));
  }
  EXPECT_TRUE(std::ranges::is_sorted(made));
}

TEST(ObjectIds, ThoseThatBeginAlikeAreInOneRange) {
  const ObjectIds ids("");
  const auto names = odd_names();
  for (const std::string& prefix : names) {
    const std::string begin = ids.beginning("order", prefix);
    for (const std::string& name : names) {
      const std::string id = ids.id_of({.type = "order", .id = name});
      EXPECT_EQ(begin <= id && id < ObjectIds::end_of(begin), name.starts_with(prefix));
    }
  }
}

}  // namespace
}  // namespace holdfast::engines::mongodb::internal
