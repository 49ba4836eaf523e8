#pragma once

#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <holdfast/base/clock.h>
#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/locks/acquire_options.h>
#include <holdfast/recipes/any_stop.h>
#include <holdfast/store/outcome.h>

// The parts that the MultiLock of threads and that of coroutines share. `Lock` is locks::Lock or
// async::AsyncLock.
namespace holdfast::recipes {

// Several locks that are held together, and released in reverse order.
template <class Lock>
class [[nodiscard]] BasicMultiLock {
 public:
  BasicMultiLock() noexcept = default;
  // Takes locks that are held.
  explicit BasicMultiLock(std::vector<Lock> locks)
      : locks_(std::move(locks)), any_lost_(std::make_unique<AnyStop>()) {
    for (const Lock& lock : locks_) {
      any_lost_->add(lock.lost());
    }
  }
  BasicMultiLock(BasicMultiLock&& other) noexcept = default;
  BasicMultiLock& operator=(BasicMultiLock&& other) noexcept {
    if (this != &other) {
      const BasicMultiLock old(std::move(*this));
      locks_ = std::exchange(other.locks_, {});
      any_lost_ = std::move(other.any_lost_);
    }
    return *this;
  }
  // Releases the first name last: a waiter for it then finds the others free.
  ~BasicMultiLock() {
    while (!locks_.empty()) {
      locks_.pop_back();
    }
  }

  // Fires when the first of the locks is lost.
  [[nodiscard]] std::stop_token lost() const {
    for (const Lock& lock : locks_) {
      static_cast<void>(lock.lost());  // fires now if the lock is lost
    }
    return any_lost_ != nullptr ? any_lost_->token() : std::stop_token();
  }
  // Returns an error unless all locks are still held at this moment.
  [[nodiscard]] base::Result<void> check() const {
    base::Result<void> ours = base::fail(base::ErrorCode::not_held, "the handle holds nothing");
    for (const Lock& lock : locks_) {
      if (ours = lock.check(); !ours) {
        break;
      }
    }
    return ours;
  }

  // Returns the locks in the order of their names, each with its name and token. Empty in a handle
  // that holds nothing.
  [[nodiscard]] std::span<const Lock> locks() const noexcept { return locks_; }
  // Returns whether the handle has leases: false after `release`. `check` says whether they are
  // still ours.
  [[nodiscard]] bool holds() const noexcept { return !locks_.empty() && locks_.front().holds(); }
  explicit operator bool() const noexcept { return holds(); }

 protected:
  using Released = base::Result<store::ReleaseOutcome>;

  // Return the outcome of releasing no lock, and of one more: the first error, or whether every one
  // was still held.
  [[nodiscard]] Released none_released() const {
    return locks_.empty() ? store::ReleaseOutcome::not_held : store::ReleaseOutcome::released;
  }
  [[nodiscard]] static Released one_more(Released all, Released one) {
    return all && one != store::ReleaseOutcome::released ? std::move(one) : std::move(all);
  }

  std::vector<Lock> locks_;

 private:
  std::unique_ptr<AnyStop> any_lost_;  // after the locks: it listens to them
};

// Returns the names in the order of acquisition, each once; invalid_argument without a name.
[[nodiscard]] base::Result<std::vector<std::string>> in_lock_order(std::vector<std::string> names);

// The acquisition of several names, one after the other and all or none, without the acquiring
// itself:
//
//   while (const std::string* name = all.next()) all.on(provider.try_acquire(*name, all.how()));
template <class MultiLock, class Lock>
class AcquireAll {
 public:
  // The clock must outlive it.
  AcquireAll(const base::Clock& clock, std::vector<std::string> names, locks::AcquireOptions how,
             base::Duration default_wait)
      : clock_(clock),
        deadline_(base::Deadline::after(clock, how.wait.value_or(default_wait))),
        names_(in_lock_order(std::move(names))),
        how_(std::move(how)) {}

  // Returns the name to acquire next, with `how`; null if there is none.
  [[nodiscard]] const std::string* next() {
    if (is_missing_one_ || !names_ || held_.size() == names_->size()) {
      return nullptr;
    }
    how_.wait = deadline_.remaining(clock_.now());
    return &(*names_)[held_.size()];
  }
  [[nodiscard]] const locks::AcquireOptions& how() const noexcept { return how_; }

  void on(base::Result<std::optional<Lock>> lock) {
    if (lock && *lock) {
      how_.holding.push_back((*lock)->id());
      held_.push_back(**std::move(lock));
      return;
    }
    is_missing_one_ = true;
    if (!lock) {
      outcome_ = std::unexpected(std::move(lock).error());
    }
  }

  // Returns the outcome, when there is no next name; nullopt if one was not acquired in time.
  [[nodiscard]] base::Result<std::optional<MultiLock>> outcome() {
    MultiLock all(std::move(held_));
    if (!names_) {
      return std::unexpected(std::move(names_).error());
    }
    if (is_missing_one_) {
      return std::move(outcome_);
    }
    if (auto ours = all.check(); !ours) {  // one was lost while we waited for the others
      return std::unexpected(std::move(ours).error());
    }
    return all;
  }

 private:
  const base::Clock& clock_;
  const base::Deadline deadline_;
  base::Result<std::vector<std::string>> names_;
  locks::AcquireOptions how_;
  std::vector<Lock> held_;
  bool is_missing_one_ = false;  // one of the names was not acquired
  base::Result<std::optional<MultiLock>> outcome_{};
};

}  // namespace holdfast::recipes
