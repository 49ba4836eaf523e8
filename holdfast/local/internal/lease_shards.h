#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>
#include <vector>

#include <holdfast/base/clock.h>
#include <holdfast/base/ids.h>
#include <holdfast/base/ttl.h>
#include <holdfast/local/internal/key_probe.h>
#include <holdfast/local/lease_info.h>

namespace holdfast::local::internal {

struct LeaseShard;
struct LeaseEntry;

// The leases behind LeaseTable. The caller has validated the arguments. Thread-safe.
class LeaseShards {
 public:
  explicit LeaseShards(const base::Clock& clock);
  ~LeaseShards();
  LeaseShards(const LeaseShards&) = delete;
  LeaseShards& operator=(const LeaseShards&) = delete;

  // Plain integers stand for missing values: an std::optional goes through memory, which costs a
  // third of such a short call.
  static constexpr std::int64_t kNoExpiry = std::numeric_limits<std::int64_t>::min();
  static constexpr std::uint64_t kRefused = 0;
  // Matches every owner.
  static constexpr std::string_view kAnyOwner{};

  // Returns `now + ttl` in nanoseconds of the clock; kNoExpiry if the ttl is not valid or the sum
  // is beyond the end of time. Reads the cheap clock where its error is small compared to the ttl,
  // and rounds up: a lease is never shorter than its ttl.
  [[nodiscard]] std::int64_t expiry_after(base::Ttl ttl) const noexcept;

  // Each of these is one atomic step, by the clock. Throws std::bad_alloc with nothing changed.
  // Returns the token, or kRefused.
  std::uint64_t try_lock(std::string_view key, std::string_view owner, std::int64_t expiry);
  std::uint64_t renew(std::string_view key, std::string_view owner, std::int64_t expiry) noexcept;
  bool unlock(std::string_view key, std::string_view owner) noexcept;
  bool unlock(std::string_view key, std::uint64_t token) noexcept;

  // Returns whether a lease of this owner is valid for the key now.
  [[nodiscard]] bool is_guarded(std::string_view key, std::string_view owner) const noexcept;
  [[nodiscard]] std::optional<base::Duration> time_left(std::string_view key) const noexcept;

  [[nodiscard]] std::size_t size() const noexcept;
  [[nodiscard]] std::vector<LeaseInfo> snapshot() const;
  // Removes each lease that has expired when the sweep reaches it, until stopped.
  SweepReport sweep(const std::stop_token& stop);

 private:
  template <class IsMeant>
  bool remove_if(std::string_view key, const IsMeant& is_meant) noexcept;
  // Returns whether the time has come, at the lowest cost.
  [[nodiscard]] bool has_passed(std::int64_t expiry) const noexcept;
  [[nodiscard]] base::TimePoint coarse_now() const noexcept;
  [[nodiscard]] LeaseShard& shard_of(const KeyProbe& probe) const noexcept;
  void sweep_shard(LeaseShard& shard, const std::stop_token& stop, SweepReport& report);

  const base::Clock& clock_;
  const base::SteadyClock* const steady_;  // the clock, if it is a SteadyClock: no virtual call
  const base::Duration coarse_lag_;
  const HashSeed seed_;
  const std::unique_ptr<LeaseShard[]> shards_;
};

}  // namespace holdfast::local::internal
