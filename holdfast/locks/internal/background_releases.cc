#include <holdfast/locks/internal/background_releases.h>

#include <algorithm>
#include <exception>
#include <utility>
#include <variant>

#include <holdfast/base/saturate.h>

namespace holdfast::locks::internal {

namespace {

using base::ErrorCode;
using steps::Step;

constexpr base::Duration kPatience = std::chrono::seconds(1);
// After a request that the store did not answer.
constexpr base::Duration kPause = std::chrono::milliseconds(100);

// Returns whether to ask again.
bool is_unanswered(const base::Result<store::ReleaseOutcome>& released) {
  return !released && (released.error().code == ErrorCode::unavailable ||
                       released.error().code == ErrorCode::unknown_outcome);
}

}  // namespace

BackgroundReleases::BackgroundReleases(store::LeaseStore& store, const Runtime& runtime)
    : runtime_(runtime), releasing_(runtime.background(*this, store, runtime.request_clock())) {}

BackgroundReleases::~BackgroundReleases() {
  stop();
  releasing_->join();
}

void BackgroundReleases::add(std::string_view name, const base::LeaseId& id,
                             base::Duration lasts) noexcept {
  try {
    {
      const base::MutexLock lock(mutex_);
      if (stopped_) {
        return;
      }
      if (claims_.size() == kMost) {
        claims_.pop_front();
      }
      claims_.push_back(
          {std::string(name), id, base::Deadline::after(runtime_.request_clock(), lasts)});
    }
    // Without a thread the lease runs out by itself, as after a crash.
    static_cast<void>(releasing_->start());
    releasing_->wake();
  } catch (const std::exception&) {
    return;  // no memory: the same
  }
}

void BackgroundReleases::stop() noexcept {
  {
    const base::MutexLock lock(mutex_);
    stopped_ = true;
  }
  releasing_->wake();
}

std::size_t BackgroundReleases::size() const {
  const base::MutexLock lock(mutex_);
  return claims_.size();
}

Step BackgroundReleases::next() {
  const base::MutexLock lock(mutex_);
  const base::TimePoint now = runtime_.request_clock().now();
  if (stopped_) {
    return {};
  }
  if (now < pauses_until_) {
    return Step::wait_until(pauses_until_);
  }
  while (!claims_.empty()) {
    asked_ = std::move(claims_.front());
    claims_.pop_front();
    if (!asked_.until.expired(now)) {
      const base::Deadline soon = base::Deadline::at(base::add_saturating(now, kPatience));
      return {.kind = Step::Kind::release,
              .name = asked_.name,
              .id = asked_.id,
              .deadline = std::min(asked_.until, soon)};
    }
  }
  return Step::wait_until(base::TimePoint::max());
}

Step BackgroundReleases::on(steps::Answer&& answer) {
  const auto* const released = std::get_if<base::Result<store::ReleaseOutcome>>(&answer);
  if (released != nullptr && is_unanswered(*released)) {
    pauses_until_ = base::add_saturating(runtime_.request_clock().now(), kPause);
    const base::MutexLock lock(mutex_);
    if (claims_.size() < kMost) {
      claims_.push_back(std::move(asked_));
    }
  }
  return next();
}

Step BackgroundReleases::on_exception() { return next(); }

}  // namespace holdfast::locks::internal
