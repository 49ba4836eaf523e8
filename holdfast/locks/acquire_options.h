#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/base/ttl.h>
#include <holdfast/store/claim.h>

namespace holdfast::locks {

// What becomes of the lease when the handle is destroyed without `release`.
enum class OnDestroy : std::uint8_t {
  release,  // given back at once
  keep,     // left to run out, or to be renewed and released by its id
};

// How to acquire, and how to hold. The defaults suit a job that takes seconds to hours.
struct AcquireOptions {
  // How long the lease lasts without renewal: after a crash the name is free within this time.
  // 100 ms to 365 days. Nothing: ProviderOptions::ttl, which is 30 s unless you set it.
  std::optional<base::Ttl> ttl{};
  // How often it is renewed while held, less than the ttl. Nothing: a third of the ttl, or
  // ProviderOptions::renew_every where the ttl is the provider's too.
  std::optional<base::Duration> renew_every{};
  // How long to wait for the name. Nothing: `acquire` waits without bound, `try_acquire` not at
  // all.
  std::optional<base::Duration> wait{};
  // Ends the wait early, with ErrorCode::cancelled.
  std::stop_token stop{};
  // Who, for people; empty: the provider's default, `user@host:pid`.
  std::string owner{};
  // What for, for people.
  std::string reason{};
  // Renewal ends this long after the grant, and with it, a ttl later at the most, the lease.
  std::optional<base::Duration> max_hold{};
  store::Permits permits{};
  // While this call waits, as the first of its provider for the name, those who come for fewer
  // permits do not pass it: see Claim::holds_back.
  // If the process dies while it waits, they are let in again after this time. Longer than
  // ProviderOptions::poll_most, or they may pass in between. Zero: they may pass.
  base::Duration holds_back{};
  OnDestroy on_destroy = OnDestroy::release;
};

// Returns an error for options that are invalid with this ttl: theirs, or the provider's default.
[[nodiscard]] base::Result<void> check(const AcquireOptions& how, base::Ttl ttl);

}  // namespace holdfast::locks
