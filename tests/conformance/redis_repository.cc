#include <holdfast/engines/redis/redis_repository.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include <tests/support/redis_client.h>
#include <tests/support/redis_server.h>

#include "repositories.h"

namespace holdfast::conformance {

namespace {

using engines::redis::RedisOptions;
using testing::RepositoryPlace;
using tests::RedisClient;
using tests::RedisServer;

// Started when it is first needed: most runs of this program have nothing to do with it.
const RedisServer& server() {
  static const RedisServer kServer;
  return kServer;
}

// Every place has keys of its own.
std::string fresh_prefix() {
  static std::atomic<int> places{0};
  return "place" + std::to_string(++places) + ":";
}

// A loaded machine is slow, and slowness is not what is tested.
constexpr std::chrono::seconds kPatience{60};

RedisOptions options(const RedisServer& where, const std::string& prefix) {
  return {.host = "127.0.0.1",
          .port = where.port(),
          .prefix = prefix,
          .connect_timeout = kPatience,
          .reply_timeout = kPatience};
}

std::function<std::shared_ptr<store::ObjectRepository>()> opener(const RedisServer& where,
                                                                 const std::string& prefix) {
  return [&where, prefix]() -> std::shared_ptr<store::ObjectRepository> {
    return base::value_or_throw(engines::redis::open_repository(options(where, prefix)));
  };
}

// A key of another type.
std::function<bool()> plant_foreign(const std::string& prefix, const store::ObjectKey& key) {
  const std::string place = "hfo:{" + prefix + key.type + "}:" + key.id;
  RedisClient(server().port()).run({"RPUSH", place, "not an object"});
  return [place] {
    return RedisClient(server().port()).run({"LRANGE", place, "0", "-1"}) == "[not an object]";
  };
}

RepositoryPlace place() {
  const std::string prefix = fresh_prefix();
  return {.open = opener(server(), prefix),
          .url = server().url() + "?reply_timeout=60s&prefix=" + prefix,
          .plant_foreign = [prefix](const store::ObjectKey& key) {
            return plant_foreign(prefix, key);
          }};
}

// Every key that has an expiry has expired.
void expire(std::uint16_t port) {
  RedisClient(port).run(
      {"EVAL",
       "for _, key in ipairs(redis.call('KEYS', '*')) do "
       "if redis.call('PTTL', key) > 0 then redis.call('PEXPIRE', key, 1) end end",
       "0"});
}

// A server of its own, that writes everything to its disk.
RepositoryPlace frail_place() {
  const auto own = std::make_shared<RedisServer>(
      RedisServer::Options{.arguments = {"--appendonly", "yes", "--appendfsync", "always"}});
  return {.open = [own, open = opener(*own, "")] { return open(); },
          .hang = [own] { own->suspend(); },
          .go_on = [own] { own->resume(); },
          .restart = [own] { own->restart(); },
          .keeps_data = true,
          .outlast_retention = [own] { expire(own->port()); }};
}

}  // namespace

testing::RepositoryUnderTest redis_repository() {
  return {.name = "redis",
          .make_place = place,
          .make_frail_place = frail_place,
          .saver = HOLDFAST_SAVER};
}

}  // namespace holdfast::conformance
