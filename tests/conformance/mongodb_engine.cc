#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <tests/support/mongo_client.h>
#include <tests/support/mongo_server.h>

#include <holdfast/engines/mongodb/mongo_store.h>

#include "engines.h"

namespace holdfast::conformance {

namespace {

using engines::mongodb::MongoOptions;
using std::chrono::milliseconds;
using testing::Place;

// Started when it is first needed: most runs of this program have nothing to do with it.
const tests::MongoServer& server() {
  static const tests::MongoServer kServer;
  return kServer;
}

// A loaded machine is slow, and slowness is not what is tested.
constexpr std::chrono::seconds kPatience{60};

// Every place has a collection of its own.
std::string fresh_collection() {
  static std::atomic<int> places{0};
  return "place" + std::to_string(++places);
}

MongoOptions options(const std::string& collection) {
  return {.uri = server().url(),
          .database = server().database(),
          .collection = collection,
          .connect_timeout = kPatience,
          .reply_timeout = kPatience};
}

milliseconds wall_clock() {
  return std::chrono::duration_cast<milliseconds>(
      std::chrono::system_clock::now().time_since_epoch());
}

// Does what the TTL index does, a millisecond after everything has ended.
void forget(const std::string& collection, milliseconds now) {
  tests::MongoClient(server().url())
      .run(server().database(), R"({"delete": ")" + collection +
                                    R"(", "deletes": [{"limit": 0, "q": {"expiresAt": {"$lt": )"
                                    R"({"$date": {"$numberLong": ")" +
                                    std::to_string(now.count()) + R"("}}}}}]})");
}

// A document that is not a lock.
std::function<bool()> plant_foreign(const std::string& collection, const std::string& name) {
  const std::string document = R"({ "_id" : )" + tests::json_text(name) + R"(, "data" : 1 })";
  tests::MongoClient(server().url())
      .run(server().database(),
           R"({"insert": ")" + collection + R"(", "documents": [)" + document + "]}");
  return [collection, name, document] {
    return tests::MongoClient(server().url()).document(server().database(), collection, name) ==
           document;
  };
}

// The server judges by a time that the test moves.
Place movable_place() {
  const auto now = std::make_shared<std::atomic<milliseconds>>(wall_clock());
  const std::string collection = fresh_collection();
  return {
      .open = [now, collection]() -> std::shared_ptr<store::LeaseStore> {
        return base::value_or_throw(
            engines::mongodb::open_store(options(collection), [now] { return now->load(); }));
      },
      .advance =
          [now](base::Duration by) { *now = now->load() + std::chrono::ceil<milliseconds>(by); },
      .clean_up = [now, collection] { forget(collection, now->load()); },
      .plant_foreign =
          [collection](std::string_view name) {
            return plant_foreign(collection, std::string(name));
          }};
}

Place real_time_place() {
  const std::string collection = fresh_collection();
  std::string url = server().url();
  url += url.find('?') == std::string::npos ? '?' : '&';
  return {.open = [collection]() -> std::shared_ptr<store::LeaseStore> {
            return base::value_or_throw(engines::mongodb::open_store(options(collection)));
          },
          .url = url + "connect_timeout=60s&reply_timeout=60s&collection=" + collection,
          .clean_up = [collection] { forget(collection, wall_clock()); },
          .plant_foreign =
              [collection](std::string_view name) {
                return plant_foreign(collection, std::string(name));
              }};
}

}  // namespace

testing::EngineUnderTest mongodb_engine() {
  return {.name = "mongodb",
          .make_place = movable_place,
          .make_real_time_place = real_time_place,
          .taker = HOLDFAST_TAKER};
}

testing::EngineUnderTest mongodb_engine_in_real_time() {
  return {.name = "mongodb_in_real_time", .make_place = real_time_place, .taker = HOLDFAST_TAKER};
}

}  // namespace holdfast::conformance
