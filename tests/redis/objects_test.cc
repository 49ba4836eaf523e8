#include <chrono>

#include <tests/redis/redis_test.h>

#include <holdfast/engines/redis/redis_repository.h>

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;
using base::ErrorCode;
using base::FencingToken;
using store::Batch;
using store::LoadOutcome;
using store::ObjectKey;
using store::ObjectSave;
using store::SaveOutcome;

std::unique_ptr<store::ObjectRepository> repository_on(std::uint16_t port) {
  return base::value_or_throw(engines::redis::open_repository({.host = "127.0.0.1", .port = port}));
}

ObjectKey order(std::string id) { return {.type = "order", .id = std::move(id)}; }

ObjectSave save_of(ObjectKey key, std::string data, std::uint64_t token) {
  return {.key = std::move(key), .data = std::move(data), .token = FencingToken(token)};
}

// Tests of a repository's layout, and of the server's settings that matter to it.
class Objects : public RedisTest {
 protected:
  void save(const ObjectSave& one) {
    EXPECT_EQ(base::value_or_throw(repository_->save({&one, 1}, Batch::each)).at(0),
              SaveOutcome(store::Saved{}));
  }

  std::unique_ptr<store::ObjectRepository> repository_ = repository_on(server_.port());
};

TEST_F(Objects, AnObjectIsAStringWithItsTokenAndItsData) {
  save(save_of(order("17"), "data", 7));
  EXPECT_EQ(run({"GET", "hfo:{order}:17"}), "00000000000000000007 data");
  EXPECT_EQ(run({"PTTL", "hfo:{order}:17"}), "-1");
  EXPECT_EQ(run({"ZRANGE", "hfo:{order}", "0", "-1"}), "[17]");
  EXPECT_EQ(repository_->load(order("17"), FencingToken(8)), LoadOutcome(store::Loaded{"data"}));
  EXPECT_EQ(run({"GET", "hfo:{order}:17"}), "00000000000000000008 data");
}

// The default is an hour.
TEST_F(Objects, OfAnErasedObjectTheTokenIsLeftForItsRetention) {
  save(save_of(order("erased"), "data", 7));
  EXPECT_TRUE(repository_->erase(order("erased"), FencingToken(7)));
  EXPECT_TRUE(repository_->load(order("never there"), FencingToken(7)));
  for (const std::string id : {"erased", "never there"}) {
    EXPECT_EQ(run({"GET", "hfo:{order}:" + id}), "00000000000000000007");
    const auto left = std::chrono::milliseconds(std::stoll(run({"PTTL", "hfo:{order}:" + id})));
    EXPECT_GT(left, 50min);
    EXPECT_LE(left, 1h);
  }
  EXPECT_EQ(run({"EXISTS", "hfo:{order}"}), "0");
  save(save_of(order("erased"), "back", 7));
  EXPECT_EQ(run({"PTTL", "hfo:{order}:erased"}), "-1");
}

TEST_F(Objects, WithoutATokenOrARetentionNothingIsLeft) {
  save(save_of(order("17"), "data", 0));
  EXPECT_TRUE(repository_->erase(order("17"), FencingToken(0)));
  EXPECT_TRUE(repository_->load(order("18"), FencingToken(0)));
  const auto forgetful = base::value_or_throw(engines::redis::open_repository(
      {.host = "127.0.0.1", .port = server_.port(), .retention = 0ms}));
  EXPECT_TRUE(forgetful->load(order("19"), FencingToken(7)));
  EXPECT_TRUE(forgetful->erase(order("19"), FencingToken(7)));
  EXPECT_EQ(run({"KEYS", "*"}), "[]");
}

TEST_F(Objects, LeasesAndObjectsOfOneServerDoNotMeet) {
  for (const std::string name : {"17", "hfo:{order}", "hfo:{order}:17"}) {
    expect<store::Grant>(store_->claim(name, wish()));
  }
  save(save_of(order("17"), "data", 7));
  EXPECT_EQ(base::value_or_throw(repository_->list("order", "")).ids,
            std::vector<std::string>{"17"});
  EXPECT_EQ(base::value_or_throw(store_->list("")).names.size(), 3U);
}

TEST_F(Objects, ABatchIsAFewScripts) {
  save(save_of(order("first"), "data", 1));  // the server knows the script now
  const int before = calls("evalsha");
  std::vector<ObjectSave> saves;
  for (int i = 0; i < 256; ++i) {
    saves.push_back(save_of(order(std::to_string(i)), "data", 1));
  }
  EXPECT_TRUE(repository_->save(saves, Batch::each));
  EXPECT_EQ(calls("evalsha"), before + 2);
  EXPECT_TRUE(repository_->save(saves, Batch::all_or_none));
  EXPECT_EQ(calls("evalsha"), before + 3);
}

TEST_F(Objects, AServerThatHasForgottenTheScriptsIsSentThemAgain) {
  save(save_of(order("17"), "data", 1));
  run({"SCRIPT", "FLUSH"});
  save(save_of(order("17"), "more", 1));
  run({"SCRIPT", "FLUSH"});
  EXPECT_EQ(repository_->load(order("17"), FencingToken(1)), LoadOutcome(store::Loaded{"more"}));
  run({"SCRIPT", "FLUSH"});
  EXPECT_TRUE(repository_->erase(order("17"), FencingToken(1)));
}

TEST_F(Objects, WhenItsMemoryIsFullNothingIsSavedAndTheRestGoesOn) {
  save(save_of(order("17"), "data", 1));
  run({"CONFIG", "SET", "maxmemory", "1"});
  const std::vector saves{save_of(order("17"), "more", 2), save_of(order("18"), "more", 2)};
  for (const Batch batch : {Batch::each, Batch::all_or_none}) {
    EXPECT_EQ(repository_->save(saves, batch).error().code, ErrorCode::unavailable);
  }
  EXPECT_EQ(repository_->load(order("17"), FencingToken(1)), LoadOutcome(store::Loaded{"data"}));
  EXPECT_EQ(repository_->erase(order("17"), FencingToken(3)),
            store::EraseOutcome(store::Erased{true}));
  run({"CONFIG", "SET", "maxmemory", "0"});
  EXPECT_EQ(repository_->load(order("18"), FencingToken(1)), LoadOutcome(store::Absent{}));
}

TEST_F(Objects, SomethingElseInPlaceOfTheIndexLeavesABatchUndone) {
  run({"SET", "hfo:{bill}", "not an index"});
  const std::vector saves{save_of(order("17"), "data", 1),
                          save_of({.type = "bill", .id = "17"}, "data", 1)};
  EXPECT_EQ(repository_->save(saves, Batch::all_or_none).error().code, ErrorCode::conflict);
  EXPECT_EQ(repository_->load(order("17"), FencingToken(0)), LoadOutcome(store::Absent{}));
}

TEST_F(Objects, AnObjectThatIsNotReadableIsCorruptAndStays) {
  run({"SET", "hfo:{order}:17", "{\"json\": 1}"});
  const ObjectSave one = save_of(order("17"), "data", 1);
  EXPECT_EQ(repository_->load(one.key, one.token).error().code, ErrorCode::corrupt);
  EXPECT_EQ(repository_->save({&one, 1}, Batch::each).error().code, ErrorCode::corrupt);
  EXPECT_EQ(repository_->erase(one.key, one.token).error().code, ErrorCode::corrupt);
  EXPECT_EQ(run({"GET", "hfo:{order}:17"}), "{\"json\": 1}");
}

TEST(ObjectsInACluster, OfOneTypeAreSavedTogetherOfSeveralMaybeNot) {
  const RedisServer server({.cluster = true});
  RedisClient client(server.port());
  client.run({"CLUSTER", "ADDSLOTSRANGE", "0", "16383"});
  ASSERT_TRUE(eventually([&] {
    return client.run({"CLUSTER", "INFO"}).find("cluster_state:ok") != std::string::npos;
  }));
  const auto repository = repository_on(server.port());
  const std::vector of_one_type{save_of(order("17"), "data", 1), save_of(order("{18}"), "data", 1)};
  EXPECT_TRUE(repository->save(of_one_type, Batch::all_or_none));
  EXPECT_EQ(base::value_or_throw(repository->list("order", "")).ids,
            (std::vector<std::string>{"17", "{18}"}));
  EXPECT_EQ(repository->erase(order("{18}"), FencingToken(1)),
            store::EraseOutcome(store::Erased{true}));
  const std::vector of_two{save_of(order("17"), "more", 2),
                           save_of({.type = "bill", .id = "17"}, "more", 2)};
  EXPECT_EQ(repository->save(of_two, Batch::all_or_none).error().code, ErrorCode::unsupported);
  EXPECT_EQ(repository->load(order("17"), FencingToken(1)), LoadOutcome(store::Loaded{"data"}));
}

}  // namespace
}  // namespace holdfast::tests
