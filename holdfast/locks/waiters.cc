#include <holdfast/locks/waiters.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include <holdfast/base/try.h>
#include <holdfast/locks/internal/presence.h>
#include <holdfast/locks/internal/provider_core.h>
#include <holdfast/store/waiting_name.h>

namespace holdfast::locks {

namespace {

using base::Result;

// Adds the waiters that this state of a reserved name shows.
void append(const store::NameState& state, std::vector<Waiter>& waiters) {
  const std::string_view name = state.name.view().substr(store::kWaitingPrefix.size());
  const auto first = static_cast<std::ptrdiff_t>(waiters.size());
  for (const store::Holder& presence : state.holders) {
    waiters.push_back(internal::waiter_from(name, presence));
  }
  std::ranges::sort(waiters.begin() + first, waiters.end(), std::ranges::greater(),
                    &Waiter::waited);
}

}  // namespace

Result<std::vector<Waiter>> waiters_for(store::LeaseStore& store, std::string_view name,
                                        base::Deadline deadline) {
  std::vector<Waiter> waiters;
  if (internal::Presence::fits(name)) {
    HOLDFAST_TRY_LET(const auto state, store.look(store::waiting_name(name), deadline));
    if (state) {
      append(*state, waiters);
    }
  }
  return waiters;
}

Result<std::vector<Waiter>> list_waiters(store::LeaseStore& store, std::string_view prefix,
                                         base::Deadline deadline) {
  std::vector<Waiter> waiters;
  if (!internal::Presence::fits(prefix)) {
    return waiters;
  }
  store::PageRequest request{.limit = 1000, .after = {}};
  do {
    HOLDFAST_TRY_LET(auto page, store.list(store::waiting_name(prefix), request, deadline));
    for (const store::NameState& state : page.names) {
      append(state, waiters);
    }
    request.after = std::move(page.next);
  } while (!request.after.empty());
  return waiters;
}

std::optional<Lock> show_waiter(LockProvider& provider, std::string_view name,
                                const AcquireOptions& how, base::Duration waited) {
  if (!internal::Presence::fits(name)) {
    return std::nullopt;
  }
  ProviderCore& core = *provider.core();
  const store::Claim claim = core.make_claim(how, base::Duration::zero());
  const internal::Presence presence(name, claim, how.holding, waited);
  const base::TimePoint sent = core.options.clock->now();
  const auto granted =
      core.store->claim(presence.name(), presence.claim(),
                        base::Deadline::after(base::steady_clock(), internal::Presence::kPatience));
  const auto* const grant = granted ? std::get_if<store::Grant>(&*granted) : nullptr;
  if (grant == nullptr) {
    return std::nullopt;
  }
  const AcquireOptions kept{.ttl = presence.claim().ttl, .renew_every = presence.renew_every()};
  auto hold = core.make_hold(presence.name(), presence.claim(), kept, {*grant, sent});
  return core.keeper.add(hold) ? std::optional(Lock(std::move(hold))) : std::nullopt;
}

}  // namespace holdfast::locks
