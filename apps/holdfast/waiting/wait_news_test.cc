#include <gtest/gtest.h>

#include "apps/holdfast/waiting/wait_news.h"

namespace holdfast::cli {

namespace {

using namespace std::chrono_literals;

TEST(WaitNews, AreTheStartAndThenOneAMinute) {
  WaitNews news(Detail::usual, Reminders::every_minute);
  EXPECT_TRUE(news.is_due(1s, false, {7}));
  EXPECT_FALSE(news.is_due(2s, false, {7}));
  EXPECT_FALSE(news.is_due(3s, false, {8}));
  EXPECT_FALSE(news.is_due(60s, false, {8}));
  EXPECT_TRUE(news.is_due(61s, false, {8}));
  EXPECT_FALSE(news.is_due(62s, false, {8}));
  EXPECT_TRUE(news.is_due(121s, false, {8}));
}

TEST(WaitNews, AreEachOutageOnce) {
  WaitNews news(Detail::usual, Reminders::every_minute);
  EXPECT_TRUE(news.is_due(1s, false, {7}));
  EXPECT_TRUE(news.is_due(5s, true, {}));
  EXPECT_FALSE(news.is_due(6s, true, {}));
  EXPECT_FALSE(news.is_due(7s, false, {7}));
  EXPECT_TRUE(news.is_due(8s, true, {}));
  EXPECT_TRUE(news.is_due(68s, true, {}));
}

TEST(WaitNews, OfAVerboseWaitAreAlsoOtherHoldersAndTheEndOfAnOutage) {
  WaitNews news(Detail::verbose, Reminders::every_minute);
  EXPECT_TRUE(news.is_due(1s, false, {7}));
  EXPECT_TRUE(news.is_due(2s, false, {8}));
  EXPECT_TRUE(news.is_due(3s, true, {}));
  EXPECT_TRUE(news.is_due(4s, false, {8}));
  EXPECT_FALSE(news.is_due(5s, false, {8}));
}

TEST(WaitNews, OfAWaitThatIsNormalAreNoReminders) {
  WaitNews news(Detail::usual, Reminders::none);
  EXPECT_TRUE(news.is_due(1s, false, {7}));
  EXPECT_FALSE(news.is_due(10min, false, {7}));
  EXPECT_TRUE(news.is_due(11min, true, {}));
}

TEST(WaitNews, OfAQuietWaitAreOutagesOnly) {
  WaitNews news(Detail::usual, Reminders::never);
  EXPECT_FALSE(news.is_due(1s, false, {7}));
  EXPECT_FALSE(news.is_due(10min, false, {8}));
  EXPECT_TRUE(news.is_due(11min, true, {}));
}

}  // namespace

}  // namespace holdfast::cli
