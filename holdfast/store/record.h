#pragma once

#include <cstdint>
#include <vector>

#include <holdfast/base/clock.h>
#include <holdfast/base/ids.h>
#include <holdfast/store/leases.h>

namespace holdfast::store {

// A claim that had to wait and holds back others that want less: see Claim::holds_back.
struct StoredWait {
  base::LeaseId id;
  std::uint32_t permits = 1;  // how many it wants, of the record's capacity
  base::TimePoint until;

  friend bool operator==(const StoredWait&, const StoredWait&) = default;
};

// Hits of a sliding window that stop counting at the same time.
struct StoredHits {
  base::TimePoint ends;
  std::uint32_t count = 0;

  friend bool operator==(const StoredHits&, const StoredHits&) = default;
};

// Everything that a store keeps for one name.
//
// A record without live leases, waits and hits is a tombstone: it only remembers the last
// token. A store may forget it if it sees to it that later tokens of the name are greater still
// (Instant::token_floor).
struct Record {
  std::uint64_t last_token = 0;
  std::uint32_t capacity = 1;
  Leases leases;

  std::vector<StoredWait> waits{};  // in the order of their last refusals

  // The current fixed window of `hit`; none if there were no hits.
  std::uint32_t hits = 0;
  base::TimePoint window_ends{};
  // The sliding one, the first to end first. Not both at a time.
  std::vector<StoredHits> log{};

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
