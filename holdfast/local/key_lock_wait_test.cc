// The waits of KeyLock: deadlines, cancellation, order, priority, fairness.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/local/key_lock.h>
#include <holdfast/local/testing_support.h>

namespace holdfast::local {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;
using testing_support::Line;
using testing_support::Names;
using testing_support::state_of;
using testing_support::wait_until;
using testing_support::wait_until_waiting;
using testing_support::waiting_for;

const KeyWait kUrgent{.priority = Priority::urgent};

TEST(KeyLock, ADeadlineInThePastIsOneTry) {
  KeyLock locks;
  const KeyWait past{.until = steady_clock::now() - 1ns};
  EXPECT_TRUE(locks.lock("k", past));
  EXPECT_TRUE(locks.lock_shared("k", past));
  EXPECT_TRUE(locks.try_lock_for("k", 0s));
  const ExclusiveGuard held = locks.lock("k");
  EXPECT_EQ(locks.lock("k", past).error(), WaitEnd::timed_out);
  EXPECT_EQ(locks.lock_shared("k", past).error(), WaitEnd::timed_out);
  EXPECT_FALSE(locks.try_lock_until("k", steady_clock::now()));
  EXPECT_EQ(locks.stats().timed_out, 3U);
  EXPECT_EQ(locks.size(), 1U);
}

TEST(KeyLock, ADeadlineBeforeTheMachineStartedIsOneTryToo) {
  KeyLock locks;
  ExclusiveGuard held = locks.lock("k");
  auto tries = std::async(std::launch::async, [&] {
    return locks.try_lock_for("k", std::chrono::hours::min()) ||
           locks.try_lock_shared_for("k", std::chrono::nanoseconds::min()) ||
           locks.try_lock_until("k", steady_clock::time_point::min()) ||
           locks.try_lock_shared_until("k", std::chrono::system_clock::time_point{}) ||
           locks.lock("k", {.until = steady_clock::time_point(-1ns)}) ||
           locks.lock_shared("k", {.until = steady_clock::time_point::min()});
  });
  tries.wait_for(10s);  // a wait that would never end fails here, because it gets the key
  held.unlock();
  EXPECT_FALSE(tries.get());
}

TEST(KeyLock, TheLongestDurationsWaitUntilServed) {
  KeyLock locks;
  ExclusiveGuard held = locks.lock("k");
  std::jthread by_duration([&] {
    EXPECT_TRUE(locks.try_lock_for("k", std::chrono::hours::max()));
    EXPECT_TRUE(locks.try_lock_for("k", std::chrono::duration<double>(1e300)));
  });
  wait_until_waiting(locks, "k", 1);
  std::jthread by_time_point([&] {
    EXPECT_TRUE(locks.try_lock_shared_until("k", steady_clock::time_point::max()));
    EXPECT_TRUE(locks.try_lock_shared_until("k", std::chrono::system_clock::time_point::max()));
  });
  wait_until_waiting(locks, "k", 2);
  held.unlock();
  by_duration.join();
  by_time_point.join();
  EXPECT_EQ(locks.stats().timed_out, 0U);
}

TEST(KeyLock, AWaitEndsAtItsDeadlineAndLeavesNothingBehind) {
  KeyLock locks;
  ExclusiveGuard held = locks.lock("k");
  EXPECT_FALSE(locks.try_lock_for("k", 2ms));
  EXPECT_FALSE(locks.try_lock_shared_for("k", 2ms));
  EXPECT_EQ(state_of(locks, "k"), (KeyState{.key = "k", .exclusive = true}));
  const KeyLockStats stats = locks.stats();
  EXPECT_EQ(stats, (KeyLockStats{.acquisitions = 1, .timed_out = 2}));
  held.unlock();
  EXPECT_EQ(locks.size(), 0U);
}

TEST(KeyLock, AWriterThatTimesOutLetsTheReadersBehindItIn) {
  KeyLock locks;
  const SharedGuard held = locks.lock_shared("k");
  std::atomic<bool> gave_up = false;
  std::jthread writer([&] {
    EXPECT_FALSE(locks.try_lock_for("k", 100ms));
    gave_up = true;
  });
  wait_until([&] { return waiting_for(locks, "k") == 1 || gave_up; });
  const SharedGuard behind = locks.lock_shared("k");
  writer.join();
  EXPECT_EQ(state_of(locks, "k"), (KeyState{.key = "k", .readers = 2}));
}

TEST(KeyLock, ATokenThatIsAlreadyStoppedMakesNoTry) {
  KeyLock locks;
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(locks.lock("k", {.stop = stop.get_token()}).error(), WaitEnd::cancelled);
  EXPECT_EQ(locks.lock_shared("k", {.stop = stop.get_token()}).error(), WaitEnd::cancelled);
  EXPECT_EQ(locks.stats(), KeyLockStats{.cancelled = 2});
  EXPECT_EQ(locks.size(), 0U);
}

TEST(KeyLock, AStopEndsABlockedWait) {
  KeyLock locks;
  std::stop_source stop;
  ExclusiveGuard held = locks.lock("k");
  Line line(locks);
  line.writer("writer", {.stop = stop.get_token()});
  line.reader("reader", {.until = steady_clock::now() + 24h, .stop = stop.get_token()});
  stop.request_stop();
  const Names ended = line.served();
  EXPECT_EQ(std::ranges::count(ended, "writer cancelled"), 1);
  EXPECT_EQ(std::ranges::count(ended, "reader cancelled"), 1);
  EXPECT_EQ(locks.stats(), (KeyLockStats{.acquisitions = 1, .cancelled = 2}));
  held.unlock();
  EXPECT_EQ(locks.size(), 0U);
}

TEST(KeyLock, AStopAfterTheGrantChangesNothing) {
  KeyLock locks;
  std::stop_source stop;
  const auto guard = locks.lock("k", {.stop = stop.get_token()});
  stop.request_stop();
  EXPECT_TRUE(guard && guard->holds());
  EXPECT_EQ(locks.stats().cancelled, 0U);
}

TEST(KeyLock, AWriterThatIsCancelledLetsTheReadersBehindItIn) {
  KeyLock locks;
  std::stop_source stop;
  const SharedGuard held = locks.lock_shared("k");
  Line line(locks);
  line.writer("writer", {.stop = stop.get_token()});
  line.reader("1");
  line.reader("2");
  stop.request_stop();
  EXPECT_EQ(line.served().size(), 3U);  // while `held` is still held
  EXPECT_EQ(state_of(locks, "k"), (KeyState{.key = "k", .readers = 1}));
}

TEST(KeyLock, AWaiterThatGivesUpInTheMiddleOfTheQueueIsSkipped) {
  KeyLock locks;
  std::stop_source stop;
  ExclusiveGuard held = locks.lock("k");
  Line line(locks);
  line.writer("1");
  line.writer("2", {.stop = stop.get_token()});
  line.writer("3");
  stop.request_stop();
  wait_until_waiting(locks, "k", 2);
  held.unlock();
  Names served = line.served();
  std::erase(served, "2 cancelled");
  EXPECT_EQ(served, (Names{"1", "3"}));
}

TEST(KeyLock, WritersAreServedInOrderOfArrival) {
  KeyLock locks;
  ExclusiveGuard held = locks.lock("k");
  Line line(locks);
  for (const char* name : {"1", "2", "3", "4", "5", "6"}) {
    line.writer(name);
  }
  held.unlock();
  EXPECT_EQ(line.served(), (Names{"1", "2", "3", "4", "5", "6"}));
}

TEST(KeyLock, ReadersAndWritersShareOneQueue) {
  KeyLock locks;
  ExclusiveGuard held = locks.lock("k");
  Line line(locks);
  line.reader("reader 1");
  line.writer("writer 2");
  line.reader("reader 3");
  line.writer("writer 4");
  held.unlock();
  EXPECT_EQ(line.served(), (Names{"reader 1", "writer 2", "reader 3", "writer 4"}));
}

TEST(KeyLock, AReaderThatArrivesBehindAWaitingWriterQueues) {
  KeyLock locks;
  SharedGuard held = locks.lock_shared("k");
  Line line(locks);
  line.writer("writer");
  EXPECT_FALSE(locks.try_lock_shared("k"));
  line.reader("reader");
  EXPECT_FALSE(line.has_served("reader"));
  held.unlock();
  EXPECT_EQ(line.served(), (Names{"writer", "reader"}));
}

TEST(KeyLock, UrgentWaitersGoAheadOfNormalOnesInTheirOwnOrder) {
  KeyLock locks;
  ExclusiveGuard held = locks.lock("k");
  Line line(locks);
  line.writer("normal 1");
  line.reader("normal 2");
  line.writer("urgent 1", kUrgent);
  line.reader("urgent 2", kUrgent);
  line.writer("urgent 3", kUrgent);
  line.writer("normal 3");
  held.unlock();
  EXPECT_EQ(line.served(),
            (Names{"urgent 1", "urgent 2", "urgent 3", "normal 1", "normal 2", "normal 3"}));
}

TEST(KeyLock, AnUrgentReaderJoinsTheReadersPastAWaitingWriter) {
  KeyLock locks;
  SharedGuard held = locks.lock_shared("k");
  Line line(locks);
  line.writer("writer");
  // The deadline only keeps a failure from hanging.
  const KeyWait urgent{.until = steady_clock::now() + 10s, .priority = Priority::urgent};
  EXPECT_TRUE(locks.lock_shared("k", urgent));
  EXPECT_FALSE(line.has_served("writer"));
  held.unlock();
}

TEST(KeyLock, AWriterDoesNotStarveBehindAStreamOfReaders) {
  constexpr int kFarTooMany = 100'000;
  KeyLock locks;
  std::atomic<bool> written = false;
  std::atomic<int> reads = 0;
  std::vector<std::jthread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      while (!written && reads < kFarTooMany) {
        const SharedGuard guard = locks.lock_shared("k");
        ++reads;
        std::this_thread::yield();  // so that the others arrive before this one has left
      }
    });
  }
  for (int i = 0; i < 10; ++i) {
    const ExclusiveGuard guard = locks.lock("k");
    EXPECT_LT(reads, kFarTooMany);
  }
  written = true;
}

TEST(KeyLock, AReaderDoesNotStarveBehindWritersThatTakeTurns) {
  constexpr int kFarTooMany = 100'000;
  KeyLock locks;
  std::atomic<bool> read = false;
  int writes = 0;
  std::vector<std::jthread> writers;
  for (int i = 0; i < 2; ++i) {
    writers.emplace_back([&] {
      for (bool more = true; more;) {
        const ExclusiveGuard guard = locks.lock("k");
        more = !read && ++writes < kFarTooMany;
        std::this_thread::yield();
      }
    });
  }
  for (int i = 0; i < 10; ++i) {
    const SharedGuard guard = locks.lock_shared("k");
    EXPECT_LT(writes, kFarTooMany);
  }
  read = true;
}

TEST(KeyLock, StatisticsIncludeTheWaitingTimes) {
  KeyLock locks;
  for (const char* const key : {"a", "b"}) {
    ExclusiveGuard held = locks.lock(key);
    std::jthread waiting([&] { const SharedGuard guard = locks.lock_shared(key); });
    wait_until_waiting(locks, key, 1);
    held.unlock();
  }
  const KeyLockStats stats = locks.stats();
  EXPECT_EQ(stats.acquisitions, 4U);
  EXPECT_EQ(stats.contended, 2U);
  EXPECT_GT(stats.longest_wait, 0ns);
  EXPECT_GT(stats.wait_time, stats.longest_wait);
  EXPECT_LE(stats.wait_time, 2 * stats.longest_wait);
}

}  // namespace
}  // namespace holdfast::local
