#include <algorithm>
#include <string_view>

#include <fmt/core.h>

#include <holdfast/base/printable.h>
#include <holdfast/base/try.h>
#include <holdfast/store/forget_hits.h>

#include "apps/holdfast/cli/kind.h"
#include "apps/holdfast/cli/removal.h"
#include "apps/holdfast/cli/session.h"
#include "apps/holdfast/cli/text.h"

namespace holdfast::cli {

namespace {

using base::ErrorCode;
using base::Result;
using Holders = std::vector<store::Holder>;

// The reason of the lease that `once` leaves behind when its command has ended.
constexpr std::string_view kHasRun = "has run in this period";

// Only the program that locked it can free it: we do not know how it does so.
base::Error held_by_foreign(const std::string& name, const store::Holder& holder) {
  return {ErrorCode::busy,
          fmt::format("{} is held by another program than Holdfast ({}): end that program, or wait "
                      "until its lock expires",
                      base::printable(name), base::printable(holder.owner))};
}

base::Error still_held(const std::string& name, const store::Holder& holder) {
  return {ErrorCode::busy,
          fmt::format("{0} is held by {1}: end its command, or see 'holdfast steal {0}'",
                      base::printable(name), holder_text(holder))};
}

}  // namespace

Result<Holders> removable_holders(store::LeaseStore& store, const std::string& name) {
  HOLDFAST_TRY_LET(const auto state, store.look(name, answer_deadline()));
  Holders holders = state ? state->holders : Holders();
  const auto foreign = std::ranges::find_if(holders, &store::Holder::foreign);
  if (foreign != holders.end()) {
    return std::unexpected(held_by_foreign(name, *foreign));
  }
  return holders;
}

Result<Holders> remove_leases(store::LeaseStore& store, const std::string& name,
                              const Holders& holders) {
  Holders removed;
  for (const store::Holder& holder : holders) {
    HOLDFAST_TRY_LET(const auto outcome, store.release(name, holder.id, answer_deadline()));
    if (outcome == store::ReleaseOutcome::released) {
      removed.push_back(holder);
    }
  }
  return removed;
}

Result<bool> forget_run(store::LeaseStore& store, const std::string& key) {
  const std::string name = once_name(key);
  HOLDFAST_TRY_LET(const auto state, store.look(name, answer_deadline()));
  if (!state) {
    HOLDFAST_TRY_LET(const auto lock, store.look(key, answer_deadline()));
    return lock ? Result<bool>(std::unexpected(still_held(key, lock->holders.front()))) : false;
  }
  const store::Holder& holder = state->holders.front();
  if (holder.foreign || holder.reason != kHasRun) {
    return std::unexpected(still_held(name, holder));
  }
  HOLDFAST_TRY_LET(const auto outcome, store.release(name, holder.id, answer_deadline()));
  return outcome == store::ReleaseOutcome::released;
}

Result<std::uint32_t> forget_hits_of(store::LeaseStore& store, const std::string& key) {
  HOLDFAST_TRY_LET(const auto outcome,
                   store.hit(throttle_name(key), store::forget_hits(), answer_deadline()));
  return outcome.hits;
}

}  // namespace holdfast::cli
