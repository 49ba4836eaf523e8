#pragma once

#include <span>
#include <string>
#include <string_view>

#include <holdfast/base/clock.h>
#include <holdfast/base/ids.h>
#include <holdfast/locks/waiters.h>
#include <holdfast/store/claim.h>
#include <holdfast/store/outcome.h>

namespace holdfast::locks::internal {

// The lease by which one waiter shows that it waits: what to claim, at which name, how often.
// It has the id of the waiter's claim; its reason tells the rest (see `waiter_from`).
//
// The lease of a waiter that holds other leases is renewed more often and lasts less long: a search
// for deadlocks has to know within a second that it still waits.
class Presence {
 public:
  // The longest time for the store to note, or to forget, that a caller waits.
  static constexpr base::Duration kPatience = std::chrono::milliseconds(500);

  // `claim` outlives it.
  Presence(std::string_view name, const store::Claim& claim, std::span<const base::LeaseId> holding,
           base::Duration waited);
  Presence(const Presence&) = delete;
  Presence& operator=(const Presence&) = delete;

  // Returns whether the reserved name beside this one is not too long.
  [[nodiscard]] static bool fits(std::string_view name) noexcept;
  // Returns how long the lease lasts, of a waiter that holds other leases or none.
  [[nodiscard]] static base::Duration ttl(bool holds_others) noexcept;

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const store::Claim& claim() const noexcept { return claim_; }
  [[nodiscard]] base::Duration renew_every() const noexcept { return renew_every_; }

 private:
  const std::string name_;
  const std::string text_;
  const base::Duration renew_every_;
  const store::Claim claim_;
};

// Returns the waiter for `name` that such a lease shows. A text that is not of a Presence is its
// reason.
[[nodiscard]] Waiter waiter_from(std::string_view name, const store::Holder& presence);

}  // namespace holdfast::locks::internal
