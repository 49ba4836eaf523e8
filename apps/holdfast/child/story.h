#pragma once

#include <optional>
#include <string>

#include <holdfast/base/clock.h>
#include <holdfast/base/mutex.h>
#include <holdfast/locks/lock.h>
#include <holdfast/locks/lock_provider.h>

#include "apps/holdfast/cli/session.h"

namespace holdfast::cli {

// Follows a lock from its first renewal to its release, tells about it with -v, and knows why it
// was lost. Thread-safe. Outlives the provider that its options are for.
class Story {
 public:
  Story(Session& session, std::string name, base::Duration ttl);

  // Returns options for the provider of this lock, which reports its renewals here.
  [[nodiscard]] locks::ProviderOptions provider_options(const std::string& owner);

  // Returns why the lock was lost, or is about to be. Does not ask the store.
  [[nodiscard]] std::string cause_of_loss() const;
  // With -v, asks the store and tells which holder has the name after a loss.
  void tell_new_holder(const base::LeaseId& lost);
  void tell_released();
  // To be called when the lock is acquired.
  void begin();

 private:
  void count(std::string_view counter);

  Session& session_;
  const std::string name_;
  const base::Duration ttl_;
  mutable base::Mutex mutex_;
  base::TimePoint acquired_ HOLDFAST_GUARDED_BY(mutex_);
  base::TimePoint renewed_ HOLDFAST_GUARDED_BY(mutex_);
  std::optional<base::TimePoint> failing_since_ HOLDFAST_GUARDED_BY(mutex_);
};

}  // namespace holdfast::cli
