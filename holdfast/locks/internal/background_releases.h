#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <thread>

#include <holdfast/base/deadline.h>
#include <holdfast/base/ids.h>
#include <holdfast/base/mutex.h>
#include <holdfast/store/lease_store.h>

namespace holdfast::locks::internal {

// Releases claims whose callers have no time left to do so: a thread of its own, started with the
// first of them.
//
// Thread-safe. A claim is released until the store answers, or until its lease has run out by
// itself. When there are too many, the oldest are left to run out. Destruction waits for the
// request under way, a second at most, and leaves the others to run out.
class BackgroundReleases {
 public:
  // `store` outlives it.
  explicit BackgroundReleases(store::LeaseStore& store) noexcept : store_(store) {}
  ~BackgroundReleases();
  BackgroundReleases(const BackgroundReleases&) = delete;
  BackgroundReleases& operator=(const BackgroundReleases&) = delete;

  // `lasts` is how long the lease lasts at most, if it was granted.
  void add(std::string_view name, const base::LeaseId& id, base::Duration lasts) noexcept;
  // Releases nothing more.
  void stop() noexcept;

 private:
  static constexpr std::size_t kMost = 4096;

  struct Claim {
    std::string name;
    base::LeaseId id;
    base::Deadline until;
  };

  void run();
  // Blocks for a while, or until it is stopped.
  void pause() HOLDFAST_REQUIRES(mutex_);
  // Returns whether the claim is done with.
  [[nodiscard]] bool release(const Claim& claim);

  store::LeaseStore& store_;
  base::Mutex mutex_;
  base::ConditionVariable changed_;
  std::deque<Claim> claims_ HOLDFAST_GUARDED_BY(mutex_);
  bool stopped_ HOLDFAST_GUARDED_BY(mutex_) = false;
  std::thread thread_ HOLDFAST_GUARDED_BY(mutex_);
};

}  // namespace holdfast::locks::internal
