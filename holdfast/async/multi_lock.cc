#include <holdfast/async/multi_lock.h>

#include <utility>

#include <holdfast/base/deadline.h>
#include <holdfast/recipes/multi_lock.h>

namespace holdfast::async {

namespace {

namespace asio = boost::asio;
using base::ErrorCode;
using base::Result;
using locks::AcquireOptions;

using MaybeAll = Result<std::optional<MultiLock>>;

// Releases the first name last: a waiter for it then finds the others free.
void release_backwards(std::vector<AsyncLock>& locks) {
  while (!locks.empty()) {
    locks.pop_back();
  }
}

MaybeAll all_of(std::vector<AsyncLock> held) {
  MultiLock all(std::move(held));
  if (auto ours = all.check(); !ours) {  // one was lost while we waited for the others
    return std::unexpected(std::move(ours).error());
  }
  return all;
}

asio::awaitable<MaybeAll> take_all(AsyncLockProvider& provider, std::vector<std::string> names,
                                   AcquireOptions how, base::Duration default_wait) {
  auto ordered = recipes::in_lock_order(std::move(names));
  if (!ordered) {
    co_return std::unexpected(std::move(ordered).error());
  }
  const base::Clock& clock = provider.clock();
  const auto deadline = base::Deadline::after(clock, how.wait.value_or(default_wait));
  std::vector<AsyncLock> held;
  held.reserve(ordered->size());
  for (const std::string& name : *ordered) {
    how.wait = deadline.remaining(clock.now());
    auto lock = co_await provider.try_acquire(name, std::as_const(how));
    if (!lock || !*lock) {
      release_backwards(held);
      if (lock) {
        co_return std::nullopt;
      }
      co_return std::unexpected(std::move(lock).error());
    }
    held.push_back(**std::move(lock));
  }
  co_return all_of(std::move(held));
}

}  // namespace

MultiLock::MultiLock(std::vector<AsyncLock> locks)
    : locks_(std::move(locks)), any_lost_(std::make_unique<recipes::AnyStop>()) {
  for (const AsyncLock& lock : locks_) {
    any_lost_->add(lock.lost());
  }
}

MultiLock& MultiLock::operator=(MultiLock&& other) noexcept {
  if (this != &other) {
    const MultiLock old(std::move(*this));
    locks_ = std::exchange(other.locks_, {});
    any_lost_ = std::move(other.any_lost_);
  }
  return *this;
}

MultiLock::~MultiLock() { release_backwards(locks_); }

std::stop_token MultiLock::lost() const {
  for (const AsyncLock& lock : locks_) {
    static_cast<void>(lock.lost());  // fires now if the lock is lost
  }
  return any_lost_ != nullptr ? any_lost_->token() : std::stop_token();
}

Result<void> MultiLock::check() const {
  if (locks_.empty()) {
    return base::fail(ErrorCode::not_held, "the handle holds nothing");
  }
  for (const AsyncLock& lock : locks_) {
    if (auto ours = lock.check(); !ours) {
      return ours;
    }
  }
  return {};
}

asio::awaitable<Result<store::ReleaseOutcome>> MultiLock::release() {
  Result<store::ReleaseOutcome> outcome =
      locks_.empty() ? store::ReleaseOutcome::not_held : store::ReleaseOutcome::released;
  for (auto lock = locks_.rbegin(); lock != locks_.rend(); ++lock) {
    auto released = co_await lock->release();
    if (outcome && (!released || *released == store::ReleaseOutcome::not_held)) {
      outcome = std::move(released);
    }
  }
  co_return outcome;
}

asio::awaitable<MultiLock> acquire_all(AsyncLockProvider& provider, std::vector<std::string> names,
                                       AcquireOptions options) {
  auto all =
      co_await take_all(provider, std::move(names), std::move(options), base::Duration::max());
  auto taken = base::value_or_throw(std::move(all));
  if (!taken) {
    base::throw_error({ErrorCode::timed_out, "not all names were free within the wait"});
  }
  co_return *std::move(taken);
}

asio::awaitable<MaybeAll> try_acquire_all(AsyncLockProvider& provider,
                                          std::vector<std::string> names, AcquireOptions options) {
  co_return co_await take_all(provider, std::move(names), std::move(options),
                              base::Duration::zero());
}

}  // namespace holdfast::async
