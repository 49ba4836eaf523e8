#include <holdfast/base/mutex.h>

#include <chrono>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast::base {
namespace {

using namespace std::chrono_literals;

TEST(Mutex, ThreadsEnterOneAtATime) {
  Mutex mutex;
  int counter = 0;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&] {
        for (int i = 0; i < 5'000; ++i) {
          const MutexLock lock(mutex);
          ++counter;
        }
      });
    }
  }
  EXPECT_EQ(counter, 20'000);
}

bool is_free(Mutex& mutex) {
  bool free = false;
  std::jthread([&] {
    if (mutex.try_lock()) {
      free = true;
      mutex.unlock();
    }
  }).join();
  return free;
}

TEST(MutexLock, HoldsTheMutexUntilItIsUnlockedOrEnds) {
  Mutex mutex;
  {
    MutexLock lock(mutex);
    EXPECT_FALSE(is_free(mutex));
    lock.unlock();
    EXPECT_TRUE(is_free(mutex));
    lock.lock();
    EXPECT_FALSE(is_free(mutex));
  }
  EXPECT_TRUE(is_free(mutex));
  {
    MutexLock lock(mutex);
    lock.unlock();
  }
  EXPECT_TRUE(is_free(mutex));
}

TEST(ConditionVariable, AWaiterSeesWhatWasChangedUnderTheMutex) {
  Mutex mutex;
  ConditionVariable changed;
  int value = 0;
  std::jthread writer([&] {
    const MutexLock lock(mutex);
    value = 7;
    changed.notify_all();
  });
  {
    MutexLock lock(mutex);
    while (value == 0) {
      changed.wait(mutex);
    }
    EXPECT_EQ(value, 7);
    EXPECT_FALSE(is_free(mutex));
  }
  EXPECT_TRUE(is_free(mutex));
}

TEST(ConditionVariable, AWaitThatNobodyNotifiesEndsInTimeWithTheMutexHeld) {
  Mutex mutex;
  ConditionVariable never;
  MutexLock lock(mutex);
  while (never.wait_for(mutex, 1ms) == std::cv_status::no_timeout) {
  }
  EXPECT_FALSE(is_free(mutex));
  while (never.wait_until(mutex, std::chrono::steady_clock::now() + 1ms) ==
         std::cv_status::no_timeout) {
  }
  EXPECT_FALSE(is_free(mutex));
}

}  // namespace
}  // namespace holdfast::base
