#include <holdfast/base/record_text.h>

#include <gtest/gtest.h>

namespace holdfast::base {
namespace {

using namespace std::chrono_literals;

TEST(RecordText, ShowsEachFieldWithItsName) {
  EXPECT_EQ(RecordText("R")
                .quoted("key", "a")
                .number("readers", 2)
                .flag("exclusive", false)
                .time("time_left", 200s)
                .plain("id", "0f")
                .str(),
            R"(R { key = "a", readers = 2, exclusive = false, time_left = 3m 20s, id = 0f })");
}

TEST(RecordText, IsOneSafeLineWhateverTheBytes) {
  EXPECT_EQ(RecordText("R").quoted("key", "a\n\x1b").str(), R"(R { key = "a\x0a\x1b" })");
}

TEST(RecordText, ShowsThatATimeHasPassed) {
  EXPECT_EQ(RecordText("R").time("time_left", -3s).str(), "R { time_left = -3s }");
}

}  // namespace
}  // namespace holdfast::base
