#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/base/name.h>
#include <holdfast/store/claim.h>
#include <holdfast/store/hit.h>
#include <holdfast/store/outcome.h>

namespace holdfast::store {

// The seam for an engine that can take requests without blocking, beside LeaseStore.
//
// Thread-safe. The operations, their atomicity, deadlines and errors are those of LeaseStore, but
// for one thing: a request is taken at once, and its answer is called back, exactly once, by any
// thread, possibly before the call returns. A callback is quick, does not throw, and may make
// further requests, but may not destroy the store. What a claim borrows lives until then.
class AsyncLeaseStore {
 public:
  template <class T>
  using Callback = std::function<void(base::Result<T> outcome)>;

  virtual ~AsyncLeaseStore() = default;
  AsyncLeaseStore(const AsyncLeaseStore&) = delete;
  AsyncLeaseStore& operator=(const AsyncLeaseStore&) = delete;

  void claim(std::string_view name, const Claim& claim, base::Deadline deadline,
             Callback<ClaimOutcome> callback);
  void transfer(std::string_view name, const base::LeaseId& from, const Claim& to,
                base::Deadline deadline, Callback<TransferOutcome> callback);
  void release(std::string_view name, const base::LeaseId& id, base::Deadline deadline,
               Callback<ReleaseOutcome> callback);
  void look(std::string_view name, base::Deadline deadline,
            Callback<std::optional<NameState>> callback);
  void hit(std::string_view name, const Hit& hit, base::Deadline deadline,
           Callback<HitOutcome> callback);

 protected:
  AsyncLeaseStore() = default;

 private:
  virtual void start_claim(const base::Name& name, const Claim& claim, base::Deadline deadline,
                           Callback<ClaimOutcome> callback) = 0;
  virtual void start_transfer(const base::Name& name, const base::LeaseId& from, const Claim& to,
                              base::Deadline deadline, Callback<TransferOutcome> callback) = 0;
  virtual void start_release(const base::Name& name, const base::LeaseId& id,
                             base::Deadline deadline, Callback<ReleaseOutcome> callback) = 0;
  virtual void start_look(const base::Name& name, base::Deadline deadline,
                          Callback<std::optional<NameState>> callback) = 0;
  virtual void start_hit(const base::Name& name, const Hit& hit, base::Deadline deadline,
                         Callback<HitOutcome> callback) = 0;
};

}  // namespace holdfast::store
