#include <holdfast/locks/lock_provider.h>

#include <holdfast/base/try.h>
#include <holdfast/locks/internal/provider_core.h>
#include <holdfast/locks/or_timed_out.h>
#include <holdfast/locks/steps/acquire_steps.h>
#include <holdfast/locks/steps/run_blocking.h>

namespace holdfast::locks {

using base::Result;

LockProvider::LockProvider(std::shared_ptr<store::LeaseStore> store, ProviderOptions options) {
  if (store == nullptr) {
    base::throw_error({base::ErrorCode::invalid_argument, "the store is null"});
  }
  core_ = ProviderCore::make(std::move(store), std::move(options));
}

LockProvider::~LockProvider() { core_->shut_down(); }

Lock LockProvider::acquire(std::string_view name, const AcquireOptions& options) {
  const auto core = core_;  // the provider may end while this call waits
  steps::ThreadWaker waker;
  steps::AcquireSteps acquire(*core, name, options, base::Duration::max(), waker);
  steps::run_blocking(acquire, options.stop, *core->store, *core->options.clock, waker);
  return base::value_or_throw(
      or_timed_out(std::move(acquire.outcome()), [&] { return acquire.timed_out(); }));
}

Result<std::optional<Lock>> LockProvider::try_acquire(std::string_view name,
                                                      const AcquireOptions& options) {
  const auto core = core_;  // the provider may end while this call waits
  steps::ThreadWaker waker;
  steps::AcquireSteps acquire(*core, name, options, base::Duration::zero(), waker);
  steps::run_blocking(acquire, options.stop, *core->store, *core->options.clock, waker);
  return std::move(acquire.outcome());
}

Result<void> LockProvider::start_keeping() {
  if (core_->is_inherited()) {
    return base::fail(base::ErrorCode::unsupported,
                      "the lock provider was made before the process forked: make another in the "
                      "child");
  }
  if (!core_->keeper.start()) {
    return base::fail(base::ErrorCode::limit_exceeded,
                      "there is no thread to renew leases with: they expire by themselves");
  }
  return {};
}

Result<bool> LockProvider::is_locked(std::string_view name) {
  HOLDFAST_TRY_LET(const auto state, look(name));
  return state.has_value();
}

Result<std::optional<store::NameState>> LockProvider::look(std::string_view name) {
  return core_->store->look(name);
}

Result<store::RenewOutcome> LockProvider::renew(std::string_view name, const base::LeaseId& id,
                                                base::Ttl ttl) {
  const store::Renewal renewal{.name = name, .id = id, .ttl = ttl};
  HOLDFAST_TRY_LET(const auto outcomes, core_->store->renew({&renewal, 1}));
  return outcomes.front();
}

Result<store::ReleaseOutcome> LockProvider::release(std::string_view name,
                                                    const base::LeaseId& id) {
  auto outcome = core_->store->release(name, id);
  core_->queues.wake_first(name);  // it may have been a lease of this provider
  return outcome;
}

store::LeaseStore& LockProvider::store() const noexcept { return *core_->store; }
const base::Clock& LockProvider::clock() const noexcept { return *core_->options.clock; }
std::size_t LockProvider::held() const { return core_->keeper.size(); }
std::size_t LockProvider::waiting() const { return core_->queues.waiting(); }

}  // namespace holdfast::locks
