#include <holdfast/base/percent.h>

#include <gtest/gtest.h>

namespace holdfast::base {
namespace {

TEST(Percent, EscapesAreResolved) {
  EXPECT_EQ(percent_decode(""), "");
  EXPECT_EQ(percent_decode("plain + text"), "plain + text");
  EXPECT_EQ(percent_decode("a%20b%3F%25%c3%A9"), "a b?%\xC3\xA9");
  EXPECT_EQ(percent_decode("%00"), std::string(1, '\0'));
}

TEST(Percent, WhatIsNoEscapeIsRefused) {
  for (const char* const text : {"%", "a%", "%2", "%zz", "%2g", "%-1", "a%%20"}) {
    EXPECT_EQ(percent_decode(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace holdfast::base
