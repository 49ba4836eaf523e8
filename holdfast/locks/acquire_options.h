#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/base/ids.h>
#include <holdfast/base/ttl.h>
#include <holdfast/store/claim.h>

namespace holdfast::locks {

// The fate of the lease when the handle is destroyed without `release`.
enum class OnDestroy : std::uint8_t {
  release,  // released at once
  keep,     // left to expire, or to be renewed and released by its id
};

// Options of acquiring and holding a lock. The defaults suit a job that takes seconds to hours.
struct AcquireOptions {
  // The time that the lease lasts without renewal: after a crash the name is free within it.
  // 100 ms to 365 days. nullopt: ProviderOptions::ttl, which is 30 s unless you set it.
  std::optional<base::Ttl> ttl{};
  // The time between renewals, less than the ttl. nullopt: a third of the ttl, or
  // ProviderOptions::renew_every where the ttl is the provider's too.
  std::optional<base::Duration> renew_every{};
  // The longest wait for the name. nullopt: `acquire` waits without bound, `try_acquire` not at
  // all.
  std::optional<base::Duration> wait{};
  // Ends the wait early, with ErrorCode::cancelled.
  std::stop_token stop{};
  // Human-readable owner label; empty: the provider's default, `user@host:pid`.
  std::string owner{};
  // Human-readable reason.
  std::string reason{};
  // Leases that the caller releases only when this call has returned: with them, a deadlock is
  // found (deadlock.h). The first 20 count.
  std::vector<base::LeaseId> holding{};
  // Renewal ends this long after the grant, and the lease a ttl later at the latest.
  std::optional<base::Duration> max_hold{};
  store::Permits permits{};
  // While this call waits, as the first of its provider for the name, callers that want fewer
  // permits do not pass it: see Claim::holds_back. If the process dies while it waits, they enter
  // again after this time. Longer than ProviderOptions::poll_most, or they may pass in between.
  // Zero: they may pass.
  base::Duration holds_back{};
  OnDestroy on_destroy = OnDestroy::release;
};

// Returns an error for options that are invalid with this ttl, which is theirs or the default.
[[nodiscard]] base::Result<void> check(const AcquireOptions& how, base::Ttl ttl);

}  // namespace holdfast::locks
