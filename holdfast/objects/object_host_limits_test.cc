// Operations with a time limit and a stop token of their own, and what a host shows of its locks.
#include <chrono>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/objects/testing_support.h>

namespace holdfast::objects {
namespace {

using namespace std::chrono_literals;
using testing::answer;
using testing::Door;
using testing::eventually;
using testing::HostTest;
using testing::Scripted;

// An object "a" of a serial type, in a method that runs until the end of the test.
class ObjectHostTimeLimits : public ::testing::Test {
 protected:
  ObjectHostTimeLimits() {
    test_.script->on_work = [this] {
      inside_.open();
      leave_.pass();
    };
    busy_ = std::jthread([this] { base::value_or_throw(test_.host.call<&Scripted::work>("a")); });
    inside_.pass();
  }
  ~ObjectHostTimeLimits() override { leave_.open(); }

  // All operations on the object that is in use; none of them can proceed.
  [[nodiscard]] std::vector<std::string> answers(const Limits& limits) {
    ObjectHost& host = test_.host;
    return {answer(host.call<&Scripted::add>(limits, "a", 1)),
            answer(host.call("scripted", "a", "add", 1, limits)),
            answer(host.create<Scripted>("a", limits)),
            answer(host.save<Scripted>("a", limits)),
            answer(host.deactivate<Scripted>("a", limits)),
            answer(host.erase<Scripted>("a", limits)),
            answer(host.together<Scripted>({"a"}, [](Scripted&) {}, limits))};
  }

  // Only the limits of an operation end its waits.
  static HostOptions patient() {
    HostOptions options = HostTest::quiet();
    options.key_wait = 24h;
    return options;
  }

  HostTest test_{patient(), {.calls = Calls::serial}};
  Door inside_;
  Door leave_;
  std::jthread busy_;
};

TEST_F(ObjectHostTimeLimits, EveryOperationEndsWithinItsTime) {
  EXPECT_EQ(answers({.within = 5ms}), std::vector<std::string>(7, "timed_out"));
}

TEST_F(ObjectHostTimeLimits, AStopTokenEndsTheWaitOfEveryOperation) {
  std::stop_source source;
  std::vector<std::string> seen;
  std::jthread caller([&] { seen = answers({.stop = source.get_token()}); });
  EXPECT_TRUE(eventually([&] {
    const auto held = test_.host.held();
    return held.size() == 1 && held.front().waiting == 1;
  }));
  source.request_stop();
  caller.join();
  EXPECT_EQ(seen, std::vector<std::string>(7, "cancelled"));
}

TEST_F(ObjectHostTimeLimits, AStopOfTheHostEndsAWaitThatHasAStopTokenOfItsOwn) {
  std::stop_source source;
  std::string seen;
  std::jthread caller(
      [&] { seen = answer(test_.host.erase<Scripted>("a", {.stop = source.get_token()})); });
  EXPECT_TRUE(eventually([&] { return test_.host.held().front().waiting == 1; }));
  EXPECT_EQ(answer(test_.host.stop(0s)), "timed_out");
  caller.join();
  EXPECT_EQ(seen, "cancelled");
}

TEST_F(ObjectHostTimeLimits, AnOperationWhoseLimitIsOverDoesNotBegin) {
  std::stop_source stopped;
  stopped.request_stop();
  EXPECT_EQ(answer(test_.host.call<&Scripted::add>({.within = 0s}, "b", 1)), "timed_out");
  EXPECT_EQ(answer(test_.host.create<Scripted>("b", {.stop = stopped.get_token()})), "cancelled");
  EXPECT_EQ(test_.script->made, 1);
}

TEST_F(ObjectHostTimeLimits, AnOperationThatNeedNotWaitSucceedsWithLimits) {
  std::stop_source source;
  const Limits limits{.within = 1h, .stop = source.get_token()};
  EXPECT_EQ(test_.host.call<&Scripted::add>(limits, "b", 2), 2);
  EXPECT_EQ(test_.host.save<Scripted>("b", limits), SaveStatus::saved);
}

TEST_F(ObjectHostTimeLimits, AStoreThatIsTooSlowForTheLimitIsATimeout) {
  const auto until_over = [](std::chrono::steady_clock::time_point begin) {
    while (std::chrono::steady_clock::now() < begin + 20ms) std::this_thread::yield();
  };
  test_.repository->on_load = [&]() -> base::Result<void> {
    until_over(std::chrono::steady_clock::now());
    return base::fail(base::ErrorCode::unavailable, "nothing was done by the deadline");
  };
  EXPECT_EQ(answer(test_.host.create<Scripted>("b", {.within = 10ms})), "timed_out");
  EXPECT_EQ(answer(test_.host.create<Scripted>("b", {.within = 1h})), "unavailable");
}

TEST_F(ObjectHostTimeLimits, TheHostShowsWhatIsInUseAndHowOftenCallersWaited) {
  EXPECT_EQ(test_.host.held(),
            (std::vector<HeldObject>{{.type = "scripted", .id = "a", .users = 1}}));
  EXPECT_EQ(answer(test_.host.erase<Scripted>("a", {.within = 1ms})), "timed_out");
  const auto locks = test_.host.stats().locks;
  EXPECT_EQ(locks.timed_out, 1U);
  EXPECT_GE(locks.acquisitions, 2U);
  leave_.open();
  busy_.join();
  EXPECT_TRUE(test_.host.held().empty());
  EXPECT_EQ(test_.host.stats().keys_in_use, 0U);
}

}  // namespace
}  // namespace holdfast::objects
