// Methods that call the host.
#include <thread>

#include <gtest/gtest.h>

#include <holdfast/objects/object_host.h>
#include <holdfast/objects/testing_support.h>

namespace holdfast::objects {
namespace {

using base::value_or_throw;
using testing::answer;
using testing::Door;
using testing::HostTest;
using testing::message;
using testing::Scripted;
using namespace std::chrono_literals;

TEST(ObjectHostNesting, AMethodCallsAnotherObject) {
  HostTest test;
  test.script->on_work = [&] { EXPECT_EQ(test.host.call<&Scripted::add>("b", 1), 1); };
  EXPECT_EQ(test.host.call<&Scripted::work>("a"), 1);
  EXPECT_EQ(test.host.call<&Scripted::value>("b"), 1);
  EXPECT_EQ(test.host.stats().keys_in_use, 0U);
}

TEST(ObjectHostNesting, AMethodCallsItsOwnObjectIfThatIsNotSerial) {
  HostTest test;
  test.script->on_work = [&] { EXPECT_EQ(test.host.call<&Scripted::add>("a", 1), 1); };
  EXPECT_EQ(test.host.call<&Scripted::work>("a"), 2);
  EXPECT_EQ(test.host.stats().keys_in_use, 0U);
}

TEST(ObjectHostNesting, AMethodCallsItsOwnObjectEvenWhileADeleteWaits) {
  HostTest test;
  Door inside;
  test.script->on_work = [&] {
    inside.open();
    testing::let_others_err();
    EXPECT_EQ(test.host.call<&Scripted::add>("a", 1), 1);
    EXPECT_EQ(test.host.save<Scripted>("a"), SaveStatus::saved);
  };
  std::jthread caller([&] { EXPECT_EQ(test.host.call<&Scripted::work>("a"), 2); });
  inside.pass();
  EXPECT_EQ(test.host.erase<Scripted>("a"), EraseStatus::erased);
}

TEST(ObjectHostNesting, ASerialObjectThatCallsItselfGetsAnError) {
  HostTest test(HostTest::quiet(), {.calls = Calls::serial});
  std::string told;
  test.script->on_work = [&] { told = message(test.host.call<&Scripted::value>("a")); };
  EXPECT_EQ(test.host.call<&Scripted::work>("a"), 1);
  EXPECT_NE(told.find("is serial"), std::string::npos) << told;
}

TEST(ObjectHostNesting, ASerialObjectThatIsCalledBackGetsAnError) {
  HostTest test(HostTest::quiet(), {.calls = Calls::serial});
  std::string told;
  int depth = 0;
  test.script->on_work = [&] {
    if (++depth == 1) {
      EXPECT_TRUE(test.host.call<&Scripted::work>("b"));
    } else {
      told = answer(test.host.call<&Scripted::value>("a"));
    }
  };
  EXPECT_EQ(test.host.call<&Scripted::work>("a"), 1);
  EXPECT_EQ(told, "invalid_argument");
}

TEST(ObjectHostNesting, ACallThatWouldWaitForItselfGetsAnError) {
  HostTest test;
  test.script->on_work = [&] {
    EXPECT_EQ(answer(test.host.erase<Scripted>("a")), "invalid_argument");
    EXPECT_EQ(answer(test.host.create<Scripted>("a")), "invalid_argument");
    EXPECT_EQ(answer(test.host.deactivate<Scripted>("a")), "invalid_argument");
    EXPECT_EQ(answer(test.host.together<Scripted>({"a"}, [](Scripted&) {})), "invalid_argument");
  };
  EXPECT_EQ(test.host.call<&Scripted::work>("a"), 1);
  EXPECT_EQ(test.host.erase<Scripted>("a"), EraseStatus::erased);
}

TEST(ObjectHostNesting, AHookMayNotReachItsOwnObject) {
  HostTest test;
  std::vector<std::string> told;
  const auto hook = [&] {
    told.push_back(answer(test.host.call<&Scripted::value>("a")));
    told.push_back(answer(test.host.save<Scripted>("a")));
    told.push_back(answer(test.host.erase<Scripted>("a")));
    EXPECT_TRUE(test.host.call<&Scripted::value>("another"));
  };
  test.script->on_created = [&, first = true]() mutable {
    if (std::exchange(first, false)) hook();
  };
  value_or_throw(test.host.create<Scripted>("a"));
  EXPECT_EQ(told, std::vector<std::string>(3, "invalid_argument"));
}

TEST(ObjectHostNesting, AConstructorMayNotReachItsOwnObject) {
  HostTest test;
  std::vector<std::string> told;
  test.script->on_make = [&, first = true]() mutable {
    if (!std::exchange(first, false)) return;
    told.push_back(answer(test.host.call<&Scripted::value>("a")));
    told.push_back(answer(test.host.save<Scripted>("a")));
    told.push_back(answer(test.host.erase<Scripted>("a")));
    told.push_back(answer(test.host.stop()));
    EXPECT_TRUE(test.host.call<&Scripted::value>("another"));
  };
  value_or_throw(test.host.create<Scripted>("a"));
  EXPECT_EQ(told, std::vector<std::string>(4, "invalid_argument"));
}

TEST(ObjectHostNesting, ToDataMayNotCallTheHost) {
  HostTest test;
  value_or_throw(test.host.create<Scripted>("a"));
  std::string told;
  test.script->on_to_data = [&] { told = answer(test.host.call<&Scripted::value>("b")); };
  value_or_throw(test.host.save<Scripted>("a"));
  EXPECT_EQ(told, "invalid_argument");
}

TEST(ObjectHostNesting, AMethodSavesItsOwnObject) {
  for (const Calls calls : {Calls::concurrent, Calls::serial}) {
    HostTest test(HostTest::quiet(), {.calls = calls});
    test.script->on_work = [&] {
      EXPECT_EQ(test.host.save<Scripted>("a"), SaveStatus::saved);
      EXPECT_EQ(test.host.save_all(), 0U);
    };
    EXPECT_EQ(test.host.call<&Scripted::work>("a"), 1);
    EXPECT_EQ(test.repository->stored("scripted", "a"), R"({"value":0})");
    EXPECT_EQ(test.host.save<Scripted>("a"), SaveStatus::saved);
  }
}

TEST(ObjectHostNesting, AMethodSavesAll) {
  HostTest test(HostTest::quiet(), {.calls = Calls::serial});
  test.script->on_work = [&] { EXPECT_EQ(test.host.save_all(), 1U); };
  EXPECT_EQ(test.host.call<&Scripted::work>("a"), 1);
}

// Calls the given object, when both callers are inside their own.
class Crosser : public Object {
 public:
  [[nodiscard]] nlohmann::json to_data() const override { return nullptr; }
  void from_data(const nlohmann::json&) override {}
  base::Result<void> cross(const std::string& other, std::atomic<int>& inside) {
    ++inside;
    EXPECT_TRUE(testing::eventually([&] { return inside >= 2; }));
    return host().call<&Crosser::nothing>(other);
  }
  void nothing() const {}
};

TEST(ObjectHostNesting, TwoSerialObjectsThatCallEachOtherEndAtTheLimitOfTheWait) {
  HostOptions options = HostTest::quiet();
  options.key_wait = 50ms;
  HostTest test(options);
  test.host.register_type<Crosser>("crosser", {.calls = Calls::serial});
  std::atomic<int> inside = 0;
  std::string one;
  std::string two;
  {
    const std::jthread thread(
        [&] { one = answer(test.host.call<&Crosser::cross>("a", "b", std::ref(inside))); });
    two = answer(test.host.call<&Crosser::cross>("b", "a", std::ref(inside)));
  }
  // At least one gives up; the other may then succeed.
  EXPECT_TRUE(one == "timed_out" || two == "timed_out") << one << ' ' << two;
  EXPECT_EQ(test.host.stats().keys_in_use, 0U);
  EXPECT_TRUE(test.host.call<&Crosser::nothing>("a"));
}

TEST(ObjectHostNesting, TwoHostsAreIndependent) {
  HostTest one;
  HostTest two;
  one.script->on_work = [&] { EXPECT_EQ(two.host.call<&Scripted::work>("a"), 1); };
  two.script->on_work = [&] { EXPECT_EQ(one.host.call<&Scripted::add>("a", 1), 1); };
  EXPECT_EQ(one.host.call<&Scripted::work>("a"), 2);
}

}  // namespace
}  // namespace holdfast::objects
