#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <tests/support/mongo_client.h>

namespace holdfast::tests {

// A program of another fleet: does, literally and with the plain driver, what
// DistributedLock.MongoDB says that it does. One findAndModify with a pipeline that takes the lock
// if it is free or has expired; an update that extends it; a delete at release. Not thread-safe.
class FleetMember {
 public:
  FleetMember(const std::string& url, std::string database)
      : client_(url), database_(std::move(database)) {}

  // The fencing token, if it has the lock now.
  std::optional<std::int64_t> try_acquire(const std::string& name, std::int64_t expiry_ms);
  bool extend(const std::string& name, std::int64_t expiry_ms);
  bool release(const std::string& name);

 private:
  MongoClient client_;
  const std::string database_;
  std::string lock_id_;
};

}  // namespace holdfast::tests
