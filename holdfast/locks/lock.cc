#include <holdfast/locks/lock.h>

#include <holdfast/locks/internal/provider_core.h>

namespace holdfast::locks {

using internal::Hold;

Lock::Lock(std::shared_ptr<Hold> hold) noexcept : hold_(std::move(hold)) {}

Lock& Lock::operator=(Lock&& other) noexcept {
  Lock old(std::exchange(hold_, std::exchange(other.hold_, nullptr)));
  return *this;
}

Lock::~Lock() {
  if (hold_ == nullptr) {
    return;
  }
  if (hold_->on_destroy == OnDestroy::keep) {
    detach();
    return;
  }
  try {
    if (const auto released = release(); !released) {
      const auto& logger = hold_->core->options.logger;
      logger.warn("could not release a lock, its lease will run out: " +
                  base::to_string(released.error()));
    }
  } catch (const std::exception& error) {
    hold_->core->options.logger.warn(error.what());
  }
}

std::stop_token Lock::lost() const {
  // Asked after the deadline but before the keeper came round: it has fired already.
  if (hold_ != nullptr && !check()) {
    hold_->lose();
  }
  return hold_ != nullptr ? hold_->lost() : std::stop_token();
}

base::Result<void> Lock::check() const {
  if (hold_ == nullptr || hold_->status() == Hold::Status::ended) {
    return base::fail(base::ErrorCode::not_held, "the lock was released");
  }
  if (hold_->status() == Hold::Status::lost || hold_->clock.now() >= hold_->valid_until()) {
    hold_->lose();
    return base::fail(base::ErrorCode::lost, "the lease was not renewed in time or taken away");
  }
  return {};
}

base::Duration Lock::time_left() const {
  return check() ? std::max(hold_->valid_until() - hold_->clock.now(), base::Duration::zero())
                 : base::Duration::zero();
}

base::Result<store::ReleaseOutcome> Lock::release() {
  if (hold_ == nullptr) {
    return store::ReleaseOutcome::not_held;
  }
  return hold_->core->release(*hold_);
}

base::Result<void> Lock::reduce(std::uint32_t permits) {
  if (auto ours = check(); !ours) {
    return ours;
  }
  if (permits > hold_->permits.count) {
    return base::fail(base::ErrorCode::invalid_argument,
                      "a lock cannot be reduced to more permits than it has");
  }
  return permits == hold_->permits.count ? base::Result<void>()
                                         : hold_->core->reduce(*hold_, permits);
}

base::LeaseId Lock::detach() noexcept {
  if (hold_ == nullptr) {
    return {};
  }
  const base::LeaseId id = hold_->id;
  hold_->core->abandon(*hold_);
  hold_ = nullptr;
  return id;
}

const std::string& Lock::name() const noexcept { return hold_->name; }
const base::LeaseId& Lock::id() const noexcept { return hold_->id; }
const std::string& Lock::owner() const noexcept { return hold_->owner; }
base::FencingToken Lock::token() const noexcept { return hold_->token; }
const store::Permits& Lock::permits() const noexcept { return hold_->permits; }

}  // namespace holdfast::locks
