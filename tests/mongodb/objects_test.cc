#include <chrono>

#include <tests/mongodb/mongo_test.h>

#include <holdfast/engines/mongodb/mongo_repository.h>

namespace holdfast::tests {
namespace {

using namespace std::chrono_literals;
using base::ErrorCode;
using base::FencingToken;
using engines::mongodb::MongoOptions;
using store::Batch;
using store::LoadOutcome;
using store::ObjectKey;
using store::ObjectSave;
using store::SaveOutcome;

std::unique_ptr<store::ObjectRepository> repository_on(const MongoOptions& options) {
  return base::value_or_throw(engines::mongodb::open_repository(options));
}

ObjectKey order(std::string id) { return {.type = "order", .id = std::move(id)}; }

ObjectSave save_of(std::string id, std::string data, std::uint64_t token) {
  return {.key = order(std::move(id)), .data = std::move(data), .token = FencingToken(token)};
}

// Tests of a repository's layout, and of its requests to the server.
class Objects : public MongoTest {
 protected:
  explicit Objects(const MongoServer::Options& options = {}) : MongoTest(options) {}

  std::string object(std::string_view id) {
    return client_.document(server_.database(), "holdfast.objects", id);
  }
  void save(const ObjectSave& one) {
    EXPECT_EQ(base::value_or_throw(repository_->save({&one, 1}, Batch::each)).at(0),
              SaveOutcome(store::Saved{}));
  }

  std::unique_ptr<store::ObjectRepository> repository_ = repository_on(options_for(server_));
};

TEST_F(Objects, AnObjectIsADocumentWithItsTokenAndItsData) {
  save(save_of("17", "data", 7));
  EXPECT_EQ(object("5:order:17"),
            R"({ "_id" : "5:order:17", "token" : "00000000000000000007", )"
            R"("data" : { "$binary" : { "base64" : "ZGF0YQ==", "subType" : "00" } } })");
}

TEST_F(Objects, OfAnErasedObjectTheTokenIsLeftForTheTtlIndex) {
  save(save_of("erased", "data", 7));
  EXPECT_TRUE(repository_->erase(order("erased"), FencingToken(7)));
  EXPECT_TRUE(repository_->load(order("never there"), FencingToken(7)));
  for (const std::string id : {"5:order:erased", "5:order:never there"}) {
    EXPECT_TRUE(
        object(id).starts_with(R"({ "_id" : ")" + id +
                               R"(", "token" : "00000000000000000007", "unusedSince" : { "$date")"))
        << object(id);
    EXPECT_EQ(object(id).find("data"), std::string::npos);
  }
  EXPECT_TRUE(eventually([&] {
    const std::string indexes = run(R"({"listIndexes": "holdfast.objects"})");
    return indexes.find("unusedSince") != std::string::npos &&
           indexes.find(R"("expireAfterSeconds" : 3600)") != std::string::npos;
  }));
  save(save_of("erased", "back", 7));
  EXPECT_EQ(object("5:order:erased").find("unusedSince"), std::string::npos);
}

TEST_F(Objects, WithoutATokenNothingIsLeft) {
  save(save_of("17", "data", 0));
  EXPECT_TRUE(repository_->erase(order("17"), FencingToken(0)));
  EXPECT_TRUE(repository_->load(order("17"), FencingToken(0)));
  EXPECT_EQ(object("5:order:17"), "");
}

TEST_F(Objects, LeasesAndObjectsOfOneDatabaseDoNotMeet) {
  expect<store::Grant>(store_->claim("5:order:17", wish()));
  EXPECT_EQ(repository_->load(order("17"), FencingToken(1)), LoadOutcome(store::Absent{}));
  save(save_of("17", "data", 1));
  EXPECT_EQ(holders("5:order:17").size(), 1U);
  EXPECT_EQ(base::value_or_throw(store_->list("")).names.size(), 1U);
}

TEST_F(Objects, PrefixesKeepFleetsApart) {
  MongoOptions options = options_for(server_);
  options.prefix = "other/";
  const auto other = repository_on(options);
  save(save_of("17", "data", 1));
  EXPECT_EQ(other->load(order("17"), FencingToken(0)), LoadOutcome(store::Absent{}));
  const ObjectSave one = save_of("18", "data", 1);
  EXPECT_TRUE(other->save({&one, 1}, Batch::each));
  EXPECT_NE(object("other/5:order:18"), "");
  EXPECT_EQ(base::value_or_throw(repository_->list("order", "")).ids,
            std::vector<std::string>{"17"});
  EXPECT_EQ(base::value_or_throw(other->list("order", "")).ids, std::vector<std::string>{"18"});
}

TEST_F(Objects, LocksAndObjectsInOneCollectionAreRefused) {
  MongoOptions options = options_for(server_);
  options.objects = options.collection;
  EXPECT_EQ(engines::mongodb::open_repository(options).error().code, ErrorCode::invalid_argument);
}

// Tests that need the stand-in: only it counts, and fails on command.
class ObjectsOnTheStandIn : public Objects {
 protected:
  ObjectsOnTheStandIn() : Objects({.own = true}) {}

  void SetUp() override {
    if (server_.kind() != MongoServer::Kind::stand_in) {
      GTEST_SKIP() << "only the stand-in can be asked this";
    }
  }
  int calls(const std::string& command) {
    const std::string counts = client_.run("admin", R"({"holdfastCounts": 1})");
    const std::string key = "\"" + command + "\" : ";
    const std::size_t found = counts.find(key);
    return found == std::string::npos ? 0 : std::stoi(counts.substr(found + key.size()));
  }
  void fail(const std::string& command, const std::string& data) {
    client_.run("admin", R"({"configureFailPoint": "failCommand", "mode": {"times": 1},
        "data": {"failCommands": [")" +
                             command + R"("], )" + data + "}}");
  }
};

TEST_F(ObjectsOnTheStandIn, ABatchIsOneCommandAndARefusalOneMore) {
  save(save_of("refused", "old", 9));
  const int updates = calls("update");
  const int finds = calls("find");
  std::vector<ObjectSave> saves;
  for (int i = 0; i < 100; ++i) {
    saves.push_back(save_of(std::to_string(i), "data", 1));
  }
  EXPECT_TRUE(repository_->save(saves, Batch::each));
  EXPECT_EQ(calls("update"), updates + 1);
  EXPECT_EQ(calls("find"), finds);
  saves.push_back(save_of("refused", "new", 8));
  EXPECT_EQ(base::value_or_throw(repository_->save(saves, Batch::each)).back(),
            SaveOutcome(store::Refused{FencingToken(9)}));
  EXPECT_EQ(calls("update"), updates + 2);
  EXPECT_EQ(calls("find"), finds + 1);
}

TEST_F(ObjectsOnTheStandIn, ALoadAndAnEraseAreOneCommandEach) {
  save(save_of("17", "data", 1));
  const int before = calls("findAndModify");
  EXPECT_TRUE(repository_->load(order("17"), FencingToken(2)));
  EXPECT_TRUE(repository_->load(order("18"), FencingToken(2)));
  EXPECT_EQ(repository_->load(order("17"), FencingToken(1)),
            LoadOutcome(store::Refused{FencingToken(2)}));
  EXPECT_TRUE(repository_->erase(order("17"), FencingToken(2)));
  EXPECT_EQ(calls("findAndModify"), before + 4);
  EXPECT_EQ(calls("find"), 0);
}

TEST_F(ObjectsOnTheStandIn, AServerThatStepsDownOrDropsItsAnswerIsAskedAgain) {
  for (const std::string fault : {R"("errorCode": 10107)", R"("closeConnection": true)",
                                  R"("dropReply": true)", R"("errorCode": 11602)"}) {
    SCOPED_TRACE(fault);
    fail("update", fault);
    save(save_of(fault, "data", 7));
    fail("findAndModify", fault);
    EXPECT_EQ(repository_->load(order(fault), FencingToken(8)), LoadOutcome(store::Loaded{"data"}));
    fail("findAndModify", fault);
    EXPECT_TRUE(repository_->erase(order(fault), FencingToken(8)));
    EXPECT_EQ(repository_->load(order(fault), FencingToken(8)), LoadOutcome(store::Absent{}));
    fail("find", fault);
    EXPECT_TRUE(repository_->list("order", ""));
  }
}

TEST_F(ObjectsOnTheStandIn, ServersOfOtherKindsDo) {
  for (const MongoServer::Options& kind :
       {MongoServer::Options{.wire_version = 8}, MongoServer::Options{.standalone = true}}) {
    const MongoServer server(kind);
    const auto repository = repository_on(options_for(server));
    const ObjectSave one = save_of("17", "data", 7);
    EXPECT_TRUE(repository->save({&one, 1}, Batch::each));
    EXPECT_EQ(repository->load(one.key, FencingToken(8)), LoadOutcome(store::Loaded{"data"}));
    EXPECT_EQ(base::value_or_throw(repository->save({&one, 1}, Batch::each)).at(0),
              SaveOutcome(store::Refused{FencingToken(8)}));
    EXPECT_EQ(base::value_or_throw(repository->list("order", "")).ids,
              std::vector<std::string>{"17"});
    EXPECT_EQ(repository->erase(one.key, FencingToken(8)),
              store::EraseOutcome(store::Erased{true}));
  }
}

}  // namespace
}  // namespace holdfast::tests
