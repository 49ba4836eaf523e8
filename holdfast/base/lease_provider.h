#pragma once

#include <optional>
#include <string_view>

#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/base/ids.h>
#include <holdfast/base/ttl.h>

namespace holdfast::base {

// Locks by key and owner that expire, wherever they are stored: in this process
// (local::TableLeaseProvider) or in a store that other processes share (store::StoreLeaseProvider).
// Code that is written against this interface runs on either, and in a test on the one in memory.
//
// Thread-safe. No call waits for a lease to end. Whose clock judges a lease depends on the
// implementation.
//
// Guaranteed: one of several racing callers gets a key; the tokens of a key only ever grow; no call
// ends a lease that it does not mean. Not guaranteed: that the holder of an expired lease has
// stopped. An owner is a label that the caller chooses, unique to it; not re-entrant.
//
// Errors: invalid_argument for an empty key or owner or an invalid ttl; not_held as stated below;
// others as the store reports them.
//
//   void work(base::LeaseProvider& locks) {
//     const auto token = locks.try_lock("invoice:42", "worker-7", 30s);
//     if (token && *token) { … locks.unlock("invoice:42", **token); }
//   }
class LeaseProvider {
 public:
  LeaseProvider(const LeaseProvider&) = delete;
  LeaseProvider& operator=(const LeaseProvider&) = delete;
  virtual ~LeaseProvider() = default;

  // Returns the token of the new lease, or nullopt if the key is leased.
  [[nodiscard]] virtual Result<std::optional<FencingToken>> try_lock(std::string_view key,
                                                                     std::string_view owner,
                                                                     Ttl ttl) = 0;
  // Extends the owner's lease to `ttl` from now, and never shortens it. Returns its token, which
  // does not change. not_held if the owner has no valid lease on the key.
  virtual Result<FencingToken> renew(std::string_view key, std::string_view owner, Ttl ttl) = 0;

  // Ends the lease of any owner; not_held if there is none.
  virtual Result<void> unlock(std::string_view key) = 0;
  // Ends the owner's lease; not_held if it has none on the key.
  virtual Result<void> unlock(std::string_view key, std::string_view owner) = 0;
  // Ends this very lease; not_held if it has ended.
  virtual Result<void> unlock(std::string_view key, FencingToken token) = 0;

  // Returns whether a lease of this owner is valid for the key now.
  [[nodiscard]] virtual Result<bool> is_locked_by(std::string_view key, std::string_view owner) = 0;
  // Returns whether the key has no valid lease now.
  [[nodiscard]] virtual Result<bool> is_lock_expired(std::string_view key) = 0;
  // Returns nullopt if the key has no valid lease now.
  [[nodiscard]] virtual Result<std::optional<Duration>> time_left(std::string_view key) = 0;

 protected:
  LeaseProvider() = default;
};

}  // namespace holdfast::base
