#include <holdfast/base/duration_text.h>

#include <gtest/gtest.h>

namespace holdfast::base {
namespace {

using namespace std::chrono_literals;

TEST(DurationText, ReadsANumberAndItsUnit) {
  EXPECT_EQ(parse_duration("250ms"), 250ms);
  EXPECT_EQ(parse_duration("1.5s"), 1500ms);
  EXPECT_EQ(parse_duration("2m"), 2min);
  EXPECT_EQ(parse_duration("8h"), 8h);
  EXPECT_EQ(parse_duration("30d"), 720h);
  EXPECT_EQ(parse_duration("10us"), 10us);
  EXPECT_EQ(parse_duration("7ns"), 7ns);
  EXPECT_EQ(parse_duration("0s"), 0s);
}

TEST(DurationText, RejectsEverythingElseAndNamesTheUnits) {
  for (const char* text : {"", "5", "s", "-5s", "5 s", "5sec", "nans", "infs", "1e400s",
                           "99999999d", "5s ", "0x5s", "5S"}) {
    const auto result = parse_duration(text);
    ASSERT_FALSE(result) << text;
    EXPECT_EQ(result.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(result.error().message.find("ms, s, m, h, d"), std::string::npos);
  }
}

TEST(DurationText, WritesTheTwoLargestUnitsThatMatter) {
  EXPECT_EQ(short_duration(0s), "0s");
  EXPECT_EQ(short_duration(250ms), "250ms");
  EXPECT_EQ(short_duration(8s + 900ms), "8s");
  EXPECT_EQ(short_duration(3min + 20s), "3m 20s");
  EXPECT_EQ(short_duration(2h), "2h");
  EXPECT_EQ(short_duration(25h + 59s), "1d 1h");
  EXPECT_EQ(short_duration(-5s), "-5s");
  EXPECT_EQ(short_duration(7us), "7us");
}

}  // namespace
}  // namespace holdfast::base
