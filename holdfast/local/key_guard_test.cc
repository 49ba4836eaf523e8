#include <holdfast/local/key_guard.h>

#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

#include <gtest/gtest.h>

#include <holdfast/local/key_lock.h>
#include <holdfast/local/testing_support.h>

namespace holdfast::local {
namespace {

using testing_support::make_biased;
using testing_support::state_of;
using testing_support::wait_until_waiting;

static_assert(!std::is_copy_constructible_v<ExclusiveGuard>);
static_assert(!std::is_copy_constructible_v<SharedGuard>);
static_assert(std::is_nothrow_move_constructible_v<ExclusiveGuard>);
static_assert(std::is_nothrow_move_assignable_v<SharedGuard>);

ExclusiveGuard take(KeyLock& locks, std::string_view key, ExclusiveGuard*) {
  return locks.lock(key);
}
SharedGuard take(KeyLock& locks, std::string_view key, SharedGuard*) {
  return locks.lock_shared(key);
}

// The behaviour that both kinds of guard share. The third kind is a reader in a slot.
enum class Bias { none, readers };
template <class GuardType, Bias kBias>
struct Kind {
  using Guard = GuardType;
  static Guard guard(KeyLock& locks, std::string_view key) {
    if (kBias == Bias::readers) {
      make_biased(locks, key);
    }
    return take(locks, key, static_cast<Guard*>(nullptr));
  }
};

template <class T>
class KeyGuard : public ::testing::Test {};
using Kinds = ::testing::Types<Kind<ExclusiveGuard, Bias::none>, Kind<SharedGuard, Bias::none>,
                               Kind<SharedGuard, Bias::readers>>;

struct KindNames {
  template <class T>
  static std::string GetName(int index) {
    return index == 0 ? "Exclusive" : index == 1 ? "Shared" : "SharedInASlot";
  }
};
TYPED_TEST_SUITE(KeyGuard, Kinds, KindNames);

TYPED_TEST(KeyGuard, HoldsUntilItsScopeEnds) {
  KeyLock locks;
  {
    const auto guard = TypeParam::guard(locks, "k");
    EXPECT_TRUE(guard.holds());
    EXPECT_TRUE(static_cast<bool>(guard));
    EXPECT_FALSE(locks.try_lock("k"));
  }
  EXPECT_TRUE(locks.try_lock("k"));
  EXPECT_EQ(locks.size(), 0U);
}

TYPED_TEST(KeyGuard, HoldsNothingByDefault) {
  typename TypeParam::Guard guard;
  EXPECT_FALSE(guard.holds());
  guard.unlock();
  EXPECT_FALSE(guard);
}

TYPED_TEST(KeyGuard, MayBeUnlockedTwice) {
  KeyLock locks;
  auto guard = TypeParam::guard(locks, "k");
  auto another = TypeParam::guard(locks, "l");
  guard.unlock();
  EXPECT_FALSE(guard.holds());
  guard.unlock();
  EXPECT_EQ(locks.size(), 1U);
}

TYPED_TEST(KeyGuard, MovesTheKeyAlong) {
  KeyLock locks;
  auto guard = TypeParam::guard(locks, "k");
  auto moved = std::move(guard);
  EXPECT_FALSE(guard.holds());  // NOLINT(bugprone-use-after-move): that is the question
  EXPECT_TRUE(moved.holds());
  guard.unlock();
  EXPECT_FALSE(locks.try_lock("k"));
  moved.unlock();
  EXPECT_TRUE(locks.try_lock("k"));
}

TYPED_TEST(KeyGuard, GivesUpTheOldKeyWhenAnotherIsMovedIn) {
  KeyLock locks;
  auto guard = TypeParam::guard(locks, "old");
  guard = TypeParam::guard(locks, "new");
  EXPECT_TRUE(locks.try_lock("old"));
  EXPECT_FALSE(locks.try_lock("new"));
  guard = {};
  EXPECT_EQ(locks.size(), 0U);
}

TYPED_TEST(KeyGuard, SurvivesBeingMovedIntoItself) {
  KeyLock locks;
  auto guard = TypeParam::guard(locks, "k");
  auto& alias = guard;
  guard = std::move(alias);
  EXPECT_TRUE(guard.holds());
  EXPECT_FALSE(locks.try_lock("k"));
  guard.unlock();
  EXPECT_EQ(locks.size(), 0U);
}

TYPED_TEST(KeyGuard, SwapsKeys) {
  KeyLock locks;
  auto one = TypeParam::guard(locks, "1");
  auto two = TypeParam::guard(locks, "2");
  one.swap(two);
  one.unlock();
  EXPECT_TRUE(locks.try_lock("2"));
  EXPECT_FALSE(locks.try_lock("1"));
}

TYPED_TEST(KeyGuard, MayBeUnlockedByAnotherThread) {
  KeyLock locks;
  auto guard = TypeParam::guard(locks, "k");
  std::jthread writer([&] { const ExclusiveGuard mine = locks.lock("k"); });
  wait_until_waiting(locks, "k", 1);
  std::jthread([moved = std::move(guard)]() mutable { moved.unlock(); }).join();
  writer.join();
  EXPECT_EQ(locks.size(), 0U);
}

TEST(ExclusiveGuard, DowngradeLetsWaitingReadersInAndKeepsWritersOut) {
  KeyLock locks;
  int value = 0;
  ExclusiveGuard writer = locks.lock("k");
  std::jthread first_reader([&] {
    const SharedGuard guard = locks.lock_shared("k");
    EXPECT_EQ(value, 1);
  });
  wait_until_waiting(locks, "k", 1);
  std::jthread next_writer([&] {
    const ExclusiveGuard guard = locks.lock("k");
    value = 2;
  });
  wait_until_waiting(locks, "k", 2);

  value = 1;
  SharedGuard reader = std::move(writer).downgrade();
  EXPECT_FALSE(writer.holds());  // NOLINT(bugprone-use-after-move): that is the question
  EXPECT_TRUE(reader.holds());
  first_reader.join();
  EXPECT_EQ(value, 1);
  EXPECT_EQ(state_of(locks, "k"), (KeyState{.key = "k", .readers = 1, .waiting_exclusive = 1}));
  reader.unlock();
  next_writer.join();
  EXPECT_EQ(value, 2);
}

TEST(ExclusiveGuard, DowngradeLetsNoReaderPassAWaitingWriter) {
  KeyLock locks;
  ExclusiveGuard writer = locks.lock("k");
  std::jthread next_writer([&] { const ExclusiveGuard guard = locks.lock("k"); });
  wait_until_waiting(locks, "k", 1);
  std::jthread next_reader([&] { const SharedGuard guard = locks.lock_shared("k"); });
  wait_until_waiting(locks, "k", 2);
  SharedGuard reader = std::move(writer).downgrade();
  EXPECT_FALSE(locks.try_lock_shared("k"));
  EXPECT_EQ(state_of(locks, "k"),
            (KeyState{.key = "k", .readers = 1, .waiting_exclusive = 1, .waiting_shared = 1}));
  reader.unlock();
}

TEST(ExclusiveGuard, DowngradeWithoutWaitersSharesTheKey) {
  KeyLock locks;
  const SharedGuard reader = locks.lock("k").downgrade();
  EXPECT_TRUE(locks.try_lock_shared("k"));
  EXPECT_FALSE(locks.try_lock("k"));
  EXPECT_FALSE(ExclusiveGuard().downgrade().holds());
}

TEST(SharedGuard, TheOnlyReaderBecomesTheWriter) {
  KeyLock locks;
  SharedGuard reader = locks.lock_shared("k");
  std::optional<ExclusiveGuard> writer = reader.try_upgrade();
  ASSERT_TRUE(writer);
  EXPECT_FALSE(reader.holds());
  EXPECT_FALSE(locks.try_lock_shared("k"));
  EXPECT_EQ(state_of(locks, "k"), (KeyState{.key = "k", .exclusive = true}));
  writer.reset();
  EXPECT_EQ(locks.size(), 0U);
  EXPECT_FALSE(reader.try_upgrade());
}

TEST(SharedGuard, OneOfTwoReadersStaysAReader) {
  KeyLock locks;
  SharedGuard reader = locks.lock_shared("k");
  SharedGuard another = locks.lock_shared("k");
  EXPECT_FALSE(reader.try_upgrade());
  EXPECT_TRUE(reader.holds());
  EXPECT_EQ(state_of(locks, "k"), (KeyState{.key = "k", .readers = 2}));
  another.unlock();
  EXPECT_TRUE(reader.try_upgrade());
}

TEST(SharedGuard, AnUpgradeGoesAheadOfAWaitingWriter) {
  KeyLock locks;
  int value = 0;
  SharedGuard reader = locks.lock_shared("k");
  std::jthread next_writer([&] {
    const ExclusiveGuard guard = locks.lock("k");
    EXPECT_EQ(value, 1);
    value = 2;
  });
  wait_until_waiting(locks, "k", 1);
  std::optional<ExclusiveGuard> writer = reader.try_upgrade();
  ASSERT_TRUE(writer);
  value = 1;
  writer.reset();
  next_writer.join();
  EXPECT_EQ(value, 2);
}

}  // namespace
}  // namespace holdfast::local
