#include <holdfast/local/key_mutex.h>

#include <chrono>
#include <concepts>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <holdfast/local/key_lock.h>
#include <holdfast/local/testing_support.h>

namespace holdfast::local {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;
using testing_support::make_biased;
using testing_support::state_of;
using testing_support::stress_rounds;
using testing_support::wait_until_waiting;

// The named requirements of the standard that std::shared_timed_mutex meets.
template <class M>
concept SharedTimedLockable =
    requires(M m, std::chrono::milliseconds time, steady_clock::time_point steady,
             std::chrono::system_clock::time_point system) {
      { m.lock() } -> std::same_as<void>;
      { m.unlock() } -> std::same_as<void>;
      { m.try_lock() } -> std::same_as<bool>;
      { m.try_lock_for(time) } -> std::same_as<bool>;
      { m.try_lock_until(steady) } -> std::same_as<bool>;
      { m.try_lock_until(system) } -> std::same_as<bool>;
      { m.lock_shared() } -> std::same_as<void>;
      { m.unlock_shared() } -> std::same_as<void>;
      { m.try_lock_shared() } -> std::same_as<bool>;
      { m.try_lock_shared_for(time) } -> std::same_as<bool>;
      { m.try_lock_shared_until(steady) } -> std::same_as<bool>;
      { m.try_lock_shared_until(system) } -> std::same_as<bool>;
    };
static_assert(SharedTimedLockable<KeyMutex>);
static_assert(!std::is_copy_constructible_v<KeyMutex>);

TEST(KeyMutex, IsTheSameLockAsItsKey) {
  KeyLock locks;
  KeyMutex mutex = locks.mutex("k");
  KeyMutex same = locks.mutex("k");
  EXPECT_EQ(mutex.key(), "k");
  mutex.lock();
  EXPECT_FALSE(same.try_lock());
  EXPECT_FALSE(locks.try_lock_shared("k"));
  EXPECT_EQ(state_of(locks, "k"), (KeyState{.key = "k", .exclusive = true}));
  mutex.unlock();
  const ExclusiveGuard guard = locks.lock("k");
  EXPECT_FALSE(mutex.try_lock_shared());
}

TEST(KeyMutex, CostsNoEntryUntilItIsLocked) {
  KeyLock locks;
  KeyMutex mutex = locks.mutex("k");
  EXPECT_EQ(locks.size(), 0U);
  mutex.lock_shared();
  EXPECT_EQ(locks.size(), 1U);
  mutex.unlock_shared();
  EXPECT_EQ(locks.size(), 0U);
}

TEST(KeyMutex, KeepsItsOwnCopyOfTheKey) {
  KeyLock locks;
  std::string key(100, 'k');
  KeyMutex mutex = locks.mutex(key);
  key.assign(100, 'x');
  const std::unique_lock lock(mutex);
  EXPECT_FALSE(locks.try_lock(std::string(100, 'k')));
  EXPECT_TRUE(locks.try_lock(key));
}

TEST(KeyMutex, WorksInAUniqueLock) {
  KeyLock locks;
  KeyMutex mutex = locks.mutex("k");
  std::unique_lock lock(mutex);
  EXPECT_FALSE(std::unique_lock(mutex, std::try_to_lock));
  EXPECT_FALSE(std::unique_lock(mutex, 1ms));
  EXPECT_FALSE(std::unique_lock(mutex, steady_clock::now()));
  EXPECT_FALSE(std::shared_lock(mutex, std::try_to_lock));
  lock.unlock();
  EXPECT_TRUE(lock.try_lock_for(1ms));
  lock.unlock();
  EXPECT_TRUE(lock.try_lock_until(std::chrono::system_clock::now() + 1ms));
}

TEST(KeyMutex, WorksInASharedLock) {
  KeyLock locks;
  KeyMutex mutex = locks.mutex("k");
  std::shared_lock lock(mutex);
  EXPECT_TRUE(std::shared_lock(mutex, std::try_to_lock));
  EXPECT_TRUE(std::shared_lock(mutex, 1ms));
  EXPECT_TRUE(std::shared_lock(mutex, steady_clock::now()));
  EXPECT_FALSE(std::unique_lock(mutex, 1ms));
  lock.unlock();
  const std::unique_lock writer(mutex);
  EXPECT_FALSE(lock.try_lock_for(1ms));
  EXPECT_FALSE(lock.try_lock_until(std::chrono::system_clock::now() + 1ms));
}

TEST(KeyMutex, WaitsForALockedKey) {
  KeyLock locks;
  KeyMutex mutex = locks.mutex("k");
  int value = 0;  // only the lock protects it
  mutex.lock();
  std::jthread reader([&] {
    const std::shared_lock lock(mutex);
    EXPECT_EQ(value, 1);
  });
  wait_until_waiting(locks, "k", 1);
  value = 1;
  mutex.unlock();
}

TEST(KeyMutex, ExcludesReadersInSlots) {
  KeyLock locks;
  make_biased(locks, "k");
  KeyMutex mutex = locks.mutex("k");
  SharedGuard in_slot = locks.lock_shared("k");
  EXPECT_FALSE(mutex.try_lock());
  EXPECT_TRUE(mutex.try_lock_shared());
  EXPECT_EQ(state_of(locks, "k"), (KeyState{.key = "k", .readers = 2}));
  in_slot.unlock();
  EXPECT_FALSE(mutex.try_lock());
  mutex.unlock_shared();
  EXPECT_TRUE(mutex.try_lock());
  mutex.unlock();
  EXPECT_EQ(locks.size(), 0U);
}

TEST(KeyMutex, SeveralInAScopedLockDoNotDeadlockInAnyOrder) {
  const int rounds = stress_rounds(10'000);
  KeyLock locks;
  int from_one_to_two = 0;
  int all_three = 0;
  KeyMutex one = locks.mutex("1");
  KeyMutex two = locks.mutex("2");
  KeyMutex three = locks.mutex("3");
  std::jthread there([&] {
    for (int i = 0; i < rounds; ++i) {
      const std::scoped_lock lock(one, two);
      ++from_one_to_two;
    }
  });
  std::jthread back([&] {
    for (int i = 0; i < rounds; ++i) {
      const std::scoped_lock lock(three, two, one);
      --from_one_to_two;
      ++all_three;
    }
  });
  there.join();
  back.join();
  EXPECT_EQ(from_one_to_two, 0);
  EXPECT_EQ(all_three, rounds);
  EXPECT_EQ(locks.size(), 0U);
}

}  // namespace
}  // namespace holdfast::local
