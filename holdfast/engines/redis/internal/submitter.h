#pragma once

#include <holdfast/engines/redis/internal/lease_requests.h>
#include <holdfast/store/async_lease_store.h>

namespace holdfast::engines::redis::internal {

// The operations without blocking, over the same requests. Thread-safe.
class Submitter final : public store::AsyncLeaseStore {
 public:
  // `requests` outlive it.
  explicit Submitter(LeaseRequests& requests) : requests_(requests) {}

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

  // Submits what `make` returns. In a forked child calls back with an error instead, before
  // anything is touched that another thread may have left locked.
  template <class T>
  void submit(base::Deadline deadline, Callback<T> callback, const auto& make);

  // Returns a callback that waits for the replicas first: see acknowledged.h.
  template <class T>
  Callback<T> acknowledging(Acknowledger::Lease lease, base::Deadline deadline,
                            Callback<T> callback);

  LeaseRequests& requests_;
};

}  // namespace holdfast::engines::redis::internal
