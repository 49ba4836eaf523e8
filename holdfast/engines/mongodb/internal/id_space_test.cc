#include <holdfast/engines/mongodb/internal/id_space.h>

#include <algorithm>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast::engines::mongodb::internal {
namespace {

std::vector<std::string> names() {
  return {"a",
          "hf",
          "hf~",
          "hf~61",
          "hf~hf~",
          "\xff",
          "a\xff",
          "\xc3\xa9",
          "\xc3",
          "\xed\xa0\x80",
          "\xc0\x80",
          "$a",
          "a.b",
          "\xf4\x90\x80\x80",
          std::string(1, '\0'),
          std::string("a\0", 2),
          "\xf0\x9f\x94\x92",
          "\x7f",
          "hf\x7f"};
}

TEST(IdSpace, ValidTextStaysAsItIs) {
  const IdSpace ids("p:");
  EXPECT_EQ(ids.id_of("nightly/backup"), "p:nightly/backup");
  EXPECT_EQ(ids.id_of("\xc3\xa9"), "p:\xc3\xa9");
  EXPECT_EQ(ids.id_of(std::string_view("a\0", 2)), std::string("p:a\0", 4));
}

TEST(IdSpace, OtherBytesAreInHexadecimal) {
  const IdSpace ids("");
  EXPECT_EQ(ids.id_of("a\xff"), "hf~61ff");
  EXPECT_EQ(ids.id_of("hf~61ff"), "hf~68667e36316666");
}

TEST(IdSpace, EveryNameHasItsOwnIdAndComesBack) {
  for (const std::string prefix : {"", "p:", "hf~"}) {
    const IdSpace ids(prefix);
    std::set<std::string> seen;
    for (const std::string& name : names()) {
      const std::string id = ids.id_of(name);
      EXPECT_TRUE(seen.insert(id).second) << id;
      EXPECT_EQ(ids.name_of(id), name);
      EXPECT_EQ(IdSpace::valid_beginning(id), id) << "not valid UTF-8";
    }
  }
}

TEST(IdSpace, IdsOfOthersHaveNoName) {
  const IdSpace ids("p:");
  for (const char* const id : {"q:a", "p", "p:hf~6", "p:hf~zz", "p:hf~61", "p:hf~FF"}) {
    EXPECT_EQ(ids.name_of(id), std::nullopt) << id;
  }
}

TEST(IdSpace, HexadecimalIsInTheOrderOfTheNames) {
  std::vector<std::string> sorted = names();
  std::ranges::sort(sorted);
  std::vector<std::string> digits;
  for (const std::string& name : sorted) {
    digits.push_back(IdSpace::hexadecimal(name));
  }
  EXPECT_TRUE(std::ranges::is_sorted(digits));
}

TEST(IdSpace, FindsTheValidBeginning) {
  EXPECT_EQ(IdSpace::valid_beginning("abc"), "abc");
  EXPECT_EQ(IdSpace::valid_beginning("ab\xc3"), "ab");
  EXPECT_EQ(IdSpace::valid_beginning("\xff"), "");
}

}  // namespace
}  // namespace holdfast::engines::mongodb::internal
