#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/base/ids.h>
#include <holdfast/base/log.h>
#include <holdfast/base/ttl.h>
#include <holdfast/local/lease_info.h>

namespace holdfast::local {

namespace internal {
class LeaseShards;
class LeaseSweeper;
}  // namespace internal

struct LeaseTableOptions {
  // The clock that judges every lease; must outlive the table.
  const base::Clock* clock = &base::steady_clock();
  // The time from one background sweep to the next, by the same clock; zero for none.
  base::Duration sweep_every = std::chrono::minutes(1);
  // Receives a debug line for each sweep that removed a lease, and a warning for a background sweep
  // that took longer than `sweep_every`.
  base::Logger logger{};
  // Called after each sweep, by the thread that swept: a place for metrics (`left` is the size of
  // the table). No lock is held, so it may call the table. Must not throw.
  std::function<void(const SweepReport&)> on_sweep{};
};

// An in-process table of leases: locks by key and owner that expire.
//
// Thread-safe. Calls do not block, except for the moment another thread needs to finish its own
// call. A background thread removes expired leases at a steady cadence, in slices so small that
// callers do not notice. After a sweep that took longer than the cadence the next one starts at
// once, and the one after it at its usual time; sweeps never overlap. The thread stops at once when
// the table is destroyed.
//
// Time is the injected clock's; the default does not count the time the machine was suspended. A
// lease lasts at least its ttl; one of five seconds or more may last longer by the clock's
// `coarse_lag()` (some 50 ms).
//
// Guaranteed: one of several racing callers gets the key; an expired lease is taken over in the
// same step, whether or not it was swept; the tokens of a key only ever grow while the table lives;
// the sweep never removes a lease that replaced an expired one. **Not** re-entrant: an owner that
// holds a key is refused like any other (it can `renew`). Not guaranteed: that the holder of an
// expired lease has stopped. Pass the token to the resource.
//
// Keys and owners are any bytes, of any length. An empty one is ErrorCode::invalid_argument, as is
// a ttl that is not positive or beyond the end of time. Throws std::bad_alloc, with nothing
// changed.
//
//   LeaseTable table;
//   auto token = table.try_lock("invoice:42", "worker-7", 30s);
//   if (token && *token) { … table.unlock("invoice:42", **token); }
class LeaseTable {
 public:
  LeaseTable() : LeaseTable(LeaseTableOptions{}) {}
  explicit LeaseTable(LeaseTableOptions options);
  ~LeaseTable();
  LeaseTable(const LeaseTable&) = delete;
  LeaseTable& operator=(const LeaseTable&) = delete;

  // Returns the token of the new lease, or nullopt if the key is leased.
  [[nodiscard]] base::Result<std::optional<base::FencingToken>> try_lock(std::string_view key,
                                                                         std::string_view owner,
                                                                         base::Ttl ttl);

  // Extends the owner's lease to `ttl` from now, and never shortens it; the token does not change.
  // ErrorCode::not_held if the owner has no lease on the key, or it has expired.
  base::Result<base::FencingToken> renew(std::string_view key, std::string_view owner,
                                         base::Ttl ttl);

  // Ends the lease of any owner. ErrorCode::not_held if there is none.
  base::Result<void> unlock(std::string_view key);
  // Ends the owner's lease. An expired lease still counts if no other owner took it over.
  // ErrorCode::not_held if the lease belongs to another owner or there is none.
  base::Result<void> unlock(std::string_view key, std::string_view owner);
  // Ends this very lease, and never a later one of the same owner. An expired lease still counts if
  // no other lease replaced it. ErrorCode::not_held if the token is not that of the key's lease.
  base::Result<void> unlock(std::string_view key, base::FencingToken token);

  // Returns whether a lease of this owner is valid for the key now.
  [[nodiscard]] bool is_locked_by(std::string_view key, std::string_view owner) const;
  // Returns whether the key has no valid lease now: its lease has expired, or there is none. (Which
  // of the two depends on the sweep.)
  [[nodiscard]] bool is_lock_expired(std::string_view key) const;
  // Returns nullopt if the key has no valid lease now.
  [[nodiscard]] std::optional<base::Duration> time_left(std::string_view key) const;

  // Returns the number of leases in the table, including expired ones that were not swept yet.
  [[nodiscard]] std::size_t size() const;
  // Returns the same leases with their state. Not one moment for all of them.
  [[nodiscard]] std::vector<LeaseInfo> snapshot() const;

  // Removes expired leases; when it returns, every lease that had expired before the call is
  // removed. Waits for a sweep that is under way.
  SweepReport sweep_now();
  // Returns how many background sweeps have ended.
  [[nodiscard]] std::uint64_t sweeps() const noexcept;

 private:
  const std::unique_ptr<internal::LeaseShards> shards_;
  const std::unique_ptr<internal::LeaseSweeper> sweeper_;
};

}  // namespace holdfast::local
