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
            engines::redis::open_store(options(prefix), [now] { return now->load(); }));
      },
      .advance =
          [now](base::Duration by) {
            *now = now->load() + std::chrono::ceil<std::chrono::microseconds>(by);
          },
      .plant_foreign =
          [prefix](std::string_view name) { return plant_foreign(prefix + std::string(name)); }};
}

// Does what the server does when the retention of mutexes is over.
void forget_idle(const std::string& prefix) {
  tests::RedisClient(server().port())
      .run({"EVAL",
            "for _, note in ipairs(redis.call('KEYS', 'hf:{' .. ARGV[1] .. '*}')) do "
            "local plain = string.sub(note, 5, -2) "
            "if redis.call('TYPE', note).ok == 'string' and redis.call('EXISTS', plain) == 0 then "
            "redis.call('DEL', note) end end",
            "0", prefix});
}

Place real_time_place() {
  const std::string prefix = fresh_prefix();
  return {
      .open = [prefix]() -> std::shared_ptr<store::LeaseStore> {
        return base::value_or_throw(engines::redis::open_store(options(prefix)));
      },
      .url = server().url() + "?prefix=" + prefix,
      .clean_up = [prefix] { forget_idle(prefix); },
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
