#include <holdfast/objects/object_host.h>

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/objects/testing_support.h>

namespace holdfast::objects {
namespace {

using base::ErrorCode;
using base::value_or_throw;
using testing::answer;
using testing::HostTest;
using testing::message;
using testing::Scripted;

// An object with methods of many shapes.
class Basket : public Object {
 public:
  [[nodiscard]] nlohmann::json to_data() const override { return items_; }
  void from_data(const nlohmann::json& data) override { data.get_to(items_); }

  void put(const std::string& item, int count) { items_[item] += count; }
  [[nodiscard]] const std::map<std::string, int>& items() const noexcept { return items_; }
  int total(std::vector<std::string> which) const {
    int sum = 0;
    for (const auto& item : which) sum += items_.at(item);
    return sum;
  }
  base::Result<int> take(const std::string& item) {
    if (!items_.contains(item)) return base::fail(ErrorCode::conflict, "there is no " + item);
    return --items_[item];
  }
  nlohmann::json echo(const nlohmann::json& request) { return request; }
  int move_only(std::unique_ptr<int> value) { return *value; }

 private:
  std::map<std::string, int> items_;
};

class Unregistered : public Object {
 public:
  [[nodiscard]] nlohmann::json to_data() const override { return nullptr; }
  void from_data(const nlohmann::json&) override {}
  void nothing() {}
};

class ObjectHostTest : public ::testing::Test {
 protected:
  ObjectHostTest() {
    test_.host.register_type<Basket>("basket")
        .method<&Basket::put>("put")
        .method<&Basket::items>("items")
        .method<&Basket::total>("total")
        .method<&Basket::take>("take")
        .method<&Basket::echo>("echo");
  }
  HostTest test_;
  ObjectHost& host_ = test_.host;
};

TEST_F(ObjectHostTest, ACallMakesAMissingObject) {
  EXPECT_EQ(host_.count(), 0U);
  EXPECT_EQ(host_.call<&Scripted::add>("a", 5), 5);
  EXPECT_EQ(host_.call<&Scripted::add>("a", 5), 10);
  EXPECT_EQ(host_.call<&Scripted::value>("b"), 0);
  EXPECT_EQ(host_.count(), 2U);
  EXPECT_EQ(test_.script->made, 2);
}

TEST_F(ObjectHostTest, EachTypeHasItsOwnIds) {
  value_or_throw(host_.call<&Basket::put>("x", "apple", 1));
  value_or_throw(host_.call<&Scripted::add>("x", 1));
  EXPECT_EQ(host_.count("basket"), 1U);
  EXPECT_EQ(host_.erase<Basket>("x"), EraseStatus::erased);
  EXPECT_EQ(host_.call<&Scripted::value>("x"), 1);
}

TEST_F(ObjectHostTest, ATypedCallSerialisesNothing) {
  EXPECT_EQ(host_.call<&Basket::move_only>("x", std::make_unique<int>(7)), 7);
}

TEST_F(ObjectHostTest, ATypedCallReturnsAValueNotAReference) {
  value_or_throw(host_.call<&Basket::put>("x", "apple", 2));
  auto items = host_.call<&Basket::items>("x");
  static_assert(std::is_same_v<decltype(items), base::Result<std::map<std::string, int>>>);
  EXPECT_EQ(*items, (std::map<std::string, int>{{"apple", 2}}));
}

TEST_F(ObjectHostTest, AMethodsResultIsTheResultOfTheCall) {
  auto taken = host_.call<&Basket::take>("x", "pear");
  static_assert(std::is_same_v<decltype(taken), base::Result<int>>);
  EXPECT_EQ(answer(taken), "conflict");
  EXPECT_EQ(answer(host_.call("basket", "x", "take", "pear")), "conflict");
}

TEST_F(ObjectHostTest, ACallByNameTakesItsArgumentsFromJson) {
  EXPECT_EQ(host_.call("basket", "x", "put", {"apple", 3}), nlohmann::json(nullptr));
  EXPECT_EQ(host_.call("basket", "x", "items"), (nlohmann::json{{"apple", 3}}));
  // A single argument is the request itself, even if it is an array.
  EXPECT_EQ(host_.call("basket", "x", "total", nlohmann::json::array({"apple"})), 3);
  EXPECT_EQ(host_.call("basket", "x", "echo", {{"a", 1}}), (nlohmann::json{{"a", 1}}));
  EXPECT_EQ(host_.call_as<int>("basket", "x", "take", "apple"), 2);
}

TEST_F(ObjectHostTest, ARequestThatDoesNotFitIsRejectedBeforeTheMethodRuns) {
  for (const nlohmann::json& request :
       {nlohmann::json("apple"), nlohmann::json{"apple", 1, 2}, nlohmann::json{1, "apple"}}) {
    EXPECT_EQ(answer(host_.call("basket", "x", "put", request)), "invalid_argument") << request;
  }
  EXPECT_EQ(answer(host_.call("basket", "x", "items", 5)), "invalid_argument");
  EXPECT_EQ(host_.call("basket", "x", "items"), nlohmann::json::object());
}

TEST_F(ObjectHostTest, TheErrorForAnUnknownTypeMethodOrClassListsThoseThatExist) {
  EXPECT_EQ(
      host_.call("baskett", "x", "put").error(),
      (base::Error{ErrorCode::invalid_argument, "no type 'baskett'; there are: basket, scripted"}));
  EXPECT_EQ(host_.call("basket", "x", "putt").error(),
            (base::Error{ErrorCode::invalid_argument,
                         "type 'basket' has no method 'putt'; it has: echo, items, put, take, "
                         "total"}));
  EXPECT_EQ(host_.call<&Unregistered::nothing>("x").error(),
            (base::Error{ErrorCode::invalid_argument,
                         "this class is not a registered type; there are: basket, scripted"}));
  for (const auto& error :
       {host_.erase("no", "x").error(), host_.erase<Unregistered>("x").error()}) {
    EXPECT_EQ(error.code, ErrorCode::invalid_argument);
    EXPECT_NE(error.message.find("basket, scripted"), std::string::npos) << error.message;
  }
  EXPECT_EQ(answer(host_.create("no", "x")), "invalid_argument");
  EXPECT_EQ(answer(host_.save("no", "x")), "invalid_argument");
  EXPECT_EQ(answer(host_.deactivate("no", "x")), "invalid_argument");
  EXPECT_EQ(answer(host_.ids("no")), "invalid_argument");
  EXPECT_EQ(host_.count(), 0U);
}

TEST_F(ObjectHostTest, AReplyOfAnotherTypeSaysWhatItIs) {
  value_or_throw(host_.call<&Basket::put>("x", "apple", 2));
  const auto reply = host_.call_as<std::string>("basket", "x", "items");
  EXPECT_EQ(answer(reply), "invalid_argument");
  EXPECT_NE(message(reply).find("it is of type object with apple"), std::string::npos)
      << message(reply);
}

TEST_F(ObjectHostTest, NamesAreRegisteredOnceAndBeforeTheFirstUse) {
  EXPECT_THROW(host_.register_type<Unregistered>("basket"), base::Exception);
  EXPECT_THROW(host_.register_type<Basket>("another"), base::Exception);
  EXPECT_THROW(host_.register_type<Unregistered>(""), base::Exception);
  EXPECT_THROW(host_.register_type<Unregistered>("a/b"), base::Exception);
  auto late = host_.register_type<Unregistered>("late");
  EXPECT_THROW(late.method<&Unregistered::nothing>(""), base::Exception);
  late.method<&Unregistered::nothing>("nothing");
  EXPECT_THROW(late.method<&Unregistered::nothing>("nothing"), base::Exception);
  EXPECT_EQ(host_.create("late", "x"), CreateStatus::created);
  EXPECT_THROW(late.method<&Unregistered::nothing>("later"), base::Exception);
}

TEST_F(ObjectHostTest, CreateSaysWhereTheObjectCameFrom) {
  EXPECT_EQ(host_.create("scripted", "a"), CreateStatus::created);
  EXPECT_EQ(host_.create<Scripted>("a"), CreateStatus::active);
  EXPECT_EQ(host_.deactivate<Scripted>("a"), SaveStatus::saved);
  EXPECT_EQ(host_.create<Scripted>("a"), CreateStatus::loaded);
}

TEST_F(ObjectHostTest, EraseRemovesAnObjectFromMemoryAndFromTheStore) {
  value_or_throw(host_.call<&Scripted::add>("a", 5));
  value_or_throw(host_.save<Scripted>("a"));
  EXPECT_EQ(test_.repository->size(), 1U);
  EXPECT_EQ(host_.erase<Scripted>("a"), EraseStatus::erased);
  EXPECT_EQ(host_.count(), 0U);
  EXPECT_EQ(test_.repository->size(), 0U);
  EXPECT_EQ(host_.erase("scripted", "a"), EraseStatus::absent);
  EXPECT_EQ(host_.call<&Scripted::value>("a"), 0);
}

TEST_F(ObjectHostTest, EraseRemovesAnObjectThatIsOnlyStored) {
  value_or_throw(host_.call<&Scripted::add>("a", 5));
  value_or_throw(host_.deactivate<Scripted>("a"));
  EXPECT_EQ(host_.erase<Scripted>("a"), EraseStatus::erased);
  EXPECT_EQ(test_.repository->size(), 0U);
}

TEST_F(ObjectHostTest, DataIsLoadedAgainAfterDeactivation) {
  value_or_throw(host_.call<&Scripted::add>("a", 5));
  EXPECT_EQ(host_.deactivate<Scripted>("a"), SaveStatus::saved);
  EXPECT_EQ(host_.count(), 0U);
  EXPECT_EQ(host_.call<&Scripted::value>("a"), 5);
  EXPECT_EQ(host_.deactivate<Scripted>("b"), SaveStatus::gone);
}

TEST_F(ObjectHostTest, IdsComeInPages) {
  for (const char* id : {"b2", "a", "b1", "c", "b3"}) value_or_throw(host_.create<Scripted>(id));
  const auto all = value_or_throw(host_.ids("scripted"));
  EXPECT_EQ(all.ids, (std::vector<std::string>{"a", "b1", "b2", "b3", "c"}));
  EXPECT_EQ(all.next, "");
  const auto first = value_or_throw(host_.ids("scripted", "b", 2));
  EXPECT_EQ(first.ids, (std::vector<std::string>{"b1", "b2"}));
  const auto second = value_or_throw(host_.ids("scripted", "b", 2, first.next));
  EXPECT_EQ(second.ids, std::vector<std::string>{"b3"});
  EXPECT_EQ(second.next, "");
  EXPECT_EQ(answer(host_.ids("scripted", "", 0)), "invalid_argument");

  EXPECT_TRUE(value_or_throw(host_.stored_ids("scripted")).ids.empty());
  value_or_throw(host_.save<Scripted>("c"));
  EXPECT_EQ(value_or_throw(host_.stored_ids("scripted")).ids, std::vector<std::string>{"c"});
}

TEST_F(ObjectHostTest, AnObjectKnowsItsIdAndItsHost) {
  EXPECT_EQ(host_.call<&Scripted::name>("anna"), "anna");
}

TEST_F(ObjectHostTest, IdsOutsideTheirBoundsAreRejected) {
  const std::string long_id(1025, 'x');
  for (const std::string& id : {std::string(), long_id}) {
    EXPECT_EQ(answer(host_.call<&Scripted::value>(id)), "invalid_argument");
    EXPECT_EQ(answer(host_.create<Scripted>(id)), "invalid_argument");
    EXPECT_EQ(answer(host_.erase<Scripted>(id)), "invalid_argument");
    EXPECT_EQ(host_.save<Scripted>(id), SaveStatus::gone);
  }
  const std::string odd("\0/\n'", 4);
  EXPECT_EQ(host_.call<&Scripted::add>(odd, 1), 1);
  EXPECT_EQ(host_.call<&Scripted::name>(odd), odd);
}

TEST(ObjectHostLimits, NoMoreObjectsThanAllowed) {
  HostOptions options = HostTest::quiet();
  options.max_objects = 2;
  HostTest test(options);
  value_or_throw(test.host.create<Scripted>("a"));
  value_or_throw(test.host.create<Scripted>("b"));
  EXPECT_EQ(answer(test.host.create<Scripted>("c")), "limit_exceeded");
  EXPECT_EQ(answer(test.host.call<&Scripted::value>("c")), "limit_exceeded");
  value_or_throw(test.host.erase<Scripted>("a"));
  EXPECT_EQ(test.host.create<Scripted>("c"), CreateStatus::created);
}

TEST(ObjectHostLimits, InvalidOptionsAreRejected) {
  const auto repository = std::make_shared<testing::WatchedRepository>();
  EXPECT_THROW(ObjectHost(nullptr), base::Exception);
  EXPECT_THROW(ObjectHost(repository, {.save_batch = 0}), base::Exception);
  EXPECT_THROW(ObjectHost(repository, {.save_batch = 1001}), base::Exception);
  EXPECT_THROW(ObjectHost(repository, {.save_every = base::Duration::zero()}), base::Exception);
  EXPECT_THROW(ObjectHost(repository, {.idle_after = base::Duration(-1)}), base::Exception);
  EXPECT_THROW(ObjectHost(repository, {.key_wait = base::Duration::zero()}), base::Exception);
}

}  // namespace
}  // namespace holdfast::objects
