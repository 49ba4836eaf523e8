#include <holdfast/recipes/mark_guard.h>

#include <exception>
#include <utility>

#include <holdfast/base/deadline.h>
#include <holdfast/base/printable.h>
#include <holdfast/locks/ask_again.h>

namespace holdfast::recipes {

using base::Deadline;
using base::Result;

MarkGuard::MarkGuard(std::shared_ptr<store::LeaseStore> store, std::string name,
                     const base::LeaseId& id, base::Duration timeout, base::Logger logger) noexcept
    : store_(std::move(store)),
      name_(std::move(name)),
      id_(id),
      timeout_(timeout),
      logger_(std::move(logger)) {}

MarkGuard& MarkGuard::operator=(MarkGuard&& other) noexcept {
  if (this != &other) {
    const MarkGuard old(std::move(*this));
    store_ = std::move(other.store_);
    name_ = std::move(other.name_);
    id_ = other.id_;
    timeout_ = other.timeout_;
    logger_ = std::move(other.logger_);
    process_ = other.process_;
  }
  return *this;
}

MarkGuard::~MarkGuard() {
  if (process_.is_inherited()) {
    return;
  }
  try {
    if (const auto cleared = clear(); !cleared) {
      logger_.warn("could not clear the mark " + base::printable(name_) +
                   ", it will run out: " + base::to_string(cleared.error()));
    }
  } catch (const std::exception& error) {
    logger_.warn(error.what());
  }
}

Result<store::RenewOutcome> MarkGuard::extend(base::Ttl ttl) {
  if (store_ == nullptr) {
    return store::RenewOutcome::lost;
  }
  const auto deadline = Deadline::after(base::steady_clock(), timeout_);
  const store::Renewal renewal{.name = name_, .id = id_, .ttl = ttl};
  const auto outcomes =
      locks::ask_again(deadline, [&] { return store_->renew({&renewal, 1}, deadline); });
  if (!outcomes) {
    return std::unexpected(outcomes.error());
  }
  return outcomes->front();
}

Result<ClearOutcome> MarkGuard::clear() {
  const auto store = std::exchange(store_, nullptr);
  if (store == nullptr) {
    return ClearOutcome::was_not_marked;
  }
  const auto deadline = Deadline::after(base::steady_clock(), timeout_);
  const auto released =
      locks::ask_again(deadline, [&] { return store->release(name_, id_, deadline); });
  if (!released) {
    return std::unexpected(released.error());
  }
  return *released == store::ReleaseOutcome::released ? ClearOutcome::cleared
                                                      : ClearOutcome::was_not_marked;
}

}  // namespace holdfast::recipes
