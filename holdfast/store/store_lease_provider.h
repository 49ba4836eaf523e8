#pragma once

#include <chrono>

#include <holdfast/base/lease_provider.h>
#include <holdfast/store/lease_store.h>

namespace holdfast::store {

// A LeaseStore behind the interface for leases of any kind: the key is the name, the owner the
// owner label. Thread-safe; the store, whose clock judges the leases, must outlive it. A call
// blocks no longer than `timeout`; `try_lock` up to twice that long if the reply to its claim was
// lost, for it then releases the claim.
//
// It does not renew in the background, does not wait and does not notify: locks::LockProvider does.
// A call other than `try_lock` looks the lease up first, so that it takes two requests; both name
// the lease by its id, so that a lease that was replaced in between is not touched. Locks of other
// programs count as leases, but cannot be ended.
//
// ErrorCode::unknown_outcome from `try_lock`: the lease was released if the store answered again;
// otherwise it may last until its ttl.
class StoreLeaseProvider final : public base::LeaseProvider {
 public:
  explicit StoreLeaseProvider(LeaseStore& store,
                              base::Duration timeout = std::chrono::seconds(10)) noexcept
      : store_(store), timeout_(timeout) {}

  [[nodiscard]] base::Result<std::optional<base::FencingToken>> try_lock(std::string_view key,
                                                                         std::string_view owner,
                                                                         base::Ttl ttl) override;
  base::Result<base::FencingToken> renew(std::string_view key, std::string_view owner,
                                         base::Ttl ttl) override;
  base::Result<void> unlock(std::string_view key) override;
  base::Result<void> unlock(std::string_view key, std::string_view owner) override;
  base::Result<void> unlock(std::string_view key, base::FencingToken token) override;
  [[nodiscard]] base::Result<bool> is_locked_by(std::string_view key,
                                                std::string_view owner) override;
  [[nodiscard]] base::Result<bool> is_lock_expired(std::string_view key) override;
  [[nodiscard]] base::Result<std::optional<base::Duration>> time_left(
      std::string_view key) override;

 private:
  [[nodiscard]] base::Deadline deadline() const noexcept {
    return base::Deadline::after(base::steady_clock(), timeout_);
  }
  // Returns the live leases of the key, oldest first.
  base::Result<std::vector<Holder>> holders(std::string_view key, base::Deadline until);
  // Releases the first lease that is meant; not_held if there is none.
  template <class IsMeant>
  base::Result<void> release_if(std::string_view key, const IsMeant& is_meant);

  LeaseStore& store_;
  const base::Duration timeout_;
};

}  // namespace holdfast::store
