#include <holdfast/engines/mongodb/internal/bson.h>

#include <stdexcept>

#include <gtest/gtest.h>

namespace holdfast::engines::mongodb::internal {
namespace {

TEST(Bson, HasWhatWasAdded) {
  Bson inner;
  inner.push("one").push("two");
  Bson document;
  document.add("text", std::string_view("a\0b", 3))
      .add("int", 7)
      .add("long", std::int64_t{1} << 40U)
      .add("date", Date{123})
      .add("flag", true)
      .add_bytes("bytes", "\xff")
      .add_bytes("nothing", {})
      .add_array("list", inner);
  EXPECT_EQ(document.find("text")->text(), std::string_view("a\0b", 3));
  EXPECT_EQ(document.find("int")->integer(), 7);
  EXPECT_EQ(document.find("long")->integer(), std::int64_t{1} << 40U);
  EXPECT_EQ(document.find("date")->date(), Date{123});
  EXPECT_EQ(document.find("flag")->boolean(), true);
  EXPECT_EQ(document.find("bytes")->bytes(), "\xff");
  EXPECT_EQ(document.find("nothing")->bytes(), "");
  EXPECT_EQ(document.find("list")->find("1")->text(), "two");
  EXPECT_FALSE(document.find("other"));
}

TEST(Bson, OfAnotherTypeThereIsNothing) {
  Bson document;
  document.add("text", "1");
  EXPECT_FALSE(document.find("text")->integer());
  EXPECT_FALSE(document.find("text")->date());
  EXPECT_FALSE(document.find("text")->bytes());
  EXPECT_FALSE(document.find("text")->elements());
  EXPECT_FALSE(document.find("text")->find("x"));
}

TEST(Bson, SurvivesBeingMovedWhetherSmallOrLarge) {
  for (const std::size_t size : {1U, 10'000U}) {
    Bson first;
    first.push(std::string(size, 'x'));
    Bson second(std::move(first));
    second.push("y");
    Bson third;
    third = std::move(second);
    EXPECT_EQ(third.find("0")->text()->size(), size);
    EXPECT_EQ(third.find("1")->text(), "y");
  }
}

TEST(Bson, PutsArraysTogether) {
  Bson all = Bson::parse("[1, 2]");
  all.push_all(Bson::parse("[3]")).push("end");
  EXPECT_EQ(all.find("2")->integer(), 3);
  EXPECT_EQ(all.find("3")->text(), "end");
}

TEST(Bson, RefusesWhatIsNotJson) { EXPECT_THROW((void)Bson::parse("[1,"), std::logic_error); }

}  // namespace
}  // namespace holdfast::engines::mongodb::internal
