#include <chrono>

#include <gtest/gtest.h>

#include <holdfast/store/claim.h>

#include "apps/holdfast/cli/text.h"

namespace holdfast::cli {

namespace {

using namespace std::chrono_literals;
using store::Permits;

TEST(Text, CutsByCharactersAndSaysSo) {
  EXPECT_EQ(cut("a·b", 3), "a·b");
  EXPECT_EQ(cut("a·bc", 3), "a·…");
  EXPECT_EQ(cut("abc", 1), "…");
}

TEST(Text, NamesTheProcessOfAnOwnerThatHasOne) {
  EXPECT_EQ(owner_text("ci@host:41"), "ci@host (pid 41)");
  EXPECT_EQ(owner_text("ci@host"), "ci@host");
  EXPECT_EQ(owner_text("a:b"), "a:b");
  EXPECT_EQ(owner_text("a:"), "a:");
  EXPECT_EQ(owner_text("a\033:1"), "a\\x1b (pid 1)");
}

TEST(Text, SaysHowANameIsHeld) {
  EXPECT_EQ(permits_text(1, 1), "mutex");
  EXPECT_EQ(permits_text(2, 5), "2 of 5");
  EXPECT_EQ(permits_text(1, Permits::kAll), "shared");
  EXPECT_EQ(permits_text(Permits::kAll, Permits::kAll), "exclusive");
}

TEST(Text, RoundsToWhatPeopleCareAbout) {
  EXPECT_EQ(rough(200s + 7ms), "3m 20s");
  EXPECT_EQ(rough(8900ms), "8s");
  EXPECT_EQ(rough(250ms + 3us), "250ms");
  EXPECT_EQ(rough(0s), "0s");
}

TEST(Text, AlignsColumns) {
  EXPECT_EQ(table({{"A", "B"}, {"xä", "y"}, {"x", "z"}}), "A   B\nxä  y\nx   z\n");
}

}  // namespace

}  // namespace holdfast::cli
