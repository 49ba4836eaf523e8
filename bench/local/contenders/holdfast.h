#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include <holdfast/base/clock.h>
#include <holdfast/base/manual_clock.h>
#include <holdfast/local/key_lock.h>
#include <holdfast/local/lease_table.h>

namespace holdfast::bench {

class HoldfastKeyLock {
 public:
  static constexpr std::string_view kName = "holdfast";

  auto lock(const std::string& key) { return locks_.lock(key); }
  auto lock_shared(const std::string& key) { return locks_.lock_shared(key); }

 private:
  local::KeyLock locks_;
};

// A table without background sweeps, so that no measurement includes a sweep by chance.
class HoldfastLeases {
 public:
  static constexpr std::string_view kName = "holdfast";

  explicit HoldfastLeases(const base::Clock& clock = base::steady_clock())
      : table_({.clock = &clock, .sweep_every = base::Duration::zero()}) {}

  bool try_lock(const std::string& key, const std::string& owner, std::chrono::seconds ttl) {
    const auto token = table_.try_lock(key, owner, ttl);
    return token.has_value() && token->has_value();
  }
  bool unlock(const std::string& key, const std::string& owner) {
    return table_.unlock(key, owner).has_value();
  }
  local::SweepReport sweep() { return table_.sweep_now(); }

 private:
  local::LeaseTable table_;
};

// The same on a clock that can be set, with the report of the last sweep.
class HoldfastSweptLeases {
 public:
  static constexpr std::string_view kName = HoldfastLeases::kName;

  bool try_lock(const std::string& key, const std::string& owner, std::chrono::seconds ttl) {
    return leases_.try_lock(key, owner, ttl);
  }
  bool unlock(const std::string& key, const std::string& owner) {
    return leases_.unlock(key, owner);
  }
  std::size_t sweep_in(std::chrono::seconds later) {
    clock_.advance(later);
    report_ = leases_.sweep();
    return report_.removed;
  }
  [[nodiscard]] const local::SweepReport& last_report() const { return report_; }

 private:
  base::ManualClock clock_;
  HoldfastLeases leases_{clock_};
  local::SweepReport report_;
};

}  // namespace holdfast::bench
