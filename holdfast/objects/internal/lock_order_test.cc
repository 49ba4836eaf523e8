#include <holdfast/objects/internal/lock_order.h>

#include <gtest/gtest.h>

#include <holdfast/objects/internal/host_core.h>
#include <holdfast/objects/testing_support.h>

namespace holdfast::objects::internal {
namespace {

const int kHost = 0;

class LockOrderTest : public ::testing::Test {
 protected:
  static void take(Rank rank) { LockOrder::acquire(&kHost, rank); }
  static void drop(Rank rank) { LockOrder::release(&kHost, rank); }
};
using LockOrderDeathTest = LockOrderTest;

TEST_F(LockOrderTest, AllInOrderAndAgain) {
  for (int i = 0; i < 2; ++i) {
    for (const Rank rank : {Rank::stop, Rank::key, Rank::turn, Rank::save, Rank::map}) take(rank);
    for (const Rank rank : {Rank::map, Rank::save, Rank::turn, Rank::key, Rank::stop}) drop(rank);
  }
}

TEST_F(LockOrderTest, SeveralKeysAreTakenByTogether) {
  take(Rank::key);
  take(Rank::key);
  drop(Rank::key);
  drop(Rank::key);
}

TEST_F(LockOrderTest, AMethodMayStartAgainAtAKey) {
  take(Rank::stop);
  take(Rank::key);
  take(Rank::turn);
  take(Rank::user);
  take(Rank::key);
  take(Rank::map);
  drop(Rank::map);
  drop(Rank::key);
  drop(Rank::user);
  drop(Rank::turn);
  drop(Rank::key);
  drop(Rank::stop);
}

TEST_F(LockOrderTest, EachHostHasItsOwnOrder) {
  static const int other = 0;
  take(Rank::key);
  LockOrder::acquire(&other, Rank::stop);
  LockOrder::release(&other, Rank::stop);
  drop(Rank::key);
}

TEST_F(LockOrderDeathTest, AKeyUnderTheMapAborts) {
  EXPECT_DEATH((take(Rank::map), take(Rank::key)),
               "lock order violated: 'key' is taken while 'map' is held");
}

TEST_F(LockOrderDeathTest, TheStopUnderAKeyAborts) {
  EXPECT_DEATH((take(Rank::key), take(Rank::stop)),
               "lock order violated: 'stop' is taken while 'key' is held");
}

TEST_F(LockOrderDeathTest, TheStopFromAMethodAborts) {
  EXPECT_DEATH((take(Rank::key), take(Rank::user), take(Rank::stop)),
               "'stop' is taken while 'key' is held");
}

TEST_F(LockOrderDeathTest, TheMapTwiceAborts) {
  EXPECT_DEATH((take(Rank::map), take(Rank::map)), "'map' is taken while 'map' is held");
}

TEST_F(LockOrderDeathTest, UserCodeUnderTheMapAborts) {
  EXPECT_DEATH((take(Rank::map), take(Rank::user)), "'user code' is taken while 'map' is held");
}

// The host declares its locks: an operation under a lock that comes later in the order aborts.
TEST_F(LockOrderDeathTest, TheHostsOperationsAreChecked) {
  testing::HostTest test;
  HostCore core(test.host, test.repository, testing::HostTest::quiet());
  ObjectType& type = core.types.add(
      0, std::make_unique<ObjectType>(&core, "scripted", TypeOptions{},
                                      [&](void*) { return new testing::Scripted(test.script); }));
  const auto create_under = [&](Rank held) {
    const Ranked wrong(&core, held);
    static_cast<void>(core.create(&type, "a", kNoLimits));
  };
  const auto activate_under = [&](Rank held) {
    const Ranked wrong(&core, held);
    static_cast<void>(core.activator.activate(type, "a", Operation(core)));
  };
  EXPECT_DEATH(create_under(Rank::map), "'stop' is taken while 'map' is held");
  EXPECT_DEATH(create_under(Rank::key), "'stop' is taken while 'key' is held");
  EXPECT_DEATH(activate_under(Rank::map), "'map' is taken while 'map' is held");
  activate_under(Rank::key);
  EXPECT_DEATH(
      {
        const Ranked wrong(&core, Rank::save);
        static_cast<void>(core.writer.save(type, "a", Operation(core)));
      },
      "'key' is taken while 'save' is held");
  EXPECT_EQ(core.create(&type, "a", kNoLimits), CreateStatus::active);
}

}  // namespace
}  // namespace holdfast::objects::internal
