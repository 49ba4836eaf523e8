#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include <holdfast/base/printable.h>

#include "apps/holdfast/child/story.h"
#include "apps/holdfast/cli/text.h"

namespace holdfast::cli {

Story::Story(Session& session, std::string name, base::Duration ttl)
    : session_(session), name_(std::move(name)), ttl_(ttl) {
  begin();
}

void Story::begin() {
  const base::MutexLock guard(mutex_);
  acquired_ = base::boot_clock().now();
  renewed_ = acquired_;
  failing_since_.reset();
}

locks::ProviderOptions Story::provider_options(const std::string& owner) {
  return {.owner = owner,
          .logger = session_.logger(),
          .metrics = {.count =
                          [this](std::string_view counter, std::string_view, std::uint64_t by) {
                            if (by > 0) {
                              count(counter);
                            }
                          },
                      .observe = {}},
          .warn_after = base::Duration::max()};  // WaitLine tells about waits
}

void Story::count(std::string_view counter) {
  const base::TimePoint now = base::boot_clock().now();
  if (counter == "renewed") {
    {
      const base::MutexLock guard(mutex_);
      renewed_ = now;
      failing_since_.reset();
    }
    session_.tell("renewed", name_, "renewed " + base::printable(name_));
  } else if (counter == "renew_failed") {
    const base::MutexLock guard(mutex_);
    failing_since_ = failing_since_.value_or(now);
  }
}

std::string Story::cause_of_loss() const {
  const base::MutexLock guard(mutex_);
  const base::TimePoint now = base::boot_clock().now();
  if (failing_since_) {
    return "the store has been unreachable for " + rough(now - *failing_since_);
  }
  if (now - renewed_ >= ttl_) {
    return fmt::format("its lease expired, because it was not renewed for {}",
                       rough(now - renewed_));
  }
  return "its lease was stolen, or the store no longer has it";
}

void Story::tell_new_holder(const base::LeaseId& lost) {
  if (!session_.verbose()) {
    return;
  }
  const auto patience = base::Deadline::after(base::steady_clock(), std::chrono::seconds(1));
  const auto state = session_.store()->look(name_, patience);
  if (!state) {
    session_.tell("lost", name_, "store unreachable: " + state.error().message);
  } else if (*state && !(*state)->holders.empty() && (*state)->holders.front().id != lost) {
    session_.tell(
        "lost", name_,
        base::printable(name_) + " is now held by " + holder_text((*state)->holders.front()));
  } else {
    session_.tell("lost", name_, base::printable(name_) + " is free now");
  }
}

void Story::tell_released() {
  const base::MutexLock guard(mutex_);
  session_.tell("released", name_,
                fmt::format("released {} after {}", base::printable(name_),
                            rough(base::boot_clock().now() - acquired_)));
}

}  // namespace holdfast::cli
