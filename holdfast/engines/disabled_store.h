#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <holdfast/store/lease_store.h>

namespace holdfast::engines {

// A store that is switched off: every operation is ErrorCode::unavailable at once. With it a
// program runs without a store where its policy allows that (recipes::DegradableProvider,
// MarkerOptions::when_unavailable), and fails where it does not. Its URL is `disabled:`.
//
// Thread-safe. It keeps nothing and never blocks.
class DisabledStore final : public store::LeaseStore {
 public:
  [[nodiscard]] store::Capabilities capabilities() const override;

 private:
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
};

}  // namespace holdfast::engines
