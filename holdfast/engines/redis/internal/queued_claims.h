#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include <holdfast/base/clock.h>
#include <holdfast/base/ids.h>
#include <holdfast/base/mutex.h>

namespace holdfast::engines::redis::internal {

// The claims of this store that may be in the queue of a name on the server. Whatever ends such a
// claim (a grant, a release, a transfer) must remove it from that queue, too.
//
// Thread-safe. Times are of base::boot_clock().
class QueuedClaims {
 public:
  // A claim that was not sent for so long is forgotten: its caller may have gone without releasing
  // it. The server's queue expires after the same time.
  static constexpr base::Duration kForgotten = std::chrono::seconds(60);

  [[nodiscard]] bool is_empty() const noexcept {
    return count_.load(std::memory_order_relaxed) == 0;
  }
  [[nodiscard]] bool contains(std::string_view name, const base::LeaseId& id) const;

  // Call before the claim is sent. Returns whether it is new here.
  bool add(std::string_view name, const base::LeaseId& id, base::TimePoint now);
  // Returns whether it was here.
  bool remove(std::string_view name, const base::LeaseId& id);

 private:
  // The id, then the name; and when the claim was last sent.
  using Map = std::map<std::string, base::TimePoint, std::less<>>;

  [[nodiscard]] static std::string key(std::string_view name, const base::LeaseId& id);
  void forget_the_old(base::TimePoint now) HOLDFAST_REQUIRES(mutex_);

  std::atomic<std::size_t> count_ = 0;  // of claims_
  mutable base::Mutex mutex_;
  Map claims_ HOLDFAST_GUARDED_BY(mutex_);
  base::TimePoint looked_through_ HOLDFAST_GUARDED_BY(mutex_){};
};

}  // namespace holdfast::engines::redis::internal
