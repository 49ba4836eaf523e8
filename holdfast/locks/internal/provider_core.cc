#include <holdfast/locks/internal/provider_core.h>

#include <algorithm>

#include <holdfast/locks/ask_again.h>
#include <holdfast/locks/internal/acquisition.h>

namespace holdfast::locks::internal {

namespace {

using base::ErrorCode;
using base::fail;
using base::Result;
using store::ReleaseOutcome;

constexpr base::Duration kLeastPatience = std::chrono::milliseconds(100);

// After so many hand-overs inside this provider a release goes to the store, so that those who wait
// elsewhere have their turn.
constexpr int kMostInARow = 16;

Result<void> check(const AcquireOptions& how) {
  if (!how.ttl.valid()) {
    return std::unexpected(how.ttl.error());
  }
  if (how.renew_every &&
      (*how.renew_every <= base::Duration::zero() || *how.renew_every >= how.ttl.unchecked())) {
    return fail(ErrorCode::invalid_argument, "renew_every is not between zero and the ttl");
  }
  if (how.wait && *how.wait < base::Duration::zero()) {
    return fail(ErrorCode::invalid_argument, "wait is negative: use zero to try once");
  }
  if (how.max_hold && *how.max_hold <= base::Duration::zero()) {
    return fail(ErrorCode::invalid_argument, "max_hold is not positive");
  }
  return {};
}

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
      keeper(*store, *options.clock, options.logger, options.metrics) {}

Result<std::shared_ptr<Hold>> ProviderCore::acquire(std::string_view name,
                                                    const AcquireOptions& how,
                                                    base::Duration default_wait) {
  if (auto valid = check(how); !valid) {
    return std::unexpected(std::move(valid).error());
  }
  return Acquisition(*this, name, how, how.wait.value_or(default_wait)).run();
}

std::shared_ptr<Hold> ProviderCore::keep(std::string_view name, const store::Claim& claim,
                                         const AcquireOptions& how, const Granted& granted) {
  const base::Duration ttl = how.ttl.unchecked();
  const RenewalSchedule schedule(granted.sent, ttl, how.renew_every.value_or(ttl / 3), how.max_hold,
                                 granted.grant.time_left);
  auto hold =
      std::make_shared<Hold>(shared_from_this(), *options.clock, std::string(name), claim,
                             granted.grant.token, schedule, how.on_destroy, granted.in_a_row);
  if (hold->granted >= schedule.valid_until()) {
    release(*hold);
    return nullptr;
  }
  keeper.add(hold);
  return hold;
}

Result<store::TransferOutcome> ProviderCore::transfer(Hold& hold, Waiter& next,
                                                      base::Deadline deadline) {
  try {
    return store->transfer(hold.name, hold.id, next.claim, deadline);
  } catch (...) {
    // The waiter cannot leave before it is told.
    lines.settle(hold.name, next, fail(ErrorCode::internal, "the store threw an exception"));
    throw;
  }
}

bool ProviderCore::hand_over(Hold& hold, Waiter& next, base::Deadline deadline,
                             Result<ReleaseOutcome>& outcome) {
  const base::TimePoint sent = options.clock->now();
  const auto transferred = transfer(hold, next, deadline);
  if (!transferred) {
    lines.settle(hold.name, next, std::unexpected(transferred.error()));
    return false;
  }
  if (std::holds_alternative<store::HeldBack>(*transferred)) {
    lines.settle(hold.name, next, std::optional<Granted>());
    return false;
  }
  const auto* const grant = std::get_if<store::Grant>(&*transferred);
  lines.settle(
      hold.name, next,
      grant != nullptr ? std::optional(Granted{*grant, sent, hold.in_a_row + 1}) : std::nullopt);
  if (grant != nullptr) {
    count("handed_over");
  }
  outcome = grant != nullptr ? ReleaseOutcome::released : ReleaseOutcome::not_held;
  return true;
}

Result<ReleaseOutcome> ProviderCore::release(Hold& hold) {
  const bool was_held = hold.end();
  if (!was_held && hold.status() == Hold::Status::ended) {
    return ReleaseOutcome::not_held;
  }
  keeper.remove(hold);
  const base::TimePoint now = options.clock->now();
  observe("hold", now - hold.granted);
  const auto deadline = base::Deadline::after(
      base::steady_clock(), std::max<base::Duration>(hold.valid_until() - now, kLeastPatience));
  Result<ReleaseOutcome> outcome = ReleaseOutcome::not_held;
  const bool may_hand_over = was_held && hold.in_a_row < kMostInARow;
  Waiter* const next = may_hand_over ? lines.offer(hold.name, hold.permits) : nullptr;
  if (next == nullptr || !hand_over(hold, *next, deadline, outcome)) {
    outcome = store->release(hold.name, hold.id, deadline);
  }
  count(outcome ? "released" : "failed");
  return outcome;
}

Result<void> ProviderCore::reduce(Hold& hold, std::uint32_t permits) {
  const store::Claim less{.id = hold.id,
                          .owner = hold.owner,
                          .reason = hold.reason,
                          .ttl = hold.schedule.ttl(),
                          .permits = {permits, hold.permits.capacity}};
  const base::Duration left = hold.valid_until() - options.clock->now();
  const auto deadline =
      base::Deadline::after(base::steady_clock(), std::max<base::Duration>(left, kLeastPatience));
  auto outcome =
      ask_again(deadline, [&] { return store->transfer(hold.name, hold.id, less, deadline); });
  if (!outcome) {
    return std::unexpected(std::move(outcome).error());
  }
  const auto* const grant = std::get_if<store::Grant>(&*outcome);
  if (grant == nullptr) {
    keeper.remove(hold);
    hold.lose();
    return fail(ErrorCode::lost, "the lease was not renewed in time or taken away");
  }
  hold.permits = less.permits;
  hold.token = grant->token;
  return {};
}

void ProviderCore::abandon(Hold& hold) {
  hold.end();
  keeper.remove(hold);
}

void ProviderCore::shut_down() {
  lines.close();
  keeper.stop();
}

}  // namespace holdfast::locks::internal
