#pragma once

#include <holdfast/engines/redis/internal/engine.h>
#include <holdfast/store/async_lease_store.h>

namespace holdfast::engines::redis::internal {

// The operations without blocking, over the same scripts. Thread-safe.
class Submitter final : public store::AsyncLeaseStore {
 public:
  // `engine` outlives it.
  explicit Submitter(Engine& engine) : engine_(engine) {}

 private:
  void start_claim(const base::Name& name, const store::Claim& claim, base::Deadline deadline,
                   Callback<store::ClaimOutcome> callback) override;
  void start_transfer(const base::Name& name, const base::LeaseId& from, const store::Claim& to,
                      base::Deadline deadline, Callback<store::TransferOutcome> callback) override;
  void start_release(const base::Name& name, const base::LeaseId& id, base::Deadline deadline,
                     Callback<store::ReleaseOutcome> callback) override;
  void start_look(const base::Name& name, base::Deadline deadline,
                  Callback<std::optional<store::NameState>> callback) override;
  void start_hit(const base::Name& name, const store::Hit& hit, base::Deadline deadline,
                 Callback<store::HitOutcome> callback) override;

  // In a forked child, before anything is touched that another thread may have left locked. (A hit
  // touches nothing.)
  template <class T>
  [[nodiscard]] bool is_refused(const Callback<T>& callback) const;

  Engine& engine_;
};

}  // namespace holdfast::engines::redis::internal
