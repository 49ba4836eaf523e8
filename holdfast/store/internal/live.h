#pragma once

#include <holdfast/store/record.h>

// The parts of a record that still count at a moment.
namespace holdfast::store::internal {

inline bool is_live(const StoredLease& lease, const Instant& now) noexcept {
  return lease.expires > now.time;
}
inline bool is_live(const StoredWait& wait, const Instant& now) noexcept {
  return wait.until > now.time;
}
inline bool is_live(const StoredHits& hits, const Instant& now) noexcept {
  return hits.ends > now.time;
}

inline bool has_live_lease(const Record& record, const Instant& now) noexcept {
  return record.leases.last_expiry() > now.time;
}
inline bool has_live_fixed_window(const Record& record, const Instant& now) noexcept {
  return record.hits > 0 && record.window_ends > now.time;
}
inline bool has_live_sliding_window(const Record& record, const Instant& now) noexcept {
  return !record.log.empty() && is_live(record.log.back(), now);
}
inline bool has_live_window(const Record& record, const Instant& now) noexcept {
  return has_live_fixed_window(record, now) || has_live_sliding_window(record, now);
}

}  // namespace holdfast::store::internal
