#include <holdfast/base/utf8.h>

#include <gtest/gtest.h>

namespace holdfast::base {
namespace {

TEST(Utf8, AcceptsValidText) {
  for (const std::string_view text :
       {"", "plain", "\x7f", "\u00e9", "\u20ac", "\U0001f512", "\U0010ffff", "mixed \u20ac text"}) {
    EXPECT_TRUE(is_utf8(text)) << text;
  }
  EXPECT_TRUE(is_utf8(std::string_view("a\0b", 3)));
}

TEST(Utf8, RejectsInvalidText) {
  for (const std::string_view text :
       {"\x80", "\xc3", "a\xff", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80",
        "\xf0\x9f\x94", "ok\xe2\x82"}) {
    EXPECT_FALSE(is_utf8(text));
  }
}

TEST(Utf8, DecodesTheFirstCodePoint) {
  EXPECT_EQ(front_of_utf8("\u20acx").value, U'\u20ac');
  EXPECT_EQ(front_of_utf8("\u20acx").size, 3U);
  EXPECT_EQ(front_of_utf8("\xff").size, 0U);
}

}  // namespace
}  // namespace holdfast::base
