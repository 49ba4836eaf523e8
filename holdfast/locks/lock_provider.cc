#include <holdfast/locks/lock_provider.h>

#include <holdfast/locks/internal/provider_core.h>
#include <holdfast/locks/steps/acquire_steps.h>
#include <holdfast/locks/steps/run_blocking.h>

namespace holdfast::locks {

using base::Result;

namespace {

// `give` makes of the outcome what the caller wants.
template <class Give>
auto run(internal::ProviderCore& core, std::string_view name, const AcquireOptions& options,
         base::Duration default_wait, const Give& give) {
  steps::Bell bell;
  const std::stop_callback on_stop(options.stop, [&bell] { bell.ring(); });
  steps::AcquireSteps acquire(core, name, options, default_wait, bell);
  const auto drive = [&](const steps::Step& first) {
    steps::run_blocking(acquire, first, *core.store, *core.options.clock, bell);
  };
  try {
    drive(acquire.start());
  } catch (...) {
    try {
      drive(acquire.abandon());
    } catch (const std::exception& error) {
      core.options.logger.warn(error.what());  // the lease runs out by itself
    }
    throw;
  }
  return give(std::move(acquire.outcome()));
}

}  // namespace

LockProvider::LockProvider(std::shared_ptr<store::LeaseStore> store, ProviderOptions options) {
  if (store == nullptr) {
    base::throw_error({base::ErrorCode::invalid_argument, "the store is null"});
  }
  core_ = internal::ProviderCore::make(std::move(store), std::move(options));
}

LockProvider::~LockProvider() { core_->shut_down(); }

Lock LockProvider::acquire(std::string_view name, const AcquireOptions& options) {
  const auto core = core_;  // the provider may end while this call waits
  return base::value_or_throw(
      run(*core, name, options, base::Duration::max(), steps::or_timed_out));
}

Result<std::optional<Lock>> LockProvider::try_acquire(std::string_view name,
                                                      const AcquireOptions& options) {
  const auto core = core_;  // the provider may end while this call waits
  return run(*core, name, options, base::Duration::zero(), steps::or_nothing);
}

Result<bool> LockProvider::is_locked(std::string_view name) {
  const auto state = look(name);
  if (!state) {
    return std::unexpected(state.error());
  }
  return state->has_value();
}

Result<std::optional<store::NameState>> LockProvider::look(std::string_view name) {
  return core_->store->look(name);
}

Result<store::RenewOutcome> LockProvider::renew(std::string_view name, const base::LeaseId& id,
                                                base::Ttl ttl) {
  const store::Renewal renewal{.name = name, .id = id, .ttl = ttl};
  const auto outcomes = core_->store->renew({&renewal, 1});
  if (!outcomes) {
    return std::unexpected(outcomes.error());
  }
  return outcomes->front();
}

Result<store::ReleaseOutcome> LockProvider::release(std::string_view name,
                                                    const base::LeaseId& id) {
  auto outcome = core_->store->release(name, id);
  core_->lines.ring_first(name);  // it may have been a lease of this provider
  return outcome;
}

store::LeaseStore& LockProvider::store() const noexcept { return *core_->store; }
const base::Clock& LockProvider::clock() const noexcept { return *core_->options.clock; }
std::size_t LockProvider::held() const { return core_->keeper.size(); }
std::size_t LockProvider::waiting() const { return core_->lines.waiting(); }

}  // namespace holdfast::locks
