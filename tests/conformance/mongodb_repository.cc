#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include <tests/support/mongo_client.h>
#include <tests/support/mongo_server.h>

#include <holdfast/engines/mongodb/mongo_repository.h>

#include "repositories.h"

namespace holdfast::conformance {

namespace {

using engines::mongodb::MongoOptions;
using testing::RepositoryPlace;
using tests::MongoClient;
using tests::MongoServer;

// Started when it is first needed: most runs of this program have nothing to do with it.
const MongoServer& server() {
  static const MongoServer kServer;
  return kServer;
}

// A loaded machine is slow, and slowness is not what is tested.
constexpr std::chrono::seconds kPatience{60};

// Every place has a collection of its own.
std::string fresh_collection() {
  static std::atomic<int> places{0};
  return "objects" + std::to_string(++places);
}

MongoOptions options(const MongoServer& where, const std::string& collection) {
  return {.uri = where.url(),
          .database = where.database(),
          .objects = collection,
          .connect_timeout = kPatience,
          .reply_timeout = kPatience};
}

std::function<std::shared_ptr<store::ObjectRepository>()> opener(const MongoServer& where,
                                                                 const std::string& collection) {
  return [&where, collection]() -> std::shared_ptr<store::ObjectRepository> {
    return base::value_or_throw(engines::mongodb::open_repository(options(where, collection)));
  };
}

// A document that is not an object.
std::function<bool()> plant_foreign(const std::string& collection, const store::ObjectKey& key) {
  const std::string id = std::to_string(key.type.size()) + ":" + key.type + ":" + key.id;
  const std::string document = R"({ "_id" : )" + tests::json_text(id) + R"(, "data" : 1 })";
  MongoClient(server().url())
      .run(server().database(),
           R"({"insert": ")" + collection + R"(", "documents": [)" + document + "]}");
  return [collection, id, document] {
    return MongoClient(server().url()).document(server().database(), collection, id) == document;
  };
}

RepositoryPlace place() {
  const std::string collection = fresh_collection();
  std::string url = server().url();
  url += url.find('?') == std::string::npos ? '?' : '&';
  return {.open = opener(server(), collection),
          .url = url + "connect_timeout=60s&reply_timeout=60s&objects=" + collection,
          .plant_foreign = [collection](const store::ObjectKey& key) {
            return plant_foreign(collection, key);
          }};
}

// Two hours pass, and the server does what its TTL index says, once that is there.
void expire(const MongoServer& stand_in, const std::string& collection) {
  MongoClient client(stand_in.url());
  const auto give_up = std::chrono::steady_clock::now() + kPatience;
  while (client.run(stand_in.database(), R"({"listIndexes": ")" + collection + R"("})")
             .find("unusedSince_ttl") == std::string::npos) {
    if (std::chrono::steady_clock::now() > give_up) {
      throw std::runtime_error("there is no TTL index");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  client.run("admin", R"({"holdfastSetClock": 1, "offsetMS": 7200000})");
  client.run("admin", R"({"holdfastExpire": 1})");
}

// A server of its own.
RepositoryPlace frail_place() {
  if (tests::mongo_server_is_given()) {
    return place();
  }
  const auto own = std::make_shared<MongoServer>(MongoServer::Options{.own = true});
  const std::string collection = fresh_collection();
  RepositoryPlace place{.open = [own, open = opener(*own, collection)] { return open(); },
                        .hang = [own] { own->suspend(); },
                        .go_on = [own] { own->resume(); },
                        .restart = [own] { own->restart(); },
                        .keeps_data = own->kind() == MongoServer::Kind::mongod};
  if (own->kind() == MongoServer::Kind::stand_in) {
    place.outlast_retention = [own, collection] { expire(*own, collection); };
  }
  return place;
}

}  // namespace

testing::RepositoryUnderTest mongodb_repository() {
  return {.name = "mongodb",
          .make_place = place,
          .make_frail_place = frail_place,
          .saver = HOLDFAST_SAVER};
}

}  // namespace holdfast::conformance
