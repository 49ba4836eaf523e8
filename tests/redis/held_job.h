#pragma once

#include <string>

#include <tests/redis/redis_test.h>

namespace holdfast::tests {

// A name, "job", that is held, and the queue of its waiters.
class HeldJob : public RedisTest {
 protected:
  static constexpr const char* kQueue = "hfq:{job}";
  // A release gives the name for seconds, the tests' own leases are for minutes.
  static constexpr base::Duration kShort = std::chrono::minutes(1);

  // Returns the holder; nil if there is none.
  base::LeaseId holder() {
    const auto all = holders("job");
    return all.empty() ? base::LeaseId() : all.front().id;
  }
  int in_queue() { return std::stoi(run({"ZCARD", kQueue})); }

  const store::Claim first_ = wish();
  const store::Grant granted_ = expect<store::Grant>(store_->claim("job", first_));
};

}  // namespace holdfast::tests
