#include <holdfast/async/multi_lock.h>

#include <utility>

#include <holdfast/async/internal/acquire_or_error.h>

namespace holdfast::async {

namespace {

namespace asio = boost::asio;
using base::Result;
using locks::AcquireOptions;

using MaybeAll = Result<std::optional<AsyncMultiLock>>;

using AcquireLocks = recipes::AcquireAll<AsyncMultiLock, AsyncLock>;

}  // namespace

asio::awaitable<Result<store::ReleaseOutcome>> AsyncMultiLock::release() {
  auto outcome = none_released();
  for (auto lock = locks_.rbegin(); lock != locks_.rend(); ++lock) {
    auto released = co_await lock->release();
    outcome = one_more(std::move(outcome), std::move(released));
  }
  co_return outcome;
}

asio::awaitable<AsyncMultiLock> internal::acquire_all(AsyncLockProvider& provider,
                                                      std::vector<std::string> names,
                                                      AcquireOptions options) {
  AcquireLocks all(provider.clock(), std::move(names), std::move(options), base::Duration::max());
  while (const std::string* const name = all.next()) {
    auto lock = co_await acquire_or_error(provider, *name, all.how());
    all.on(std::move(lock));
  }
  co_return *base::value_or_throw(all.outcome());
}

asio::awaitable<MaybeAll> internal::try_acquire_all(AsyncLockProvider& provider,
                                                    std::vector<std::string> names,
                                                    AcquireOptions options) {
  AcquireLocks all(provider.clock(), std::move(names), std::move(options), base::Duration::zero());
  while (const std::string* const name = all.next()) {
    auto lock = co_await provider.try_acquire(*name, all.how());
    all.on(std::move(lock));
  }
  co_return all.outcome();
}

}  // namespace holdfast::async
