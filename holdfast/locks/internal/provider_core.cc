#include <holdfast/locks/internal/provider_core.h>

#include <holdfast/store/prefixed_store.h>

namespace holdfast::locks {

namespace {

using base::ErrorCode;

// Returns the options with the defaults of the store, or ours, where they say nothing.
ProviderOptions with_defaults(ProviderOptions options, const store::LeaseDefaults& defaults) {
  const auto require = [](bool condition, const char* message) {
    if (!condition) {
      base::throw_error({ErrorCode::invalid_argument, message});
    }
  };
  require(options.clock != nullptr, "ProviderOptions::clock is null");
  require(options.poll_least > base::Duration::zero() && options.poll_least <= options.poll_most,
          "ProviderOptions: poll_least is not between zero and poll_most");
  require(options.max_waited_names > 0 && options.max_waiters_per_name > 0,
          "ProviderOptions: the limits on waiters are not positive");
  if (options.owner.empty()) {
    options.owner = default_owner();
  }
  if (!options.ttl) {
    options.ttl = defaults.ttl.value_or(std::chrono::seconds(30));
    if (!options.renew_every) options.renew_every = defaults.renew_every;
  }
  const base::Duration ttl = options.ttl->unchecked();
  require(ttl >= store::LeaseStore::kMinTtl && ttl <= store::LeaseStore::kMaxTtl,
          "ProviderOptions: ttl is not between 100 ms and 365 days");
  const base::Duration cadence = options.renew_every.value_or(ttl / 3);
  require(cadence > base::Duration::zero() && cadence < ttl,
          "ProviderOptions: renew_every is not between zero and the ttl");
  return options;
}

}  // namespace

ProviderCore::ProviderCore(std::shared_ptr<store::LeaseStore> lease_store,
                           ProviderOptions provider_options, const internal::Runtime& runtime_used)
    : runtime(runtime_used),
      store(base::value_or_throw(
          store::with_prefix(std::move(lease_store), provider_options.prefix))),
      options(with_defaults(std::move(provider_options), store->lease_defaults())),
      push(store->capabilities().push),
      queues_claims(store->capabilities().queues_claims),
      queues(options.max_waited_names, options.max_waiters_per_name),
      keeper(
          *store, *options.clock, options.logger, options.metrics,
          [this](std::string_view name) { queues.wake_first(name); }, runtime, options.keeping),
      background_releases(*store, runtime) {}

std::shared_ptr<ProviderCore> ProviderCore::make(std::shared_ptr<store::LeaseStore> lease_store,
                                                 ProviderOptions provider_options,
                                                 const internal::Runtime& runtime) {
  return {new ProviderCore(std::move(lease_store), std::move(provider_options), runtime),
          [](const ProviderCore* core) {
            if (!core->is_inherited()) {
              delete core;
            }
          }};
}

// A caller that only tries holds back nobody; nobody can want fewer than one permit.
store::Claim ProviderCore::make_claim(const AcquireOptions& how, base::Duration wait) const {
  const bool holds_back = wait > base::Duration::zero() && how.permits.count > 1;
  return {.id = runtime.new_id(),
          .owner = how.owner.empty() ? options.owner : how.owner,
          .reason = how.reason,
          .ttl = how.ttl.value_or(*options.ttl),
          .permits = how.permits,
          .holds_back = holds_back ? how.holds_back : base::Duration::zero()};
}

std::shared_ptr<Hold> ProviderCore::make_hold(std::string_view name, const store::Claim& claim,
                                              const AcquireOptions& how,
                                              const internal::Granted& granted) {
  const base::Duration ttl = claim.ttl.unchecked();
  // The default cadence belongs to the default ttl.
  const base::Duration cadence = how.ttl ? ttl / 3 : options.renew_every.value_or(ttl / 3);
  const internal::RenewalSchedule schedule(granted.sent, ttl, how.renew_every.value_or(cadence),
                                           how.max_hold, granted.grant.time_left);
  return std::make_shared<Hold>(shared_from_this(), *options.clock, std::string(name), claim,
                                granted.grant.token, schedule, how.on_destroy, granted.in_a_row);
}

void ProviderCore::abandon(Hold& hold) {
  if (is_inherited()) {
    return;
  }
  hold.give_back();
  hold.end();
  keeper.remove(hold);
  queues.wake_first(hold.name);
}

void ProviderCore::shut_down() {
  if (is_inherited()) {
    return;
  }
  queues.close();
  keeper.stop();
  background_releases.stop();
}

}  // namespace holdfast::locks
