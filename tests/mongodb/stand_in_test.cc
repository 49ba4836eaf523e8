#include <stdexcept>

#include <tests/mongodb/mongo_test.h>

namespace holdfast::tests {
namespace {

// The stand-in must not let pass what a server would refuse.
class StandIn : public ::testing::Test {
 protected:
  std::string run(const std::string& command) { return client_.run(server_.database(), command); }
  std::string document(std::string_view collection, std::string_view id) {
    return client_.document(server_.database(), collection, id);
  }
  std::string refusal_of(const std::string& command) {
    try {
      run(command);
      return "";
    } catch (const std::runtime_error& error) {
      return error.what();
    }
  }

  MongoServer server_{{.must_be_stand_in = true}};
  MongoClient client_{server_.url()};
};

TEST_F(StandIn, RefusesWhatItDoesNotKnow) {
  EXPECT_NE(refusal_of(R"({"mapReduce": "c"})").find("no such command"), std::string::npos);
  EXPECT_NE(refusal_of(R"({"ping": 1, "pong": 1})").find("unknown field"), std::string::npos);
  for (const std::string field : {"updat", "opsert", "multi"}) {
    EXPECT_NE(refusal_of(R"({"findAndModify": "c", "query": {"_id": "a"}, "update": [], ")" +
                         field + R"(": 1})")
                  .find("unknown field"),
              std::string::npos);
  }
  EXPECT_NE(refusal_of(R"({"update": "c", "updates": [{"q": {}, "u": [], "upsrt": true}]})")
                .find("unknown field"),
            std::string::npos);
  EXPECT_NE(refusal_of(R"({"findAndModify": "c", "query": {"_id": "a"}, "upsert": true,
                           "update": [{"$sett": {"a": 1}}]})"),
            "");
  EXPECT_NE(refusal_of(R"({"findAndModify": "c", "query": {"_id": "a"}, "upsert": true,
                           "update": [{"$set": {"a": {"$nosuch": 1}}}]})"),
            "");
  EXPECT_NE(refusal_of(R"({"ping": 1, "writeConcern": {"w": 1}})"), "");
}

TEST_F(StandIn, AnOlderOneDoesNotKnowWhatCameLater) {
  const MongoServer old({.wire_version = 8});
  MongoClient client(old.url());
  EXPECT_THROW(client.run("db", R"({"findAndModify": "c", "query": {"_id": "a"}, "upsert": true,
      "update": [{"$set": {"a": {"$dateAdd": {"startDate": "$$NOW", "unit": "second", "amount": 1}}}}]})"),
               std::runtime_error);
  EXPECT_THROW(client.run("db", R"({"findAndModify": "c", "query": {"_id": "a"}, "upsert": true,
      "update": [{"$set": {"a": 1}}], "fields": {"now": "$$NOW"}})"),
               std::runtime_error);
}

TEST_F(StandIn, AnUpdateThatChangesNothingIsNoChange) {
  run(R"({"insert": "c", "documents": [{"_id": "a", "n": 1}]})");
  const std::string same =
      R"({"update": "c", "updates": [{"q": {"_id": "a"}, "u": [{"$set": {"n": 1}}]}]})";
  EXPECT_NE(run(same).find(R"("nModified" : 0)"), std::string::npos);
  EXPECT_NE(refusal_of(R"({"insert": "c", "documents": [{"_id": "a"}]})").find("E11000"),
            std::string::npos);
}

TEST_F(StandIn, AnUpsertThatFindsItsIdTakenIsAWriteErrorOfItsOwn) {
  run(R"({"insert": "c", "documents": [{"_id": "b", "n": 9}]})");
  const auto save = [](const std::string& id) {
    return R"({"q": {"_id": ")" + id +
           R"(", "n": {"$lte": 5}}, "u": [{"$set": {"n": 5}}], "upsert": true})";
  };
  const std::string three = save("a") + ", " + save("b") + ", " + save("c");
  const std::string reply =
      run(R"({"update": "c", "updates": [)" + three + R"(], "ordered": false})");
  EXPECT_NE(reply.find(R"("writeErrors" : [ { "index" : 1, "code" : 11000)"), std::string::npos);
  EXPECT_NE(document("c", "b").find(R"("n" : 9)"), std::string::npos);
  EXPECT_NE(document("c", "c").find(R"("n" : 5)"), std::string::npos);
  // In order, the first error is the last that is done.
  run(R"({"update": "d", "updates": [)" + save("b") + R"(]})");
  run(R"({"update": "d", "updates": [{"q": {"_id": "b"}, "u": [{"$set": {"n": 9}}]}]})");
  run(R"({"update": "d", "updates": [)" + three + R"(], "ordered": true})");
  EXPECT_NE(document("d", "a"), "");
  EXPECT_EQ(document("d", "c"), "");
  EXPECT_NE(refusal_of(R"({"update": "c", "updates": [{"q": {"_id": "x", "n": 5}, "u": [],
      "upsert": true}]})"),
            "");
}

TEST_F(StandIn, ExpiresDocumentsByTheirIndex) {
  run(R"({"createIndexes": "c", "indexes": [{"key": {"at": 1}, "name": "at", "expireAfterSeconds": 60}]})");
  run(R"({"insert": "c", "documents": [{"_id": "old", "at": {"$date": {"$numberLong": "1000"}}},
      {"_id": "new", "at": {"$date": {"$numberLong": "99999999999999"}}}, {"_id": "none"}]})");
  run(R"({"holdfastExpire": 1})");
  EXPECT_EQ(document("c", "old"), "");
  EXPECT_NE(document("c", "new"), "");
  EXPECT_NE(document("c", "none"), "");
}

}  // namespace
}  // namespace holdfast::tests
