#include <holdfast/recipes/multi_lock.h>

#include <algorithm>
#include <list>
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

void put_in_order(std::vector<std::string>& names) {
  std::ranges::sort(names);
  const auto repeated = std::ranges::unique(names);
  names.erase(repeated.begin(), repeated.end());
}

// The first name last: whoever waits for it then finds the others free.
void release_backwards(std::vector<Lock>& locks) {
  while (!locks.empty()) {
    locks.pop_back();
  }
}

Result<std::optional<MultiLock>> take_all(LockProvider& provider, std::vector<std::string> names,
                                          const AcquireOptions& options,
                                          base::Duration default_wait) {
  if (names.empty()) {
    return fail(ErrorCode::invalid_argument, "no name to acquire: give one at least");
  }
  put_in_order(names);
  const base::Clock& clock = provider.clock();
  const auto deadline = base::Deadline::after(clock, options.wait.value_or(default_wait));
  AcquireOptions how = options;
  std::vector<Lock> held;
  held.reserve(names.size());
  for (const std::string& name : names) {
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
  if (auto ours = all.check(); !ours) {  // one was lost while the others were waited for
    return std::unexpected(std::move(ours).error());
  }
  return all;
}

}  // namespace

// Requests a stop when one of the locks is lost.
class MultiLock::AnyLost {
 public:
  explicit AnyLost(std::span<const Lock> locks) {
    for (const Lock& lock : locks) {
      callbacks_.emplace_back(lock.lost(), Request{source_});
    }
  }

  [[nodiscard]] std::stop_token token() const { return source_.get_token(); }

 private:
  struct Request {
    std::stop_source source;
    void operator()() { source.request_stop(); }
  };

  std::stop_source source_;
  std::list<std::stop_callback<Request>> callbacks_;  // they do not move
};

MultiLock::MultiLock() noexcept = default;

MultiLock::MultiLock(MultiLock&& other) noexcept = default;

MultiLock::MultiLock(std::vector<Lock> locks)
    : locks_(std::move(locks)), any_lost_(std::make_unique<AnyLost>(locks_)) {}

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
    static_cast<void>(lock.lost());  // asked late, it fires now
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
