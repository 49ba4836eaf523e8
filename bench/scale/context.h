#pragma once

#include <optional>
#include <string>
#include <vector>

#include <tests/support/postgres_server.h>
#include <tests/support/redis_server.h>

#include "bench/locks/measure.h"

namespace holdfast::bench_scale {

using bench_locks::Seconds;

// The things that rows share: how long to measure, and servers that start with their first use.
class Context {
 public:
  explicit Context(bool quick) : quick_(quick) {}

  [[nodiscard]] bool quick() const noexcept { return quick_; }
  // The time for which a rate is measured.
  [[nodiscard]] Seconds time() const noexcept { return Seconds(quick_ ? 0.02 : 1.0); }
  [[nodiscard]] std::string redis_url() {
    if (!redis_) redis_.emplace();
    return redis_->url();
  }
  // A server that does not wait for its disk, so that the figures are of the work and not of the
  // disk.
  [[nodiscard]] std::string postgresql_url() {
    if (!postgresql_) {
      postgresql_.emplace(
          tests::PostgresServer::Options{{"-c", "fsync=off", "-c", "max_connections=300"}});
    }
    return postgresql_->url();
  }

 private:
  const bool quick_;
  std::optional<tests::RedisServer> redis_;
  std::optional<tests::PostgresServer> postgresql_;
};

}  // namespace holdfast::bench_scale
