#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <tests/support/redis_client.h>
#include <tests/support/redis_server.h>
#include <tests/support/sentinel_set.h>

#include <holdfast/engines/redis/redis_store.h>
#include <holdfast/engines/redis/redis_url.h>

#include "engines.h"

namespace holdfast::conformance {

namespace {

using engines::redis::RedisOptions;
using testing::Place;

// The servers that the stores of some places share.
struct Servers {
  RedisOptions options;
  std::string url;     // of the same server, without options
  std::uint16_t port;  // where a plain client reaches it
};

// Started when they are first needed: most runs of this program have nothing to do with them.
const Servers& one_server() {
  static const tests::RedisServer kServer;
  static const Servers kServers{.options = {.host = "127.0.0.1", .port = kServer.port()},
                                .url = kServer.url(),
                                .port = kServer.port()};
  return kServers;
}

const Servers& servers_by_sentinel() {
  static const tests::SentinelSet kSet;
  static const Servers kServers{
      .options = base::value_or_throw(engines::redis::parse_redis_url(kSet.url())),
      .url = kSet.url(),
      .port = kSet.master_port()};
  return kServers;
}

// Every place has keys of its own.
std::string fresh_prefix() {
  static std::atomic<int> places{0};
  return "place" + std::to_string(++places) + ":";
}

RedisOptions with_prefix(RedisOptions options, const std::string& prefix) {
  options.prefix = prefix;
  return options;
}

// A key of another type.
std::function<bool()> plant_foreign(std::uint16_t port, const std::string& key) {
  tests::RedisClient(port).run({"RPUSH", key, "not a lock"});
  return [port, key] {
    return tests::RedisClient(port).run({"LRANGE", key, "0", "-1"}) == "[not a lock]";
  };
}

// The server judges by a time that the test moves.
Place movable_place(const Servers& servers) {
  const auto now = std::make_shared<std::atomic<std::chrono::microseconds>>(
      std::chrono::duration_cast<std::chrono::microseconds>(
          std::chrono::system_clock::now().time_since_epoch()));
  const std::string prefix = fresh_prefix();
  return {.open = [&servers, now, prefix]() -> std::shared_ptr<store::LeaseStore> {
            return base::value_or_throw(engines::redis::open_store(
                with_prefix(servers.options, prefix), [now] { return now->load(); }));
          },
          .advance =
              [now](base::Duration by) {
                *now = now->load() + std::chrono::ceil<std::chrono::microseconds>(by);
              },
          .plant_foreign =
              [port = servers.port, prefix](std::string_view name) {
                return plant_foreign(port, prefix + std::string(name));
              }};
}

// Does what the server does when the retention of mutexes is over.
void forget_idle(std::uint16_t port, const std::string& prefix) {
  tests::RedisClient(port).run(
      {"EVAL",
       "for _, note in ipairs(redis.call('KEYS', 'hf:{' .. ARGV[1] .. '*}')) do "
       "local plain = string.sub(note, 5, -2) "
       "if redis.call('TYPE', note).ok == 'string' and redis.call('EXISTS', plain) == 0 then "
       "redis.call('DEL', note) end end",
       "0", prefix});
}

Place real_time_place(const Servers& servers) {
  const std::string prefix = fresh_prefix();
  return {.open = [&servers, prefix]() -> std::shared_ptr<store::LeaseStore> {
            return base::value_or_throw(
                engines::redis::open_store(with_prefix(servers.options, prefix)));
          },
          .url = servers.url + "?prefix=" + prefix,
          .clean_up = [port = servers.port, prefix] { forget_idle(port, prefix); },
          .plant_foreign =
              [port = servers.port, prefix](std::string_view name) {
                return plant_foreign(port, prefix + std::string(name));
              }};
}

}  // namespace

testing::EngineUnderTest redis_engine() {
  return {.name = "redis",
          .make_place = [] { return movable_place(one_server()); },
          .make_real_time_place = [] { return real_time_place(one_server()); },
          .taker = HOLDFAST_TAKER};
}

testing::EngineUnderTest redis_engine_by_sentinel() {
  return {.name = "redis_by_sentinel",
          .make_place = [] { return movable_place(servers_by_sentinel()); },
          .make_real_time_place = [] { return real_time_place(servers_by_sentinel()); },
          .taker = HOLDFAST_TAKER};
}

testing::EngineUnderTest redis_engine_in_real_time() {
  return {.name = "redis_in_real_time",
          .make_place = [] { return real_time_place(one_server()); },
          .taker = HOLDFAST_TAKER};
}

}  // namespace holdfast::conformance
