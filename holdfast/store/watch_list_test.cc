#include <holdfast/store/watch_list.h>

#include <atomic>
#include <latch>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast::store {
namespace {

TEST(WatchList, WatchersReceiveTheNoticeAsItWasSent) {
  WatchList watches;
  const auto id = base::LeaseId::generate();
  std::vector<Notice> notices;
  const Watch watch =
      watches.subscribe("a", [&](const Notice& notice) { notices.push_back(notice); });
  watches.notify("a", {});
  watches.notify("a", {.granted = id});
  watches.notify_all();
  EXPECT_EQ(notices, (std::vector<Notice>{{}, {.granted = id}, {}}));
}

TEST(WatchList, CallsTheWatchesOfTheNameAndNoOthers) {
  WatchList watches;
  int one = 0;
  int two = 0;
  int other = 0;
  const Watch first = watches.subscribe("a", [&](const auto&) { ++one; });
  const Watch second = watches.subscribe("a", [&](const auto&) { ++two; });
  const Watch third = watches.subscribe(std::string_view("a\0b", 3), [&](const auto&) { ++other; });
  watches.notify("a", {});
  EXPECT_EQ(one, 1);
  EXPECT_EQ(two, 1);
  EXPECT_EQ(other, 0);
  watches.notify(std::string_view("a\0b", 3), {});
  EXPECT_EQ(other, 1);
}

TEST(WatchList, NotifyAllCallsEverybody) {
  WatchList watches;
  int calls = 0;
  const Watch first = watches.subscribe("a", [&](const auto&) { ++calls; });
  const Watch second = watches.subscribe("b", [&](const auto&) { ++calls; });
  watches.notify_all();
  EXPECT_EQ(calls, 2);
}

TEST(WatchList, WithoutWatchersDoesNothing) {
  WatchList watches;
  watches.notify("a", {});
  watches.notify_all();
}

TEST(WatchList, DoNotCallAfterTheEndOfAWatch) {
  WatchList watches;
  int calls = 0;
  Watch watch = watches.subscribe("a", [&](const auto&) { ++calls; });
  watch.reset();
  watch.reset();
  watches.notify("a", {});
  EXPECT_EQ(calls, 0);
}

TEST(WatchList, TheEndOfOneWatchLeavesTheOthersOfItsName) {
  WatchList watches;
  int calls = 0;
  const Watch kept = watches.subscribe("a", [&](const auto&) { ++calls; });
  {
    const Watch ended = watches.subscribe("a", [](const auto&) {});
  }
  watches.notify("a", {});
  EXPECT_EQ(calls, 1);
}

TEST(WatchList, AMovedWatchGoesOn) {
  WatchList watches;
  int calls = 0;
  Watch first = watches.subscribe("a", [&](const auto&) { ++calls; });
  Watch second(std::move(first));
  first.reset();  // NOLINT(bugprone-use-after-move): a moved-from watch ends nothing.
  watches.notify("a", {});
  EXPECT_EQ(calls, 1);
  Watch third = watches.subscribe("a", [&](const auto&) { calls += 10; });
  third = std::move(second);
  watches.notify("a", {});
  EXPECT_EQ(calls, 2);
}

TEST(WatchList, AWatchMayOutliveTheHub) {
  auto watches = std::make_unique<WatchList>();
  const Watch watch = watches->subscribe("a", [](const auto&) {});
  watches.reset();
}

TEST(WatchList, TheEndOfAWatchWaitsForACallThatRuns) {
  WatchList watches;
  std::latch called(1);
  std::latch go_on(1);
  std::atomic<bool> returned = false;
  std::optional<Watch> watch = watches.subscribe("a", [&](const auto&) {
    called.count_down();
    go_on.wait();
    returned = true;
  });
  std::jthread notifier([&] { watches.notify("a", {}); });
  called.wait();
  std::jthread releaser([&] { go_on.count_down(); });
  watch.reset();
  EXPECT_TRUE(returned);
}

TEST(WatchList, ACallbackMayWatchAndEndOtherWatches) {
  WatchList watches;
  Watch other = watches.subscribe("b", [](const auto&) {});
  std::optional<Watch> added;
  const Watch watch = watches.subscribe("a", [&](const auto&) {
    other.reset();
    added = watches.subscribe("c", [](const auto&) {});
  });
  watches.notify("a", {});
  EXPECT_TRUE(added);
}

TEST(WatchList, KnowWhichNamesAreWatched) {
  WatchList watches;
  EXPECT_FALSE(watches.has_watchers("a"));
  Watch one = watches.subscribe("a", [](const auto&) {});
  Watch two = watches.subscribe("a", [](const auto&) {});
  EXPECT_TRUE(watches.has_watchers("a"));
  EXPECT_FALSE(watches.has_watchers("b"));
  one.reset();
  EXPECT_TRUE(watches.has_watchers("a"));
  two.reset();
  EXPECT_FALSE(watches.has_watchers("a"));
}

TEST(WatchList, AreSafeWhileWatchesComeAndGo) {
  WatchList watches;
  std::atomic<bool> done = false;
  std::atomic<bool> late = false;
  std::jthread notifier([&] {
    while (!done) {
      watches.notify("a", {});
      watches.notify_all();
    }
  });
  for (int i = 0; i < 2'000; ++i) {
    std::atomic<bool> ended = false;
    {
      const Watch watch = watches.subscribe("a", [&](const auto&) { late = late || ended.load(); });
    }
    ended = true;
  }
  done = true;
  notifier.join();
  EXPECT_FALSE(late);
}

}  // namespace
}  // namespace holdfast::store
