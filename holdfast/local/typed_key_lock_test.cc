#include <holdfast/local/typed_key_lock.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast::local {
namespace {

using namespace std::chrono_literals;

enum class Colour : std::uint8_t { red, green };

struct Point {
  int x;
  int y;
  friend bool operator==(const Point&, const Point&) = default;
};

struct Padded {
  char c;
  int i;
};

static_assert(ByteKey<std::uint64_t> && ByteKey<int> && ByteKey<Colour> && ByteKey<Point>);
static_assert(!ByteKey<Padded>, "padding has no value");
static_assert(!ByteKey<float>, "two zeros are equal and differ in their bytes");
static_assert(!ByteKey<const char*>, "who passes text wants it compared as text");
static_assert(!ByteKey<std::string>);

template <class Key>
void expect_different_locks(Key one, Key other) {
  TypedKeyLock<Key> locks;
  const ExclusiveGuard guard = locks.lock(one);
  EXPECT_FALSE(locks.try_lock(one));
  EXPECT_FALSE(locks.try_lock_shared(one));
  const auto other_guard = locks.try_lock(other);
  EXPECT_TRUE(other_guard);
  EXPECT_EQ(locks.size(), 2U);
}

TEST(TypedKeyLock, DistinguishesIntegers) {
  expect_different_locks<std::uint64_t>(0, 1);
  expect_different_locks<std::uint64_t>(0, std::numeric_limits<std::uint64_t>::max());
  expect_different_locks<std::uint64_t>(1, std::uint64_t{1} << 63U);
  expect_different_locks<int>(-1, 1);
  expect_different_locks<char>('a', 'b');
}

TEST(TypedKeyLock, DistinguishesEnumerations) {
  expect_different_locks(Colour::red, Colour::green);
}

TEST(TypedKeyLock, DistinguishesStructs) {
  expect_different_locks<Point>({1, 2}, {2, 1});
  expect_different_locks<Point>({1, 2}, {1, 3});
}

TEST(TypedKeyLock, LocksInEveryWay) {
  TypedKeyLock<int> locks;
  const auto soon = std::chrono::steady_clock::now() + 1h;
  EXPECT_TRUE(locks.lock(1).holds());
  EXPECT_TRUE(locks.lock_shared(1).holds());
  EXPECT_TRUE(locks.lock(1, {.until = soon}));
  EXPECT_TRUE(locks.lock_shared(1, {.until = soon}));
  EXPECT_TRUE(locks.try_lock(1));
  EXPECT_TRUE(locks.try_lock_shared(1));
  EXPECT_TRUE(locks.try_lock_for(1, 1ms));
  EXPECT_TRUE(locks.try_lock_shared_for(1, 1ms));
  EXPECT_TRUE(locks.try_lock_until(1, soon));
  EXPECT_TRUE(locks.try_lock_shared_until(1, soon));
  EXPECT_EQ(locks.stats(), KeyLockStats{.acquisitions = 10});
  EXPECT_EQ(locks.size(), 0U);
}

TEST(TypedKeyLock, LocksSeveralKeysOnceEach) {
  TypedKeyLock<int> locks;
  {
    const KeyLock::MultiGuard both = locks.lock_all({7, 3, 7});
    EXPECT_EQ(both.size(), 2U);
    EXPECT_FALSE(locks.try_lock(3));
    const auto in_time = locks.lock_all({1, 7}, {.until = std::chrono::steady_clock::now()});
    EXPECT_EQ(in_time.error(), WaitEnd::timed_out);
    EXPECT_TRUE(locks.try_lock(1)) << "all or none";
  }
  EXPECT_EQ(locks.size(), 0U);
}

TEST(TypedKeyLock, ReturnsMutexes) {
  TypedKeyLock<Point> locks;
  KeyMutex one = locks.mutex({1, 1});
  KeyMutex two = locks.mutex({2, 2});
  const std::scoped_lock both(one, two);
  EXPECT_FALSE(locks.try_lock({1, 1}));
  EXPECT_FALSE(locks.try_lock({2, 2}));
}

TEST(TypedKeyLock, ShowsItsKeysInTheSnapshot) {
  TypedKeyLock<Point> locks;
  EXPECT_TRUE(locks.snapshot().empty());
  const SharedGuard reader = locks.lock_shared({-1, 7});
  const std::vector<std::pair<Point, KeyState>> states = locks.snapshot();
  ASSERT_EQ(states.size(), 1U);
  EXPECT_EQ(states.front().first, (Point{-1, 7}));
  EXPECT_EQ(states.front().second.readers, 1U);
}

}  // namespace
}  // namespace holdfast::local
