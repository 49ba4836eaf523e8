#include <holdfast/async/async_lock_provider.h>

#include <holdfast/base/try.h>
#include <holdfast/locks/or_timed_out.h>

namespace holdfast::async {

namespace internal {

std::tuple<base::Result<std::optional<AsyncLock>>> TryAcquire::take(const Room& room) {
  HOLDFAST_TRY_LET(auto lock, std::move(steps.outcome()));
  if (!lock) {
    return std::nullopt;
  }
  return std::optional(AsyncLock(room, *std::move(lock)));
}

std::tuple<std::exception_ptr, AsyncLock> Acquire::take(const Room& room) {
  auto lock = locks::or_timed_out(std::move(steps.outcome()), [&] { return steps.timed_out(); });
  if (!lock) {
    return {std::make_exception_ptr(base::Exception(std::move(lock).error())), AsyncLock()};
  }
  return {nullptr, AsyncLock(room, *std::move(lock))};
}

}  // namespace internal

AsyncLockProvider::AsyncLockProvider(std::shared_ptr<store::LeaseStore> store,
                                     locks::ProviderOptions options, const AsyncOptions& how)
    : AsyncLockProvider(std::make_unique<locks::LockProvider>(std::move(store), std::move(options)),
                        how) {}

AsyncLockProvider::AsyncLockProvider(std::unique_ptr<locks::LockProvider> own,
                                     const AsyncOptions& how)
    : own_(std::move(own)),
      provider_(own_.get()),
      room_(internal::EngineRoom::make(provider_->core(), provider_->store(), provider_->clock(),
                                       how)) {}

AsyncLockProvider::AsyncLockProvider(locks::LockProvider& provider, const AsyncOptions& how)
    : provider_(&provider),
      room_(internal::EngineRoom::make(provider.core(), provider.store(), provider.clock(), how)) {}

AsyncLockProvider::~AsyncLockProvider() {
  own_.reset();  // cancels all waits
  if (!room_->is_inherited()) {
    room_->wait_for_background();
  }
}

}  // namespace holdfast::async
