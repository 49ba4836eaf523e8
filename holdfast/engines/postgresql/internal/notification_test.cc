#include <holdfast/engines/postgresql/internal/notification.h>

#include <string>

#include <gtest/gtest.h>

namespace holdfast::engines::postgresql::internal {
namespace {

const std::string kId(32, 'a');

TEST(Notification, SaysWhichNameMayBeFreeOrWasGranted) {
  const auto hint = Notification::parse("hint 6a00ff");
  ASSERT_TRUE(hint);
  EXPECT_EQ(hint->name, std::string("j\0\xff", 3));
  EXPECT_EQ(hint->notice.granted, std::nullopt);

  const auto grant = Notification::parse("grant " + kId + " 6a");
  ASSERT_TRUE(grant);
  EXPECT_EQ(grant->name, "j");
  EXPECT_EQ(to_string(*grant->notice.granted), kId);
}

TEST(Notification, AnythingElseIsNone) {
  for (const std::string& text :
       {std::string(), std::string("hint"), std::string("hint "), std::string("hint 6"),
        std::string("hint 6g"), std::string("hint -1"), std::string("grant"), "grant " + kId,
        "grant " + kId + " ", "grant " + kId + "6a6a", "grant " + std::string(32, 'x') + " 6a",
        std::string("6a")}) {
    EXPECT_FALSE(Notification::parse(text)) << text;
  }
}

}  // namespace
}  // namespace holdfast::engines::postgresql::internal
