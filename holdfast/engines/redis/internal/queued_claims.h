#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

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
  // A claim that was not refused again for so long is forgotten: its caller may have gone without
  // releasing it. The server's queue expires after the same time.
  static constexpr base::Duration kForgotten = std::chrono::seconds(60);

  [[nodiscard]] bool is_empty() const noexcept {
    return count_.load(std::memory_order_relaxed) == 0;
  }
  [[nodiscard]] bool contains(std::string_view name, const base::LeaseId& id) const;
  // Returns whether any claim may be in the queue of this name.
  [[nodiscard]] bool contains(std::string_view name) const;

  // Notes that the claim was refused, and waits, or that its answer was lost.
  void add(std::string_view name, const base::LeaseId& id, base::TimePoint now);
  // Returns whether it was here.
  bool remove(std::string_view name, const base::LeaseId& id);

  // Notes that the claim is about to be sent, and may join the queue: the server may grant it the
  // name before its answer is read.
  void may_join(const base::LeaseId& id);

  // Returns whether it was removed, as one of the last 1,024, and has not been sent again. The
  // server may have it in the queue all the same: a replica that has become the master may have
  // missed what took it out.
  [[nodiscard]] bool was_removed(std::string_view name, const base::LeaseId& id) const;

 private:
  struct Claim {
    base::LeaseId id;
    base::TimePoint refused;
  };
  // Those of one name: seldom more than one.
  using Claims = std::vector<Claim>;

  static constexpr std::size_t kRemembered = 1024;

  void forget_the_old(base::TimePoint now) HOLDFAST_REQUIRES(mutex_);
  void remember_removed(const base::LeaseId& id) HOLDFAST_REQUIRES(mutex_);

  std::atomic<std::size_t> count_ = 0;  // of names; written under mutex_, read without
  mutable base::Mutex mutex_;
  std::map<std::string, Claims, std::less<>> by_name_ HOLDFAST_GUARDED_BY(mutex_);
  base::TimePoint looked_through_ HOLDFAST_GUARDED_BY(mutex_){};
  // A ring: the oldest of kRemembered is at oldest_removed_.
  std::vector<base::LeaseId> removed_ HOLDFAST_GUARDED_BY(mutex_);
  std::size_t oldest_removed_ HOLDFAST_GUARDED_BY(mutex_) = 0;
};

}  // namespace holdfast::engines::redis::internal
