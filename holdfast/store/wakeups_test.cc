#include <holdfast/store/wakeups.h>

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

TEST(Wakeups, WatchersReceiveTheNoticeAsItWasSent) {
  Wakeups wakeups;
  const auto id = base::LeaseId::generate();
  std::vector<Notice> notices;
  const Watch watch =
      wakeups.subscribe("a", [&](const Notice& notice) { notices.push_back(notice); });
  wakeups.notify("a", {});
  wakeups.notify("a", {.granted = id});
  wakeups.notify_all();
  EXPECT_EQ(notices, (std::vector<Notice>{{}, {.granted = id}, {}}));
}

TEST(Wakeups, CallsThoseWhoWatchTheNameAndNobodyElse) {
  Wakeups wakeups;
  int one = 0;
  int two = 0;
  int other = 0;
  const Watch first = wakeups.subscribe("a", [&](const auto&) { ++one; });
  const Watch second = wakeups.subscribe("a", [&](const auto&) { ++two; });
  const Watch third = wakeups.subscribe(std::string_view("a\0b", 3), [&](const auto&) { ++other; });
  wakeups.notify("a", {});
  EXPECT_EQ(one, 1);
  EXPECT_EQ(two, 1);
  EXPECT_EQ(other, 0);
  wakeups.notify(std::string_view("a\0b", 3), {});
  EXPECT_EQ(other, 1);
}

TEST(Wakeups, NotifyAllCallsEverybody) {
  Wakeups wakeups;
  int calls = 0;
  const Watch first = wakeups.subscribe("a", [&](const auto&) { ++calls; });
  const Watch second = wakeups.subscribe("b", [&](const auto&) { ++calls; });
  wakeups.notify_all();
  EXPECT_EQ(calls, 2);
}

TEST(Wakeups, WithoutWatchersDoesNothing) {
  Wakeups wakeups;
  wakeups.notify("a", {});
  wakeups.notify_all();
}

TEST(Wakeups, DoNotCallAfterTheEndOfAWatch) {
  Wakeups wakeups;
  int calls = 0;
  Watch watch = wakeups.subscribe("a", [&](const auto&) { ++calls; });
  watch.reset();
  watch.reset();
  wakeups.notify("a", {});
  EXPECT_EQ(calls, 0);
}

TEST(Wakeups, TheEndOfOneWatchLeavesTheOthersOfItsName) {
  Wakeups wakeups;
  int calls = 0;
  const Watch kept = wakeups.subscribe("a", [&](const auto&) { ++calls; });
  {
    const Watch ended = wakeups.subscribe("a", [](const auto&) {});
  }
  wakeups.notify("a", {});
  EXPECT_EQ(calls, 1);
}

TEST(Wakeups, AMovedWatchGoesOn) {
  Wakeups wakeups;
  int calls = 0;
  Watch first = wakeups.subscribe("a", [&](const auto&) { ++calls; });
  Watch second(std::move(first));
  first.reset();  // NOLINT(bugprone-use-after-move): a moved-from watch ends nothing.
  wakeups.notify("a", {});
  EXPECT_EQ(calls, 1);
  Watch third = wakeups.subscribe("a", [&](const auto&) { calls += 10; });
  third = std::move(second);
  wakeups.notify("a", {});
  EXPECT_EQ(calls, 2);
}

TEST(Wakeups, AWatchMayOutliveTheHub) {
  auto wakeups = std::make_unique<Wakeups>();
  const Watch watch = wakeups->subscribe("a", [](const auto&) {});
  wakeups.reset();
}

TEST(Wakeups, TheEndOfAWatchWaitsForACallThatRuns) {
  Wakeups wakeups;
  std::latch called(1);
  std::latch go_on(1);
  std::atomic<bool> returned = false;
  std::optional<Watch> watch = wakeups.subscribe("a", [&](const auto&) {
    called.count_down();
    go_on.wait();
    returned = true;
  });
  std::jthread notifier([&] { wakeups.notify("a", {}); });
  called.wait();
  std::jthread releaser([&] { go_on.count_down(); });
  watch.reset();
  EXPECT_TRUE(returned);
}

TEST(Wakeups, ACallbackMayWatchAndEndOtherWatches) {
  Wakeups wakeups;
  Watch other = wakeups.subscribe("b", [](const auto&) {});
  std::optional<Watch> added;
  const Watch watch = wakeups.subscribe("a", [&](const auto&) {
    other.reset();
    added = wakeups.subscribe("c", [](const auto&) {});
  });
  wakeups.notify("a", {});
  EXPECT_TRUE(added);
}

TEST(Wakeups, KnowWhichNamesAreWatched) {
  Wakeups wakeups;
  EXPECT_FALSE(wakeups.has_watchers("a"));
  Watch one = wakeups.subscribe("a", [](const auto&) {});
  Watch two = wakeups.subscribe("a", [](const auto&) {});
  EXPECT_TRUE(wakeups.has_watchers("a"));
  EXPECT_FALSE(wakeups.has_watchers("b"));
  one.reset();
  EXPECT_TRUE(wakeups.has_watchers("a"));
  two.reset();
  EXPECT_FALSE(wakeups.has_watchers("a"));
}

TEST(Wakeups, AreSafeWhileWatchesComeAndGo) {
  Wakeups wakeups;
  std::atomic<bool> done = false;
  std::atomic<bool> late = false;
  std::jthread notifier([&] {
    while (!done) {
      wakeups.notify("a", {});
      wakeups.notify_all();
    }
  });
  for (int i = 0; i < 2'000; ++i) {
    std::atomic<bool> ended = false;
    {
      const Watch watch = wakeups.subscribe("a", [&](const auto&) { late = late || ended.load(); });
    }
    ended = true;
  }
  done = true;
  notifier.join();
  EXPECT_FALSE(late);
}

}  // namespace
}  // namespace holdfast::store
