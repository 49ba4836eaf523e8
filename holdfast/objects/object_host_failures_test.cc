// A failure is an error of that operation and leaves nothing half-made, and the next call works.
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include <holdfast/objects/object_host.h>
#include <holdfast/objects/testing_support.h>

namespace holdfast::objects {
namespace {

using base::ErrorCode;
using base::value_or_throw;
using testing::answer;
using testing::HostTest;
using testing::message;
using testing::Scripted;

// Returns a hook that throws the first time only.
std::function<void()> once(std::function<void()> fails) {
  return [fails = std::move(fails), first = true]() mutable {
    if (std::exchange(first, false)) fails();
  };
}

void throw_plain() { throw std::runtime_error("out of paper"); }

auto fail_once(ErrorCode code) {
  return [code, first = true]() mutable -> base::Result<void> {
    if (std::exchange(first, false)) return base::fail(code, "out of paper");
    return {};
  };
}

class ObjectHostFailures : public ::testing::Test {
 protected:
  // Expects that the call fails with this code and a message that contains this, that nothing is
  // left of the object, and that the next call works.
  void expect_failed_call(std::string_view code, std::string_view what) {
    const auto called = test_.host.call<&Scripted::work>("a");
    EXPECT_EQ(answer(called), code);
    EXPECT_NE(message(called).find(what), std::string::npos) << message(called);
    EXPECT_NE(message(called).find("out of paper"), std::string::npos) << message(called);
    EXPECT_EQ(test_.script->alive, 0);
    expect_nothing_held(0);
    EXPECT_EQ(answer(test_.host.call<&Scripted::work>("a")), "done");
    expect_nothing_held(1);
  }
  void expect_nothing_held(std::size_t active) {
    const HostStats stats = test_.host.stats();
    EXPECT_EQ(stats.active, active);
    EXPECT_EQ(test_.host.count(), active);
    EXPECT_EQ(stats.keys_in_use, 0U);
  }
  void store_one() {
    value_or_throw(test_.host.call<&Scripted::add>("a", 5));
    value_or_throw(test_.host.deactivate<Scripted>("a"));
  }

  HostTest test_;
};

TEST_F(ObjectHostFailures, OfTheConstructor) {
  test_.script->on_make = once(throw_plain);
  expect_failed_call("failed", "the constructor of scripted 'a'");
}

TEST_F(ObjectHostFailures, OfTheLoad) {
  test_.repository->on_load = fail_once(ErrorCode::unavailable);
  expect_failed_call("unavailable", "loading scripted 'a'");
}

TEST_F(ObjectHostFailures, OfOnCreated) {
  test_.script->on_created = once(throw_plain);
  expect_failed_call("failed", "on_created of scripted 'a'");
}

TEST_F(ObjectHostFailures, OfOnLoaded) {
  store_one();
  test_.script->on_loaded = once(throw_plain);
  expect_failed_call("failed", "on_loaded of scripted 'a'");
}

TEST_F(ObjectHostFailures, OfFromData) {
  store_one();
  test_.script->on_from_data = once(throw_plain);
  expect_failed_call("failed", "from_data of scripted 'a'");
}

TEST_F(ObjectHostFailures, OfDataThatDoesNotFit) {
  for (const char* data : {"not json", R"({"another": 1})", R"({"value": "text"})"}) {
    const store::ObjectSave save{{"scripted", "a"}, data, base::FencingToken(0)};
    value_or_throw(test_.repository->save(std::span(&save, 1), store::Batch::each));
    const auto called = test_.host.call<&Scripted::value>("a");
    EXPECT_EQ(answer(called), "corrupt") << data;
    expect_nothing_held(0);
  }
  EXPECT_EQ(test_.host.erase<Scripted>("a"), EraseStatus::erased);  // it can still be erased
  EXPECT_EQ(test_.host.call<&Scripted::value>("a"), 0);
}

TEST_F(ObjectHostFailures, OfAMethod) {
  value_or_throw(test_.host.create<Scripted>("a"));
  test_.script->on_work = once(throw_plain);
  const auto called = test_.host.call<&Scripted::work>("a");
  EXPECT_EQ(called.error(), (base::Error{ErrorCode::failed, "out of paper"}));
  expect_nothing_held(1);
  EXPECT_EQ(test_.host.call<&Scripted::work>("a"), 1);
}

TEST_F(ObjectHostFailures, OfAMethodCalledByName) {
  test_.script->on_work = once(throw_plain);
  const auto called = test_.host.call("scripted", "a", "work");
  EXPECT_EQ(called.error(), (base::Error{ErrorCode::failed, "scripted.work: out of paper"}));
  expect_nothing_held(1);
}

TEST_F(ObjectHostFailures, OfAMethodWithItsOwnCode) {
  test_.script->on_work = once([] { base::throw_error({ErrorCode::conflict, "overdrawn"}); });
  EXPECT_EQ(answer(test_.host.call<&Scripted::work>("a")), "conflict");
  test_.script->on_work = once([] { throw 7; });
  EXPECT_EQ(answer(test_.host.call<&Scripted::work>("a")), "failed");
}

TEST_F(ObjectHostFailures, OfASave) {
  value_or_throw(test_.host.call<&Scripted::add>("a", 5));
  test_.repository->on_save = fail_once(ErrorCode::unavailable);
  const auto saved = test_.host.save<Scripted>("a");
  EXPECT_EQ(answer(saved), "unavailable");
  EXPECT_NE(message(saved).find("saving scripted 'a'"), std::string::npos);
  expect_nothing_held(1);
  EXPECT_EQ(test_.host.stats().failed_saves, 1U);
  EXPECT_EQ(test_.host.save<Scripted>("a"), SaveStatus::saved);  // it is still marked as changed
}

TEST_F(ObjectHostFailures, OfToData) {
  value_or_throw(test_.host.call<&Scripted::add>("a", 5));
  test_.script->on_to_data = once(throw_plain);
  EXPECT_EQ(answer(test_.host.save<Scripted>("a")), "failed");
  EXPECT_EQ(test_.host.save<Scripted>("a"), SaveStatus::saved);
}

TEST_F(ObjectHostFailures, OfABatch) {
  for (const char* id : {"a", "b", "c"}) value_or_throw(test_.host.call<&Scripted::add>(id, 5));
  test_.repository->on_save = fail_once(ErrorCode::unknown_outcome);
  EXPECT_EQ(answer(test_.host.save_all()), "unknown_outcome");
  expect_nothing_held(3);
  EXPECT_EQ(test_.host.save_all(), 3U);
}

TEST_F(ObjectHostFailures, OfOneInABatchLeavesTheOthersSaved) {
  for (const char* id : {"a", "b", "c"}) value_or_throw(test_.host.call<&Scripted::add>(id, 5));
  test_.script->on_to_data = once(throw_plain);
  EXPECT_EQ(answer(test_.host.save_all()), "failed");
  EXPECT_EQ(test_.repository->size(), 2U);
  EXPECT_EQ(test_.host.save_all(), 1U);
}

TEST_F(ObjectHostFailures, OfOneThatMakesTheRequestFailLeavesTheOthersSaved) {
  for (const char* id : {"a", "b", "c"}) value_or_throw(test_.host.call<&Scripted::add>(id, 5));
  test_.repository->poisoned = "b";
  const auto saved = test_.host.save_all();
  EXPECT_EQ(answer(saved), "corrupt");
  EXPECT_NE(message(saved).find("saving scripted 'b'"), std::string::npos) << message(saved);
  EXPECT_EQ(test_.repository->size(), 2U);
  EXPECT_EQ(test_.host.stats().saved, 2U);
  EXPECT_EQ(test_.host.stats().failed_saves, 1U);
  expect_nothing_held(3);
  test_.repository->poisoned.clear();
  EXPECT_EQ(test_.host.save_all(), 1U);
}

TEST_F(ObjectHostFailures, OfOnDeletingKeepsTheObject) {
  value_or_throw(test_.host.call<&Scripted::add>("a", 5));
  test_.script->on_deleting = once(throw_plain);
  EXPECT_EQ(answer(test_.host.erase<Scripted>("a")), "failed");
  expect_nothing_held(1);
  EXPECT_EQ(test_.host.call<&Scripted::value>("a"), 5);
  EXPECT_EQ(test_.host.erase<Scripted>("a"), EraseStatus::erased);
}

TEST_F(ObjectHostFailures, OfADeleteInTheStoreLeavesItAsLastSaved) {
  store_one();
  value_or_throw(test_.host.call<&Scripted::add>("a", 5));
  test_.repository->on_erase = fail_once(ErrorCode::unavailable);
  EXPECT_EQ(answer(test_.host.erase<Scripted>("a")), "unavailable");
  expect_nothing_held(0);
  EXPECT_EQ(test_.host.call<&Scripted::value>("a"), 5);
  EXPECT_EQ(test_.host.erase<Scripted>("a"), EraseStatus::erased);
  EXPECT_EQ(test_.host.call<&Scripted::value>("a"), 0);
}

TEST_F(ObjectHostFailures, OfADeactivationKeepsTheObject) {
  value_or_throw(test_.host.call<&Scripted::add>("a", 5));
  test_.repository->on_save = fail_once(ErrorCode::unavailable);
  EXPECT_EQ(answer(test_.host.deactivate<Scripted>("a")), "unavailable");
  EXPECT_EQ(test_.host.count(), 1U);
  EXPECT_EQ(test_.host.deactivate<Scripted>("a"), SaveStatus::saved);
}

TEST_F(ObjectHostFailures, OfAFactoryThatReturnsNull) {
  ObjectHost host(test_.repository, HostTest::quiet());
  host.register_type<Scripted>("scripted", {}, [] { return std::unique_ptr<Scripted>(); });
  EXPECT_EQ(answer(host.create<Scripted>("a")), "failed");
  EXPECT_EQ(host.stats().active, 0U);
}

TEST_F(ObjectHostFailures, OfAHostWithoutAProviderWhereOthersHaveOne) {
  const store::ObjectSave save{{"scripted", "a"}, R"({"value":1})", base::FencingToken(7)};
  value_or_throw(test_.repository->save(std::span(&save, 1), store::Batch::each));
  const auto called = test_.host.call<&Scripted::value>("a");
  EXPECT_EQ(answer(called), "conflict");
  EXPECT_NE(message(called).find("LockProvider"), std::string::npos);
}

}  // namespace
}  // namespace holdfast::objects
