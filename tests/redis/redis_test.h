#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <tests/support/leases.h>
#include <tests/support/patience.h>
#include <tests/support/redis_client.h>
#include <tests/support/redis_server.h>

#include <holdfast/engines/redis/redis_store.h>

namespace holdfast::tests {

// Never leaves a name free for clients that poll, unless a test wants it: when that is depends on
// the server's clock.
inline std::unique_ptr<store::LeaseStore> open_store(std::uint16_t port,
                                                     base::Duration yield_every = {}) {
  return base::value_or_throw(
      engines::redis::open_store({.host = "127.0.0.1", .port = port, .yield_every = yield_every}));
}

// A server, a store on it, and a client that sees what the store has put there.
class RedisTest : public ::testing::Test {
 protected:
  std::string run(const std::vector<std::string>& words) { return client_.run(words); }
  // Returns how often the server was asked for this command since it started.
  int calls(const std::string& command) {
    const std::string stats = run({"INFO", "commandstats"});
    const std::string key = "cmdstat_" + command + ":calls=";
    const std::size_t found = stats.find(key);
    return found == std::string::npos ? 0 : std::stoi(stats.substr(found + key.size()));
  }
  store::RenewOutcome renew(std::string_view name, const base::LeaseId& id) {
    const store::Renewal renewal{.name = name, .id = id, .ttl = std::chrono::minutes(10)};
    return base::value_or_throw(store_->renew({&renewal, 1})).at(0);
  }
  store::ReleaseOutcome release(std::string_view name, const base::LeaseId& id) {
    return base::value_or_throw(store_->release(name, id));
  }
  std::vector<store::Holder> holders(std::string_view name) {
    const auto state = base::value_or_throw(store_->look(name));
    return state ? state->holders : std::vector<store::Holder>();
  }

  RedisServer server_;
  RedisClient client_{server_.port()};
  std::unique_ptr<store::LeaseStore> store_ = open_store(server_.port());
};

}  // namespace holdfast::tests
