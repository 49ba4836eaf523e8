#include <gtest/gtest.h>

#include "apps/holdfast/cli/did_you_mean.h"

namespace holdfast::cli {

namespace {

TEST(DidYouMean, NamesTheClosestWord) {
  const std::vector<std::string> known{"run", "release", "renew", "ls"};
  EXPECT_EQ(did_you_mean("rnu", known), ": did you mean run?");
  EXPECT_EQ(did_you_mean("relase", known), ": did you mean release?");
  EXPECT_EQ(did_you_mean("sl", known), ": did you mean ls?");
}

TEST(DidYouMean, IsSilentAboutAWordThatIsLikeNone) {
  EXPECT_EQ(did_you_mean("backup", {"run", "ls"}), "");
  EXPECT_EQ(did_you_mean("", {"run", "ls"}), "");
  EXPECT_EQ(did_you_mean("a", {"b"}), "");
  EXPECT_EQ(did_you_mean(std::string(10'000, 'x'), {"run"}), "");
}

}  // namespace

}  // namespace holdfast::cli
