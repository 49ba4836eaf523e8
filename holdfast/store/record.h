#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <holdfast/base/clock.h>
#include <holdfast/base/ids.h>

namespace holdfast::store {

// One lease as a store keeps it. Times are of the store's clock.
struct StoredLease {
  base::LeaseId id;
  std::string owner;
  std::string reason;
  std::uint32_t permits = 1;
  base::FencingToken token;
  base::TimePoint granted;
  base::TimePoint expires;

  friend bool operator==(const StoredLease&, const StoredLease&) = default;
};

// Everything that a store keeps for one name.
//
// A record without live leases and without a live window is a tombstone: it only remembers the last
// token. A store may forget it if it sees to it that later tokens of the name are greater still
// (Instant::token_floor).
struct Record {
  std::uint64_t last_token = 0;
  std::uint32_t capacity = 1;
  std::vector<StoredLease> leases;  // in the order in which they were granted

  // The current window of `hit`; none if there were no hits.
  std::uint32_t hits = 0;
  base::TimePoint window_ends{};

  friend bool operator==(const Record&, const Record&) = default;
};

// A moment of a store: its clock, and the least token that it may mint at this time. The latter is
// the wall clock in microseconds, or more where the store has forgotten records with greater
// tokens.
struct Instant {
  base::TimePoint time;
  std::uint64_t token_floor = 1;
};

}  // namespace holdfast::store
