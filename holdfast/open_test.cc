#include <string_view>

#include <gtest/gtest.h>

#include <holdfast/holdfast.h>

namespace {

using holdfast::ErrorCode;

TEST(Open, ALockOfTheOpenedStoreExcludesAnotherCaller) {
  auto locks = holdfast::open("memory:");
  const holdfast::Lock lock = locks.acquire("report");
  EXPECT_TRUE(lock.check());
  const auto second = locks.try_acquire("report");
  ASSERT_TRUE(second);
  EXPECT_FALSE(*second);
}

TEST(Open, AnUnknownSchemeThrowsAnErrorThatNamesTheKnownOnes) {
  try {
    auto locks = holdfast::open("redsi://localhost");
    FAIL() << "an unknown scheme was opened";
  } catch (const holdfast::Exception& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_NE(error.error().message.find("redis"), std::string_view::npos) << error.what();
  }
}

TEST(Open, TheOptionsReachTheProvider) {
  auto locks = holdfast::open("memory:", {.owner = "night shift"});
  EXPECT_EQ(locks.acquire("report").owner(), "night shift");
}

TEST(Version, TheHeaderAgreesWithTheProject) {
  EXPECT_STREQ(HOLDFAST_VERSION, HOLDFAST_PROJECT_VERSION);
}

}  // namespace
