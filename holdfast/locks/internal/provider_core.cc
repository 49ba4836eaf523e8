#include <holdfast/locks/internal/provider_core.h>

namespace holdfast::locks::internal {

namespace {

using base::ErrorCode;

ProviderOptions with_defaults(ProviderOptions options) {
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
  return options;
}

}  // namespace

ProviderCore::ProviderCore(std::shared_ptr<store::LeaseStore> lease_store,
                           ProviderOptions provider_options)
    : store(std::move(lease_store)),
      options(with_defaults(std::move(provider_options))),
      push(store->capabilities().push),
      lines(options.max_waited_names, options.max_waiters_per_name),
      keeper(*store, *options.clock, options.logger, options.metrics,
             [this](std::string_view name) { lines.ring_first(name); }),
      give_backs(*store) {}

std::shared_ptr<ProviderCore> ProviderCore::make(std::shared_ptr<store::LeaseStore> lease_store,
                                                 ProviderOptions provider_options) {
  return {new ProviderCore(std::move(lease_store), std::move(provider_options)),
          [](const ProviderCore* core) {
            if (!core->is_inherited()) {
              delete core;
            }
          }};
}

std::shared_ptr<Hold> ProviderCore::make_hold(std::string_view name, const store::Claim& claim,
                                              const AcquireOptions& how, const Granted& granted) {
  const base::Duration ttl = how.ttl.unchecked();
  const RenewalSchedule schedule(granted.sent, ttl, how.renew_every.value_or(ttl / 3), how.max_hold,
                                 granted.grant.time_left);
  return std::make_shared<Hold>(shared_from_this(), *options.clock, std::string(name), claim,
                                granted.grant.token, schedule, how.on_destroy, granted.in_a_row);
}

void ProviderCore::abandon(Hold& hold) {
  if (is_inherited()) {
    return;
  }
  hold.end();
  keeper.remove(hold);
  lines.ring_first(hold.name);
}

void ProviderCore::shut_down() {
  if (is_inherited()) {
    return;
  }
  lines.close();
  keeper.stop();
  give_backs.stop();
}

}  // namespace holdfast::locks::internal
