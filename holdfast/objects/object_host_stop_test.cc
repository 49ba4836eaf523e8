#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include <holdfast/objects/object_host.h>
#include <holdfast/objects/testing_support.h>

namespace holdfast::objects {
namespace {

using base::value_or_throw;
using testing::answer;
using testing::Door;
using testing::eventually;
using testing::HostTest;
using testing::let_others_err;
using testing::message;
using testing::Scripted;
using namespace std::chrono_literals;

TEST(ObjectHostStop, WaitsForRunningCallsAndThenRejectsNewOnes) {
  HostTest test;
  Door inside;
  Door go_on;
  std::atomic<bool> done = false;
  test.script->on_work = [&] {
    inside.open();
    go_on.pass();
    done = true;
  };
  std::jthread caller([&] { EXPECT_EQ(test.host.call<&Scripted::work>("a"), 1); });
  inside.pass();
  std::atomic<bool> was_done = false;
  std::jthread stopper([&] {
    value_or_throw(test.host.stop());
    was_done = done.load();
  });
  // It rejects new calls as soon as it waits.
  EXPECT_TRUE(eventually([&] { return answer(test.host.save<Scripted>("b")) == "unavailable"; }));
  let_others_err();
  EXPECT_EQ(test.script->alive, 1);
  go_on.open();
  caller.join();
  stopper.join();
  EXPECT_TRUE(was_done);
  EXPECT_EQ(test.script->alive, 0);
  EXPECT_EQ(test.repository->stored("scripted", "a"), R"({"value":1})");
}

TEST(ObjectHostStop, EveryOperationIsRejectedAfterwards) {
  HostTest test;
  value_or_throw(test.host.call<&Scripted::add>("a", 1));
  value_or_throw(test.host.stop());
  EXPECT_EQ(answer(test.host.call<&Scripted::value>("a")), "unavailable");
  EXPECT_EQ(answer(test.host.call("scripted", "a", "value")), "unavailable");
  EXPECT_EQ(answer(test.host.create<Scripted>("a")), "unavailable");
  EXPECT_EQ(answer(test.host.erase<Scripted>("a")), "unavailable");
  EXPECT_EQ(answer(test.host.save<Scripted>("a")), "unavailable");
  EXPECT_EQ(answer(test.host.deactivate<Scripted>("a")), "unavailable");
  EXPECT_EQ(answer(test.host.save_all()), "unavailable");
  EXPECT_EQ(answer(test.host.together<Scripted>({"a"}, [](Scripted&) {})), "unavailable");
  EXPECT_TRUE(test.host.stop());  // twice is harmless
  EXPECT_EQ(test.host.count(), 0U);
}

TEST(ObjectHostStop, SavesChangedObjects) {
  HostTest test;
  for (int i = 0; i < 250; ++i) {
    value_or_throw(test.host.call<&Scripted::add>(std::to_string(i), i));
  }
  value_or_throw(test.host.stop());
  EXPECT_EQ(test.repository->size(), 250U);
  EXPECT_EQ(test.repository->stored("scripted", "249"), R"({"value":249})");
}

TEST(ObjectHostStop, GivesUpAtItsTimeLimitAndCanBeTriedAgain) {
  HostTest test;
  Door inside;
  Door go_on;
  test.script->on_work = [&] {
    inside.open();
    go_on.pass();
  };
  std::jthread caller([&] { EXPECT_EQ(test.host.call<&Scripted::work>("a"), 1); });
  inside.pass();
  EXPECT_EQ(answer(test.host.stop(1ms)), "timed_out");
  go_on.open();
  caller.join();
  EXPECT_TRUE(test.host.stop());
}

TEST(ObjectHostStop, ObjectsThatCouldNotBeSavedAreKeptForTheNextTry) {
  HostTest test;
  value_or_throw(test.host.call<&Scripted::add>("a", 1));
  test.repository->on_save = [] { return base::fail(base::ErrorCode::unavailable, "away"); };
  EXPECT_EQ(answer(test.host.stop()), "unavailable");
  EXPECT_EQ(test.host.count(), 1U);
  test.repository->on_save = {};
  EXPECT_TRUE(test.host.stop());
  EXPECT_EQ(test.repository->stored("scripted", "a"), R"({"value":1})");
}

TEST(ObjectHostStop, ARunningMethodMayStillCallOthers) {
  HostTest test;
  Door inside;
  Door go_on;
  test.script->on_work = [&] {
    inside.open();
    go_on.pass();
    EXPECT_EQ(test.host.call<&Scripted::add>("another", 7), 7);
  };
  std::jthread caller([&] { EXPECT_EQ(test.host.call<&Scripted::work>("a"), 1); });
  inside.pass();
  std::jthread stopper([&] { EXPECT_TRUE(test.host.stop()); });
  EXPECT_TRUE(eventually([&] { return answer(test.host.save<Scripted>("b")) == "unavailable"; }));
  go_on.open();
  caller.join();
  stopper.join();
  EXPECT_EQ(test.repository->stored("scripted", "another"), R"({"value":7})");
}

TEST(ObjectHostStop, CancelsQueuedCallsOfASerialObject) {
  HostTest test(HostTest::quiet(), {.calls = Calls::serial});
  Door inside;
  Door go_on;
  test.script->on_work = [&] {
    inside.open();
    go_on.pass();
  };
  std::jthread first([&] { EXPECT_EQ(answer(test.host.call<&Scripted::work>("a")), "done"); });
  inside.pass();
  std::jthread second([&] {
    const auto called = test.host.call<&Scripted::work>("a");
    // The latter if the call comes after the stop.
    EXPECT_TRUE(answer(called) == "cancelled" || answer(called) == "unavailable");
  });
  let_others_err();
  std::jthread stopper([&] { EXPECT_TRUE(test.host.stop()); });
  second.join();
  go_on.open();
}

TEST(ObjectHostStop, ARunningCallCanStillSaveItsChanges) {
  HostTest test(HostTest::quiet(), {.save = SaveWhen::each_call});
  Door inside;
  Door go_on;
  test.script->on_work = [&] {
    inside.open();
    go_on.pass();
  };
  Door saving;
  Door saved;
  test.repository->on_save = [&]() -> base::Result<void> {
    saving.open();
    saved.pass();
    return {};
  };
  std::jthread caller([&] { EXPECT_EQ(answer(test.host.call<&Scripted::work>("a")), "done"); });
  inside.pass();
  std::jthread saver([&] { EXPECT_EQ(answer(test.host.save<Scripted>("a")), "done"); });
  saving.pass();
  std::jthread stopper([&] { EXPECT_TRUE(test.host.stop()); });
  EXPECT_TRUE(eventually([&] { return answer(test.host.save<Scripted>("b")) == "unavailable"; }));
  go_on.open();  // it now waits behind the other save
  let_others_err();
  saved.open();
}

TEST(ObjectHostStop, IsAnErrorFromAMethod) {
  HostTest test;
  test.script->on_work = [&] {
    const auto stopped = test.host.stop();
    EXPECT_EQ(answer(stopped), "invalid_argument") << message(stopped);
  };
  EXPECT_EQ(test.host.call<&Scripted::work>("a"), 1);
  EXPECT_EQ(test.host.call<&Scripted::work>("a"), 2);
}

}  // namespace
}  // namespace holdfast::objects
