#pragma once

#include <optional>
#include <string>
#include <vector>

#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/engines/redis/internal/judgement.h>

// Judges a master with its replicas and its Sentinels by what they say of themselves. Pure.
namespace holdfast::engines::redis::internal {

// A replica, as its master sees it.
struct Replica {
  std::string host{};
  std::uint16_t port = 0;
  std::string state{};  // online, or how far it is
  long lag = 0;         // seconds since it last said how far it is

  friend bool operator==(const Replica&, const Replica&) = default;
};

// Reads the lines slave0, slave1, … of INFO.
[[nodiscard]] std::vector<Replica> replicas_of(const Info& info);

// The settings that let a master refuse writes without replicas.
struct ReplicaSettings {
  long to_write = 0;         // min-replicas-to-write
  long max_lag_seconds = 0;  // min-replicas-max-lag
};

// `settings` are missing if the server does not show them. Returns nullopt if there is nothing to
// say: no replicas, and none asked for.
[[nodiscard]] std::optional<Finding> judge_min_replicas(
    const Info& info, const std::optional<ReplicaSettings>& settings);

// The answers of one Sentinel.
struct SentinelView {
  std::string address;
  base::Result<void> answers{};  // or why it does not
  std::string master{};          // "host:port"; empty: it does not know the name
  long quorum = 0;
  long others = 0;      // Sentinels that it knows
  long down_after = 0;  // milliseconds
  std::string check{};  // the answer to SENTINEL CKQUORUM
};

[[nodiscard]] Finding judge_sentinels(const std::vector<SentinelView>& views);

// The clock of a replica.
struct ReplicaClock {
  std::string address;
  base::Result<base::Duration> ahead;  // of the master's
};

[[nodiscard]] Finding judge_replica_clocks(const std::vector<ReplicaClock>& clocks);

}  // namespace holdfast::engines::redis::internal
