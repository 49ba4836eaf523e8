#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/base/ids.h>
#include <holdfast/base/ttl.h>
#include <holdfast/local/lease_info.h>

namespace holdfast::local {

namespace internal {
class LeaseShards;
class LeaseSweeper;
}  // namespace internal

struct LeaseTableOptions {
  // Judges every lease; outlives the table.
  const base::Clock* clock = &base::steady_clock();
  // From one background sweep to the next, by the same clock; zero for none.
  base::Duration sweep_every = std::chrono::minutes(1);
};

// Locks by key and owner that end by themselves: an in-process table of leases.
//
// Thread-safe. Nothing blocks, but for the moment it takes another thread to finish its own call.
// A background thread removes expired leases at a steady cadence, in slices so small that callers
// do not notice; it stops at once when the table is destroyed.
//
// Time is the injected clock's; the default does not count the time the machine was suspended. A
// lease lasts at least its ttl; one of five seconds or more may last longer by the clock's
// `coarse_lag()` (some 50 ms).
//
// Guaranteed: among racing callers one gets the key; an expired lease is taken over in the same
// step, whether or not it was swept; the tokens of a key only ever grow while the table lives; the
// sweep removes a lease only if it is the very one that has expired.
// **Not** re-entrant: an owner that holds a key is refused like anybody else (it can `renew`).
// Not guaranteed: that the holder of an expired lease has stopped. Give the token to the resource.
//
// Keys and owners are any bytes, of any length. An empty one is ErrorCode::invalid_argument, as is
// a ttl that is not positive or beyond the end of time. Throws std::bad_alloc, with nothing
// changed.
//
//   LeaseTable table;
//   auto token = table.try_lock("invoice:42", "worker-7", 30s);
//   if (token && *token) { … table.unlock("invoice:42", "worker-7"); }
class LeaseTable {
 public:
  explicit LeaseTable(LeaseTableOptions options = {});
  ~LeaseTable();
  LeaseTable(const LeaseTable&) = delete;
  LeaseTable& operator=(const LeaseTable&) = delete;

  // The token of the new lease, or nothing if the key is leased.
  [[nodiscard]] base::Result<std::optional<base::FencingToken>> try_lock(std::string_view key,
                                                                         std::string_view owner,
                                                                         base::Ttl ttl);

  // Extends the owner's lease to `ttl` from now, never shortens it; the token stays.
  // ErrorCode::not_held if the lease has expired, or is another's, or there is none.
  base::Result<base::FencingToken> renew(std::string_view key, std::string_view owner,
                                         base::Ttl ttl);

  // Ends the lease, whoever owns it. ErrorCode::not_held if there is none.
  base::Result<void> unlock(std::string_view key);
  // Ends the owner's lease. A lease that has expired counts as long as nobody took it over: the key
  // was the owner's until now. ErrorCode::not_held if it is another's or there is none.
  base::Result<void> unlock(std::string_view key, std::string_view owner);

  // Whether a lease of this owner guards the key now.
  [[nodiscard]] bool is_locked_by(std::string_view key, std::string_view owner) const;
  // Whether no lease guards the key now: it has expired, or there is none. (Which of the two
  // depends on the sweep.)
  [[nodiscard]] bool is_lock_expired(std::string_view key) const;
  // Nothing if no lease guards the key now.
  [[nodiscard]] std::optional<base::Duration> time_left(std::string_view key) const;

  // Leases in the table, expired ones that were not swept yet included.
  [[nodiscard]] std::size_t size() const;
  // The same, each with what is known of it. Not one moment for all of them.
  [[nodiscard]] std::vector<LeaseInfo> snapshot() const;

  // Removes what has expired by now; when it returns, no lease that had expired before the call is
  // left. Waits for a sweep that is under way.
  SweepReport sweep_now();
  // How many background sweeps have ended.
  [[nodiscard]] std::uint64_t sweeps() const noexcept;

 private:
  const std::unique_ptr<internal::LeaseShards> shards_;
  const std::unique_ptr<internal::LeaseSweeper> sweeper_;
};

}  // namespace holdfast::local
