#pragma once

#include <memory>

#include <holdfast/recipes/internal/circuit.h>
#include <holdfast/store/forwarding_store.h>

namespace holdfast::recipes::internal {

// A store behind a circuit: it forwards every call, reports the result to the circuit, and returns
// `unavailable` at once while the circuit is open.
//
// Thread-safe. Each call except `renew` ends within `answer_within`, whatever its own deadline
// allows.
//
// Renewals are always forwarded, with their own deadline: held leases must not be lost to a pause
// that was meant for new ones, and an answered renewal is the first sign that the store is
// reachable.
class GuardedStore final : public store::ForwardingStore {
 public:
  GuardedStore(std::shared_ptr<store::LeaseStore> real, std::shared_ptr<Circuit> circuit,
               base::Duration answer_within);

 private:
  base::Result<void> around(store::Operation operation, base::Deadline deadline,
                            const Forward& forward) override;

  const std::shared_ptr<Circuit> circuit_;
  const base::Duration answer_within_;
};

}  // namespace holdfast::recipes::internal
