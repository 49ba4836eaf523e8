#pragma once

#include <cstdint>
#include <string>

#include <holdfast/engines/mongodb/internal/bson.h>
#include <holdfast/engines/mongodb/mongo_options.h>

namespace holdfast::engines::mongodb::internal {

// The number of servers that must have a change, and the longest time that the server waits for
// them. Thread-safe: constant.
class WriteConcern {
 public:
  explicit WriteConcern(const MongoOptions& options);

  void add_to(Bson& command) const;

 private:
  const std::string mode_;
  const std::int64_t timeout_;
};

}  // namespace holdfast::engines::mongodb::internal
