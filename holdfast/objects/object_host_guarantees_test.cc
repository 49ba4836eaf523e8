// The promises of a host for one object under concurrency. Each test brings two operations to the
// point at which they would overlap without the lock between them.
#include <atomic>
#include <barrier>
#include <functional>
#include <string>
#include <thread>
#include <vector>

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
using testing::Scripted;

constexpr TypeOptions kSerial{.calls = Calls::serial};

// Eight threads do this to a missing object, whose load is slow.
void expect_one_object(HostTest& test, const std::function<void()>& reach) {
  std::atomic<int> loads = 0;
  test.repository->on_load = [&]() -> base::Result<void> {
    ++loads;
    let_others_err();
    return {};
  };
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) threads.emplace_back(reach);
  }
  EXPECT_EQ(loads, 1);
  EXPECT_EQ(test.script->made, 1);
  EXPECT_EQ(test.host.count(), 1U);
}

TEST(ObjectHostGuarantees, ConcurrentCreatesOfOneIdGiveOneObject) {
  HostTest test;
  std::atomic<int> created = 0;
  expect_one_object(
      test, [&] { created += test.host.create<Scripted>("a") == CreateStatus::created ? 1 : 0; });
  EXPECT_EQ(created, 1);
}

TEST(ObjectHostGuarantees, ConcurrentCallsOfAMissingObjectMakeItOnce) {
  HostTest test;
  expect_one_object(test, [&] { EXPECT_TRUE(test.host.call<&Scripted::add>("a", 1)); });
  EXPECT_EQ(test.host.call<&Scripted::value>("a"), 8);
}

TEST(ObjectHostGuarantees, NoCallAndNoSaveDuringTheCreation) {
  HostTest test;
  Door inside;
  Door go_on;
  std::atomic<bool> ready = false;
  std::atomic<bool> met = false;
  test.script->on_created = [&] {
    inside.open();
    go_on.pass();
    ready = true;
  };
  test.script->on_work = [&] { met = met || !ready; };
  test.script->on_to_data = [&] { met = met || !ready; };
  std::jthread creator([&] { value_or_throw(test.host.create<Scripted>("a")); });
  inside.pass();
  std::jthread caller([&] { EXPECT_EQ(test.host.call<&Scripted::work>("a"), 1); });
  std::jthread saver([&] { value_or_throw(test.host.save<Scripted>("a")); });
  let_others_err();
  EXPECT_EQ(test.host.count(), 0U);  // not counted before it is ready
  go_on.open();
  creator.join();
  caller.join();
  saver.join();
  EXPECT_FALSE(met);
  EXPECT_EQ(test.script->made, 1);
}

TEST(ObjectHostGuarantees, NoCallDuringTheDelete) {
  HostTest test;
  value_or_throw(test.host.call<&Scripted::add>("a", 100));
  Door inside;
  Door go_on;
  std::atomic<bool> deleting = false;
  std::atomic<bool> met = false;
  test.script->on_deleting = [&] {
    deleting = true;
    inside.open();
    go_on.pass();
    deleting = false;
  };
  test.script->on_work = [&] { met = met || deleting; };
  std::jthread eraser([&] { value_or_throw(test.host.erase<Scripted>("a")); });
  inside.pass();
  std::jthread caller([&] { EXPECT_EQ(test.host.call<&Scripted::work>("a"), 1); });  // a new one
  let_others_err();
  go_on.open();
  caller.join();
  EXPECT_FALSE(met);
}

TEST(ObjectHostGuarantees, TheDeleteWaitsForTheCall) {
  HostTest test;
  Door inside;
  Door go_on;
  std::atomic<bool> working = false;
  std::atomic<bool> met = false;
  test.script->on_work = [&] {
    working = true;
    inside.open();
    go_on.pass();
    working = false;
  };
  test.script->on_deleting = [&] { met = met || working; };
  std::jthread caller([&] { value_or_throw(test.host.call<&Scripted::work>("a")); });
  inside.pass();
  std::jthread eraser([&] { value_or_throw(test.host.erase<Scripted>("a")); });
  let_others_err();
  EXPECT_EQ(test.script->alive, 1);
  go_on.open();
  caller.join();
  eraser.join();
  EXPECT_FALSE(met);
  EXPECT_EQ(test.script->alive, 0);
}

// Also while the object is being made: no caller that did not find it waits for the end of
// another's call. It takes many objects to hit the moments in which that could happen.
TEST(ObjectHostGuarantees, CallsOfOneObjectRunConcurrently) {
  constexpr int kCallers = 4;
  HostTest test;
  std::barrier all_are_inside(kCallers);
  test.script->on_work = [&] { all_are_inside.arrive_and_wait(); };
  const auto call_all = [&] {
    for (int object = 0; object < 500; ++object) {
      if (!test.host.call<&Scripted::work>(std::to_string(object))) {
        ADD_FAILURE() << "waited for callers inside, which wait for it";
        return all_are_inside.arrive_and_drop();
      }
    }
  };
  std::vector<std::jthread> callers;
  for (int caller = 0; caller < kCallers; ++caller) callers.emplace_back(call_all);
}

TEST(ObjectHostGuarantees, CallsOfASerialObjectRunOneAtATime) {
  HostTest test(HostTest::quiet(), kSerial);
  int inside = 0;  // not atomic: serial calls exclude each other
  int most = 0;
  test.script->on_work = [&] {
    most = std::max(most, ++inside);
    std::this_thread::yield();
    --inside;
  };
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int round = 0; round < 200; ++round) {
          EXPECT_TRUE(test.host.call<&Scripted::work>("a"));
        }
      });
    }
  }
  EXPECT_EQ(most, 1);
  EXPECT_EQ(test.host.call<&Scripted::value>("a"), 800);
}

TEST(ObjectHostGuarantees, TheDataOfASerialObjectIsTakenBetweenItsCalls) {
  HostTest test(HostTest::quiet(), kSerial);
  int inside = 0;  // not atomic, as above
  std::atomic<bool> met = false;
  test.script->on_work = [&] {
    ++inside;
    std::this_thread::yield();
    --inside;
  };
  test.script->on_to_data = [&] { met = met || inside != 0; };
  std::atomic<bool> over = false;
  std::jthread saver([&] {
    while (!over) {
      EXPECT_TRUE(test.host.save<Scripted>("a"));
      EXPECT_TRUE(test.host.save_all());
    }
  });
  for (int round = 0; round < 500; ++round) {
    EXPECT_TRUE(test.host.call<&Scripted::work>("a"));
  }
  over = true;
  saver.join();
  EXPECT_FALSE(met);
}

TEST(ObjectHostGuarantees, ASerialObjectIsCalledWhileItsDataIsOnItsWayToTheStore) {
  HostTest test(HostTest::quiet(), kSerial);
  value_or_throw(test.host.call<&Scripted::add>("a", 1));
  Door inside;
  Door go_on;
  test.repository->on_save = [&]() -> base::Result<void> {
    inside.open();
    go_on.pass();
    return {};
  };
  std::jthread saver([&] { EXPECT_EQ(test.host.save<Scripted>("a"), SaveStatus::saved); });
  inside.pass();
  EXPECT_EQ(test.host.call<&Scripted::add>("a", 1), 2);
  go_on.open();
  saver.join();
  EXPECT_EQ(test.host.save<Scripted>("a"), SaveStatus::saved);  // saves the second change, too
  EXPECT_EQ(test.repository->stored("scripted", "a"), R"({"value":2})");
}

TEST(ObjectHostGuarantees, TheDeleteRemovesItFromTheMapBeforeTheStore) {
  HostTest test;
  value_or_throw(test.host.create<Scripted>("a"));
  std::size_t seen = 99;
  test.repository->on_erase = [&]() -> base::Result<void> {
    seen = test.host.count();
    return {};
  };
  value_or_throw(test.host.erase<Scripted>("a"));
  EXPECT_EQ(seen, 0U);
}

// The object is changed, and is deleted during `save`.
void expect_delete_waits(const std::function<void(ObjectHost& host)>& save) {
  HostTest test;
  value_or_throw(test.host.call<&Scripted::add>("a", 1));
  Door inside;
  Door go_on;
  std::atomic<bool> saving = false;
  std::atomic<bool> met = false;
  test.repository->on_save = [&]() -> base::Result<void> {
    saving = true;
    inside.open();
    go_on.pass();
    saving = false;
    return {};
  };
  test.repository->on_erase = [&]() -> base::Result<void> {
    met = met || saving;
    return {};
  };
  std::jthread saver([&] { save(test.host); });
  inside.pass();
  std::jthread eraser([&] { value_or_throw(test.host.erase<Scripted>("a")); });
  let_others_err();
  go_on.open();
  saver.join();
  eraser.join();
  EXPECT_FALSE(met);
  EXPECT_EQ(test.repository->size(), 0U);  // the save did not store it again
}

TEST(ObjectHostGuarantees, TheDeleteWaitsForTheSave) {
  expect_delete_waits([](ObjectHost& host) { value_or_throw(host.save<Scripted>("a")); });
}

TEST(ObjectHostGuarantees, TheDeleteWaitsForTheBatchThatSavesIt) {
  expect_delete_waits([](ObjectHost& host) { value_or_throw(host.save_all()); });
}

TEST(ObjectHostGuarantees, ASaveOfAnErasedObjectWritesNothing) {
  HostTest test;
  value_or_throw(test.host.call<&Scripted::add>("a", 1));
  value_or_throw(test.host.erase<Scripted>("a"));
  EXPECT_EQ(test.host.save<Scripted>("a"), SaveStatus::gone);
  EXPECT_EQ(test.host.save_all(), 0U);
  EXPECT_TRUE(test.repository->batches().empty());
}

TEST(ObjectHostGuarantees, AnOlderStateNeverFollowsANewerOne) {
  HostTest test;
  value_or_throw(test.host.call<&Scripted::add>("a", 1));
  Door inside;
  Door go_on;
  std::atomic<int> saves = 0;
  test.repository->on_save = [&]() -> base::Result<void> {
    if (++saves == 1) {
      inside.open();
      go_on.pass();
    }
    return {};
  };
  std::jthread slow([&] { EXPECT_EQ(test.host.save<Scripted>("a"), SaveStatus::saved); });
  inside.pass();
  value_or_throw(test.host.call<&Scripted::add>("a", 1));
  std::jthread later([&] { EXPECT_EQ(test.host.save<Scripted>("a"), SaveStatus::saved); });
  let_others_err();
  EXPECT_EQ(saves, 1);
  go_on.open();
  slow.join();
  later.join();
  EXPECT_EQ(test.repository->stored("scripted", "a"), R"({"value":2})");
}

TEST(ObjectHostGuarantees, ManyCallsOfAMissingObjectMakeItWithoutDeadlock) {
  HostTest test;
  for (int round = 0; round < 50; ++round) {
    const std::string id = std::to_string(round);
    std::vector<std::jthread> threads;
    for (int i = 0; i < 6; ++i) {
      threads.emplace_back([&] { EXPECT_TRUE(test.host.call<&Scripted::add>(id, 1)); });
    }
    threads.clear();
    EXPECT_EQ(test.host.call<&Scripted::value>(id), 6);
  }
  EXPECT_EQ(test.script->made, 50);
}

}  // namespace
}  // namespace holdfast::objects
