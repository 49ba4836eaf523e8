#include <holdfast/base/name.h>

#include <functional>
#include <string>
#include <string_view>
#include <unordered_set>

#include <gtest/gtest.h>

namespace holdfast::base {
namespace {

using namespace std::string_view_literals;

Name name(std::string_view bytes) { return value_or_throw(Name::make(bytes)); }

TEST(Name, HasOneTo1024Bytes) {
  EXPECT_EQ(name("a").view(), "a");
  const std::string longest(1024, 'x');
  EXPECT_EQ(name(longest).view(), longest);
}

TEST(Name, RefusesTheEmptyNameAndTheTooLong) {
  const Result<Name> empty = Name::make("");
  ASSERT_FALSE(empty.has_value());
  EXPECT_EQ(empty.error().code, ErrorCode::invalid_argument);
  const Result<Name> long_one = Name::make(std::string(1025, 'x'));
  ASSERT_FALSE(long_one.has_value());
  EXPECT_EQ(long_one.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(long_one.error().message.find("1025 bytes"), std::string::npos);
}

TEST(Name, KeepsAnyBytes) {
  const std::string_view bytes = "\0a\xff\n "sv;
  EXPECT_EQ(name(bytes).view(), bytes);
  EXPECT_EQ(name("\0"sv).view().size(), 1U);
  EXPECT_NE(name("a\0b"sv), name("a\0c"sv));
}

TEST(Name, OwnsItsBytes) {
  std::string source = "report";
  const Name copy = name(source);
  source = "edited";
  EXPECT_EQ(copy.view(), "report");
}

TEST(Name, IsCaseSensitiveAndNotTrimmed) {
  EXPECT_NE(name("a"), name("A"));
  EXPECT_NE(name("a"), name("a "));
  EXPECT_EQ(name("a"), name("a"));
}

TEST(Name, OrdersByUnsignedBytes) {
  EXPECT_LT(name("a"), name("b"));
  EXPECT_LT(name("a"), name("aa"));
  EXPECT_LT(name("z"), name("\x80"));
}

TEST(Name, IsAKeyOfHashedContainers) {
  const std::unordered_set<Name> names{name("a"), name("b"), name("a")};
  EXPECT_EQ(names.size(), 2U);
  EXPECT_TRUE(names.contains(name("b")));
  EXPECT_EQ(std::hash<Name>{}(name("a")), std::hash<Name>{}(name("a")));
}

TEST(Name, PrintsSafely) { EXPECT_EQ(name("a\nü"sv).printable(), R"(a\x0aü)"); }

}  // namespace
}  // namespace holdfast::base
