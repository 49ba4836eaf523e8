#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <tests/support/redis_client.h>
#include <tests/support/redis_server.h>

#include <holdfast/engines/redis/redis_store.h>

#include "engines.h"

namespace holdfast::conformance {

namespace {

using engines::redis::RedisOptions;
using engines::redis::RedisStore;
using testing::Place;

// Started when it is first needed: most runs of this program have nothing to do with it.
const tests::RedisServer& server() {
  static const tests::RedisServer kServer;
  return kServer;
}

// Every place has keys of its own.
std::string fresh_prefix() {
  static std::atomic<int> places{0};
  return "place" + std::to_string(++places) + ":";
}

RedisOptions options(const std::string& prefix) {
  return {.host = "127.0.0.1", .port = server().port(), .prefix = prefix};
}

// A key of another type.
std::function<bool()> plant_foreign(const std::string& key) {
  tests::RedisClient(server().port()).run({"RPUSH", key, "not a lock"});
  return [key] {
    return tests::RedisClient(server().port()).run({"LRANGE", key, "0", "-1"}) == "[not a lock]";
  };
}

// The server judges by a time that the test moves.
Place movable_place() {
  const auto now = std::make_shared<std::atomic<std::chrono::microseconds>>(
      std::chrono::duration_cast<std::chrono::microseconds>(
          std::chrono::system_clock::now().time_since_epoch()));
  const std::string prefix = fresh_prefix();
  return {
      .open = [now, prefix]() -> std::shared_ptr<store::LeaseStore> {
        return base::value_or_throw(
            RedisStore::open(options(prefix), [now] { return now->load(); }));
      },
      .advance =
          [now](base::Duration by) {
            *now = now->load() + std::chrono::ceil<std::chrono::microseconds>(by);
          },
      .plant_foreign =
          [prefix](std::string_view name) { return plant_foreign(prefix + std::string(name)); }};
}

// Names that are not in use are forgotten nearly at once: there is nothing to clean up.
Place real_time_place() {
  const std::string prefix = fresh_prefix();
  return {
      .open = [prefix]() -> std::shared_ptr<store::LeaseStore> {
        RedisOptions forgetful = options(prefix);
        forgetful.retention = std::chrono::milliseconds(1);
        return base::value_or_throw(RedisStore::open(std::move(forgetful)));
      },
      .url = server().url() + "?retention=1ms&prefix=" + prefix,
      .clean_up = [] {},
      .plant_foreign =
          [prefix](std::string_view name) { return plant_foreign(prefix + std::string(name)); }};
}

}  // namespace

testing::EngineUnderTest redis_engine() {
  return {.name = "redis",
          .make_place = movable_place,
          .make_real_time_place = real_time_place,
          .taker = HOLDFAST_TAKER};
}

testing::EngineUnderTest redis_engine_in_real_time() {
  return {.name = "redis_in_real_time", .make_place = real_time_place, .taker = HOLDFAST_TAKER};
}

}  // namespace holdfast::conformance
