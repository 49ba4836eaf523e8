#pragma once

#include <chrono>
#include <variant>

#include <holdfast/store/lease_store.h>

namespace holdfast::tests {

// For leases that are to outlast the test.
inline store::Claim wish(store::Permits permits = {}, base::Ttl ttl = std::chrono::minutes(10)) {
  return {.id = base::LeaseId::generate(),
          .owner = "somebody",
          .reason = "because",
          .ttl = ttl,
          .permits = permits};
}

// The outcome that a test goes on with; another is an exception.
template <class Wanted, class Outcome>
Wanted expect(const base::Result<Outcome>& outcome) {
  return std::get<Wanted>(base::value_or_throw(outcome));
}

}  // namespace holdfast::tests
