#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <tests/support/leases.h>
#include <tests/support/mongo_client.h>
#include <tests/support/mongo_server.h>
#include <tests/support/patience.h>

#include <holdfast/engines/mongodb/mongo_store.h>

namespace holdfast::tests {

inline engines::mongodb::MongoOptions options_for(const MongoServer& server) {
  return {.uri = server.url(), .database = server.database()};
}

inline std::unique_ptr<store::LeaseStore> store_on(engines::mongodb::MongoOptions options) {
  return base::value_or_throw(engines::mongodb::open_store(std::move(options)));
}

inline std::unique_ptr<store::LeaseStore> store_on(const MongoServer& server) {
  return store_on(options_for(server));
}

// A database on a server, a store there, and a client that sees what the store has put there.
class MongoTest : public ::testing::Test {
 protected:
  static constexpr std::string_view kCollection = "distributed.locks";

  explicit MongoTest(const MongoServer::Options& options = {}) : server_(options) {}

  std::string run(const std::string& command) { return client_.run(server_.database(), command); }
  std::string document(std::string_view id) {
    return client_.document(server_.database(), kCollection, id);
  }
  // One that is not Holdfast's; as JSON.
  void plant(const std::string& json) {
    run(R"({"insert": "distributed.locks", "documents": [)" + json + "]}");
  }
  store::RenewOutcome renew(std::string_view name, const base::LeaseId& id,
                            base::Ttl ttl = std::chrono::minutes(10)) {
    const store::Renewal renewal{.name = name, .id = id, .ttl = ttl};
    return base::value_or_throw(store_->renew({&renewal, 1})).at(0);
  }
  store::ReleaseOutcome release(std::string_view name, const base::LeaseId& id) {
    return base::value_or_throw(store_->release(name, id));
  }
  std::vector<store::Holder> holders(std::string_view name) {
    const auto state = base::value_or_throw(store_->look(name));
    return state ? state->holders : std::vector<store::Holder>();
  }

  MongoServer server_;
  MongoClient client_{server_.url()};
  std::unique_ptr<store::LeaseStore> store_ = store_on(server_);
};

}  // namespace holdfast::tests
