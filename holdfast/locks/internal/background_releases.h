#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include <holdfast/base/clock.h>
#include <holdfast/base/deadline.h>
#include <holdfast/base/ids.h>
#include <holdfast/base/mutex.h>
#include <holdfast/locks/internal/runtime.h>
#include <holdfast/locks/steps/procedure.h>
#include <holdfast/store/lease_store.h>

namespace holdfast::locks::internal {

// Releases claims whose callers have no time left to do so: in the background, in a thread of its
// own that starts with the first of them.
//
// Thread-safe. A claim is released until the store answers, or until its lease has run out by
// itself. When there are too many, the oldest are left to run out. Destruction waits for the
// request under way, a second at most, and leaves the others to run out.
class BackgroundReleases final : private steps::Procedure {
 public:
  // Both outlive it.
  BackgroundReleases(store::LeaseStore& store, const Runtime& runtime);
  ~BackgroundReleases() override;

  // `lasts` is how long the lease lasts at most, if it was granted.
  void add(std::string_view name, const base::LeaseId& id, base::Duration lasts) noexcept;
  // Releases nothing more.
  void stop() noexcept;
  // Returns how many claims wait for their release, without the one under way.
  [[nodiscard]] std::size_t size() const;

 private:
  static constexpr std::size_t kMost = 4096;

  struct Claim {
    std::string name;
    base::LeaseId id;
    base::Deadline until = base::Deadline::never();
  };

  [[nodiscard]] steps::Step start() override { return next(); }
  [[nodiscard]] steps::Step on(steps::Answer&& answer) override;
  [[nodiscard]] steps::Step on_exception() override;
  steps::Step next();

  const Runtime& runtime_;
  mutable base::Mutex mutex_;
  std::deque<Claim> claims_ HOLDFAST_GUARDED_BY(mutex_);
  bool stopped_ HOLDFAST_GUARDED_BY(mutex_) = false;

  // The procedure's alone.
  Claim asked_;                     // the release under way
  base::TimePoint pauses_until_{};  // after a request that the store did not answer

  const std::unique_ptr<Background> releasing_;  // last: it uses all of the above
};

}  // namespace holdfast::locks::internal
