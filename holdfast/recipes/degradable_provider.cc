#include <holdfast/recipes/degradable_provider.h>

#include <stop_token>
#include <string>
#include <utility>

#include <holdfast/base/deadline.h>
#include <holdfast/base/name.h>
#include <holdfast/base/printable.h>
#include <holdfast/base/try.h>
#include <holdfast/engines/memory/memory_store.h>
#include <holdfast/locks/or_timed_out.h>
#include <holdfast/recipes/internal/circuit.h>
#include <holdfast/recipes/internal/guarded_store.h>

namespace holdfast::recipes {

namespace {

using base::ErrorCode;
using base::Result;
using locks::AcquireOptions;
using locks::LockProvider;

DegradationOptions checked(DegradationOptions options) {
  const auto require = [](bool condition, const char* message) {
    if (!condition) {
      base::throw_error({ErrorCode::invalid_argument, message});
    }
  };
  require(options.failures > 0, "DegradationOptions: failures is zero");
  require(options.retry_after > base::Duration::zero() &&
              options.retry_after <= store::LeaseStore::kMaxTtl,
          "DegradationOptions: retry_after is not between zero and 365 days");
  require(options.answer_within > base::Duration::zero(),
          "DegradationOptions: answer_within is not positive");
  require(options.provider.clock != nullptr, "ProviderOptions::clock is null");
  return options;
}

std::unique_ptr<LockProvider> make_shared_provider(std::shared_ptr<store::LeaseStore> store,
                                                   std::shared_ptr<internal::Circuit> circuit,
                                                   const DegradationOptions& options) {
  if (store == nullptr) {
    base::throw_error({ErrorCode::invalid_argument, "the store is null"});
  }
  return std::make_unique<LockProvider>(
      std::make_shared<internal::GuardedStore>(std::move(store), std::move(circuit),
                                               options.answer_within),
      options.provider);
}

std::unique_ptr<LockProvider> make_local_provider(const DegradationOptions& options) {
  if (options.when_unavailable != WhenUnavailable::fall_back_to_local) {
    return nullptr;
  }
  locks::ProviderOptions local = options.provider;
  local.metrics = {};
  if (options.provider.metrics.count) {
    local.metrics.count = [count = options.provider.metrics.count](
                              std::string_view counter, std::string_view name, std::uint64_t by) {
      count("local_" + std::string(counter), name, by);
    };
  }
  auto store = std::make_shared<engines::memory::MemoryStore>(
      engines::memory::MemoryOptions{.clock = options.provider.clock});
  return std::make_unique<LockProvider>(std::move(store), std::move(local));
}

Result<std::optional<locks::Lock>> acquire_if_free(LockProvider& provider, std::string_view name,
                                                   const AcquireOptions& how) {
  return provider.try_acquire(name, how);
}

bool is_outage(const base::Error& error) {
  return error.code == ErrorCode::unavailable || error.code == ErrorCode::unknown_outcome;
}

}  // namespace

DegradableProvider::DegradableProvider(std::shared_ptr<store::LeaseStore> store,
                                       DegradationOptions options)
    : options_(checked(std::move(options))),
      circuit_(std::make_shared<internal::Circuit>(
          internal::Breaker::Limits{.failures = options_.failures,
                                    .retry_after = options_.retry_after},
          *options_.provider.clock, options_.provider.logger, options_.provider.metrics)),
      shared_(make_shared_provider(std::move(store), circuit_, options_)),
      local_(make_local_provider(options_)) {}

DegradableProvider::~DegradableProvider() = default;

Result<void> DegradableProvider::check(std::string_view name, const AcquireOptions& options) {
  HOLDFAST_TRY(base::Name::make(name));
  if (options.ttl) {
    HOLDFAST_TRY(options.ttl->checked());
  }
  return {};
}

DegradableLock DegradableProvider::acquire(std::string_view name, const AcquireOptions& options) {
  return *base::value_or_throw(acquire_within(
      name, options, options.wait.value_or(base::Duration::max()), locks::acquire_or_error));
}

DegradableProvider::Outcome DegradableProvider::try_acquire(std::string_view name,
                                                            const AcquireOptions& options) {
  return acquire_within(name, options, options.wait.value_or(base::Duration::zero()),
                        acquire_if_free);
}

DegradableProvider::Outcome DegradableProvider::acquire_within(std::string_view name,
                                                               const AcquireOptions& options,
                                                               base::Duration wait,
                                                               Acquire& acquire) {
  HOLDFAST_TRY(check(name, options));
  const base::Clock& clock = *options_.provider.clock;
  const auto deadline = base::Deadline::after(clock, wait);
  AcquireOptions how = options;
  how.wait = wait;
  locks::Lock local;
  if (local_ != nullptr) {
    HOLDFAST_TRY_LET(auto held, acquire(*local_, name, how));
    if (!held) {
      return std::nullopt;
    }
    local = *std::move(held);
    how.wait = deadline.remaining(clock.now());
  }
  Attempt attempt(*this, name, std::move(how), std::move(local));
  return attempt.begin() ? attempt.end(acquire(*shared_, name, attempt.how())) : attempt.outcome();
}

DegradableProvider::Attempt::Attempt(DegradableProvider& provider, std::string_view name,
                                     AcquireOptions options, locks::Lock local)
    : provider_(provider),
      name_(name),
      how_(std::move(options)),
      stop_(how_.stop),
      local_(std::move(local)),
      opening_(provider.circuit_->next_opening()),
      on_cancel_(stop_, Stop{either_}),
      on_opening_(provider.options_.when_unavailable != WhenUnavailable::fail ? opening_
                                                                              : std::stop_token(),
                  Stop{either_}) {
  how_.stop = either_.get_token();
}

bool DegradableProvider::Attempt::begin() {
  if (stop_.stop_requested()) {
    outcome_ = base::fail(ErrorCode::cancelled, "the wait was cancelled");
    return false;
  }
  if (!provider_.circuit_->would_admit()) {
    outcome_ = provider_.degrade(
        name_,
        {ErrorCode::unavailable, "the store failed and is not asked again before a pause is over"},
        std::move(local_));
    return false;
  }
  return true;
}

DegradableProvider::Outcome DegradableProvider::Attempt::end(
    Result<std::optional<locks::Lock>> held) {
  if (held) {
    return *held ? std::optional(DegradableLock(name_, Protection::full, std::move(local_),
                                                **std::move(held)))
                 : std::nullopt;
  }
  const bool ended_by_outage =
      held.error().code == ErrorCode::cancelled && opening_.stop_requested();
  if (!stop_.stop_requested() && (ended_by_outage || is_outage(held.error()))) {
    return provider_.degrade(name_, ended_by_outage ? provider_.circuit_->outage() : held.error(),
                             std::move(local_));
  }
  return std::unexpected(std::move(held).error());
}

DegradableProvider::Outcome DegradableProvider::degrade(std::string_view name,
                                                        const base::Error& why, locks::Lock local) {
  const auto tell = [&](const std::string& text, std::string_view counter) {
    options_.provider.logger.warn(text + base::printable(name) + ": " + base::to_string(why));
    if (options_.provider.metrics.count) {
      options_.provider.metrics.count(counter, name, 1);
    }
  };
  switch (options_.when_unavailable) {
    case WhenUnavailable::fail: break;
    case WhenUnavailable::proceed_without_lock:
      tell("proceeding without a lock on ", "degraded_to_none");
      return DegradableLock(name, Protection::none, {}, {});
    case WhenUnavailable::fall_back_to_local:
      tell("only this process is kept from ", "degraded_to_local");
      return DegradableLock(name, Protection::local_only, std::move(local), {});
  }
  return std::unexpected(why);
}

CircuitState DegradableProvider::state() const { return circuit_->state(); }

}  // namespace holdfast::recipes
