#include <holdfast/locks/lock.h>

#include <holdfast/locks/internal/provider_core.h>
#include <holdfast/locks/steps/reduce_steps.h>
#include <holdfast/locks/steps/release_steps.h>
#include <holdfast/locks/steps/run_blocking.h>

namespace holdfast::locks {

namespace {

// Neither release nor reduce waits for anything but the store: the waker is never called.
void run(steps::Procedure& procedure, const Hold& hold) {
  steps::ThreadWaker waker;
  steps::run_blocking(procedure, {}, *hold.core->store, hold.clock, waker);
}

}  // namespace

Lock::Lock(std::shared_ptr<Hold> hold) noexcept : hold_(std::move(hold)) {}

Lock& Lock::operator=(Lock&& other) noexcept {
  Lock old(std::exchange(hold_, std::exchange(other.hold_, nullptr)));
  return *this;
}

Lock::~Lock() {
  if (released() || hold_->core->is_inherited()) {
    return;
  }
  if (hold_->on_destroy == OnDestroy::keep) {
    detach();
    return;
  }
  try {
    steps::ReleaseSteps release(*hold_);
    run(release, *hold_);
    release.warn_if_failed();
  } catch (const std::exception& error) {
    hold_->core->options.logger.warn(error.what());
  }
}

std::stop_token Lock::lost() const {
  if (hold_ == nullptr) {
    return {};
  }
  static_cast<void>(hold_->check());  // fires now if the deadline has passed unnoticed
  return hold_->lost();
}

base::Result<void> Lock::check() const {
  if (hold_ == nullptr) {
    return base::fail(base::ErrorCode::not_held, "the lock was released");
  }
  return hold_->check();
}

base::Duration Lock::time_left() const {
  return check() ? std::max(hold_->valid_until() - hold_->clock.now(), base::Duration::zero())
                 : base::Duration::zero();
}

base::Result<store::ReleaseOutcome> Lock::release() {
  if (hold_ == nullptr) {
    return store::ReleaseOutcome::not_held;
  }
  steps::ReleaseSteps release(*hold_);
  run(release, *hold_);
  return release.outcome();
}

base::Result<void> Lock::reduce(std::uint32_t permits) {
  if (hold_ == nullptr) {
    return check();
  }
  steps::ReduceSteps reduce(*hold_, permits);
  run(reduce, *hold_);
  return reduce.outcome();
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

bool Lock::released() const noexcept { return hold_ == nullptr || hold_->given_back(); }

LockState Lock::state() const {
  if (hold_ == nullptr) {
    return LockState::released;
  }
  if (!hold_->check()) {
    return hold_->status() == Hold::Status::lost ? LockState::lost : LockState::released;
  }
  return hold_->extending() ? LockState::extending : LockState::acquired;
}

base::TimePoint Lock::acquired_at() const noexcept { return hold_->granted; }
const std::string& Lock::name() const noexcept { return hold_->name; }
const base::LeaseId& Lock::id() const noexcept { return hold_->id; }
const std::string& Lock::owner() const noexcept { return hold_->owner; }
base::FencingToken Lock::token() const noexcept { return hold_->token; }
const store::Permits& Lock::permits() const noexcept { return hold_->permits; }
OnDestroy Lock::on_destroy() const noexcept { return hold_->on_destroy; }

}  // namespace holdfast::locks
