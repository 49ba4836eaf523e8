#include <holdfast/base/percent.h>

#include <gtest/gtest.h>

namespace holdfast::base {
namespace {

TEST(Percent, DecodesEscapes) {
  EXPECT_EQ(percent_decode(""), "");
  EXPECT_EQ(percent_decode("plain + text"), "plain + text");
  EXPECT_EQ(percent_decode("a%20b%3F%25%c3%A9"), "a b?%\xC3\xA9");
  EXPECT_EQ(percent_decode("%00"), std::string(1, '\0'));
}

TEST(Percent, RejectsInvalidEscapes) {
  for (const char* const text : {"%", "a%", "%2", "%zz", "%2g", "%-1", "a%%20"}) {
    EXPECT_EQ(percent_decode(text), std::nullopt) << text;
  }
}

TEST(Percent, EncodedTextIsPlainAsciiAndDecodesToTheOriginal) {
  EXPECT_EQ(percent_encode("me@host:1 a%b"), "me@host:1%20a%25b");
  std::string all;
  for (int byte = 0; byte < 256; ++byte) {
    all.push_back(static_cast<char>(byte));
  }
  const std::string escaped = percent_encode(all);
  for (const char c : escaped) {
    EXPECT_TRUE(c > ' ' && c < '\x7f');
  }
  EXPECT_EQ(percent_decode(escaped), all);
}

}  // namespace
}  // namespace holdfast::base
