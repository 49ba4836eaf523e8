#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <holdfast/recipes/internal/circuit.h>
#include <holdfast/store/lease_store.h>

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
class GuardedStore final : public store::LeaseStore {
 public:
  GuardedStore(std::shared_ptr<store::LeaseStore> real, std::shared_ptr<Circuit> circuit,
               base::Duration answer_within);

  [[nodiscard]] store::Capabilities capabilities() const override;
  [[nodiscard]] store::LeaseDefaults lease_defaults() const override {
    return real_->lease_defaults();
  }

 private:
  template <class Call>
  auto observed(Call&& call) -> decltype(call());
  template <class Call>
  auto guarded(base::Deadline deadline, Call&& call) -> decltype(call(deadline));

  base::Result<store::ClaimOutcome> do_claim(const base::Name& name, const store::Claim& claim,
                                             base::Deadline deadline) override;
  base::Result<std::vector<store::RenewOutcome>> do_renew(std::span<const store::Renewal> renewals,
                                                          base::Deadline deadline) override;
  base::Result<store::TransferOutcome> do_transfer(const base::Name& name,
                                                   const base::LeaseId& from,
                                                   const store::Claim& to,
                                                   base::Deadline deadline) override;
  base::Result<store::ReleaseOutcome> do_release(const base::Name& name, const base::LeaseId& id,
                                                 base::Deadline deadline) override;
  base::Result<std::optional<store::NameState>> do_look(const base::Name& name,
                                                        base::Deadline deadline) override;
  base::Result<store::Page> do_list(std::string_view prefix, const store::PageRequest& page,
                                    base::Deadline deadline) override;
  base::Result<store::HitOutcome> do_hit(const base::Name& name, const store::Hit& hit,
                                         base::Deadline deadline) override;
  base::Result<store::Watch> do_watch(const base::Name& name,
                                      store::WatchCallback callback) override;

  const std::shared_ptr<store::LeaseStore> real_;
  const std::shared_ptr<Circuit> circuit_;
  const base::Duration answer_within_;
};

}  // namespace holdfast::recipes::internal
