#include <holdfast/recipes/multi_lock.h>

#include <algorithm>
#include <utility>

#include <holdfast/base/deadline.h>

namespace holdfast::recipes {

namespace {

using base::ErrorCode;
using base::fail;
using base::Result;
using locks::AcquireOptions;
using locks::Lock;
using locks::LockProvider;

// Releases the first name last: a waiter for it then finds the others free.
void release_backwards(std::vector<Lock>& locks) {
  while (!locks.empty()) {
    locks.pop_back();
  }
}

Result<std::optional<MultiLock>> take_all(LockProvider& provider, std::vector<std::string> names,
                                          const AcquireOptions& options,
                                          base::Duration default_wait) {
  auto ordered = in_lock_order(std::move(names));
  if (!ordered) {
    return std::unexpected(std::move(ordered).error());
  }
  const base::Clock& clock = provider.clock();
  const auto deadline = base::Deadline::after(clock, options.wait.value_or(default_wait));
  AcquireOptions how = options;
  std::vector<Lock> held;
  held.reserve(ordered->size());
  for (const std::string& name : *ordered) {
    how.wait = deadline.remaining(clock.now());
    auto lock = provider.try_acquire(name, how);
    if (!lock || !*lock) {
      release_backwards(held);
      return lock ? Result<std::optional<MultiLock>>(std::nullopt)
                  : std::unexpected(std::move(lock).error());
    }
    held.push_back(**std::move(lock));
  }
  MultiLock all(std::move(held));
  if (auto ours = all.check(); !ours) {  // one was lost while we waited for the others
    return std::unexpected(std::move(ours).error());
  }
  return all;
}

}  // namespace

Result<std::vector<std::string>> in_lock_order(std::vector<std::string> names) {
  if (names.empty()) {
    return fail(ErrorCode::invalid_argument, "no name to acquire: give one at least");
  }
  std::ranges::sort(names);
  const auto repeated = std::ranges::unique(names);
  names.erase(repeated.begin(), repeated.end());
  return names;
}

MultiLock::MultiLock() noexcept = default;

MultiLock::MultiLock(MultiLock&& other) noexcept = default;

MultiLock::MultiLock(std::vector<Lock> locks)
    : locks_(std::move(locks)), any_lost_(std::make_unique<AnyStop>()) {
  for (const Lock& lock : locks_) {
    any_lost_->add(lock.lost());
  }
}

MultiLock& MultiLock::operator=(MultiLock&& other) noexcept {
  if (this != &other) {
    const MultiLock old(std::move(*this));
    locks_ = std::move(other.locks_);
    other.locks_.clear();
    any_lost_ = std::move(other.any_lost_);
  }
  return *this;
}

MultiLock::~MultiLock() { release_backwards(locks_); }

std::stop_token MultiLock::lost() const {
  for (const Lock& lock : locks_) {
    static_cast<void>(lock.lost());  // fires now if the lock is lost
  }
  return any_lost_ != nullptr ? any_lost_->token() : std::stop_token();
}

Result<void> MultiLock::check() const {
  if (locks_.empty()) {
    return fail(ErrorCode::not_held, "the handle holds nothing");
  }
  for (const Lock& lock : locks_) {
    if (auto ours = lock.check(); !ours) {
      return ours;
    }
  }
  return {};
}

Result<store::ReleaseOutcome> MultiLock::release() {
  auto outcome = locks_.empty() ? store::ReleaseOutcome::not_held : store::ReleaseOutcome::released;
  std::optional<base::Error> error;
  for (auto lock = locks_.rbegin(); lock != locks_.rend(); ++lock) {
    const auto released = lock->release();
    if (!released && !error) {
      error = released.error();
    }
    if (released && *released == store::ReleaseOutcome::not_held) {
      outcome = store::ReleaseOutcome::not_held;
    }
  }
  return error ? Result<store::ReleaseOutcome>(std::unexpected(*std::move(error))) : outcome;
}

MultiLock acquire_all(LockProvider& provider, std::vector<std::string> names,
                      const AcquireOptions& options) {
  auto all =
      base::value_or_throw(take_all(provider, std::move(names), options, base::Duration::max()));
  if (!all) {
    base::throw_error({ErrorCode::timed_out, "not all names were free within the wait"});
  }
  return *std::move(all);
}

Result<std::optional<MultiLock>> try_acquire_all(LockProvider& provider,
                                                 std::vector<std::string> names,
                                                 const AcquireOptions& options) {
  return take_all(provider, std::move(names), options, base::Duration::zero());
}

}  // namespace holdfast::recipes
