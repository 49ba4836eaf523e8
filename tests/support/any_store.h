#pragma once

#include <memory>
#include <optional>
#include <string>

#include <tests/support/redis_server.h>
#include <tests/support/temporary_folder.h>

#include <holdfast/engines/open_store.h>
#include <holdfast/testing/faulty_store.h>

namespace holdfast::tests {

// A store of any kind that needs no server of somebody else: "memory", "sqlite" or "redis", behind
// a FaultyStore that counts its calls.
class AnyStore {
 public:
  explicit AnyStore(const std::string& engine) {
    std::string url = "memory:";
    if (engine == "sqlite") {
      url = "sqlite:" + (folder_.emplace() / "locks.db").string();
    } else if (engine == "redis") {
      url = server_.emplace().url();
    }
    store_ = std::make_shared<testing::FaultyStore>(base::value_or_throw(engines::open_store(url)));
  }

  [[nodiscard]] const std::shared_ptr<testing::FaultyStore>& operator*() const { return store_; }
  [[nodiscard]] testing::FaultyStore* operator->() const { return store_.get(); }

 private:
  std::optional<TemporaryFolder> folder_;
  std::optional<RedisServer> server_;
  std::shared_ptr<testing::FaultyStore> store_;
};

}  // namespace holdfast::tests
