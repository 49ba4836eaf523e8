#pragma once

#include <memory>
#include <stop_token>
#include <string_view>

#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/local/key_guard.h>
#include <holdfast/local/key_lock.h>
#include <holdfast/local/key_wait.h>
#include <holdfast/objects/host_options.h>
#include <holdfast/objects/internal/call_gate.h>
#include <holdfast/objects/internal/lock_order.h>
#include <holdfast/objects/internal/object_type.h>

namespace holdfast::objects::internal {

struct HostCore;

using Shared = RankedGuard<local::SharedGuard>;
using Exclusive = RankedGuard<local::ExclusiveGuard>;

// One operation of a host: its first lock, the stop lock, and the limits of all its waits.
//
// A stop of the host ends the waits of an operation, unless it is nested in a running method: that
// one is inside already, and continues while the stop waits for the method.
class Operation {
 public:
  // `limits` must outlive it.
  explicit Operation(HostCore& host, const Limits& limits = kNoLimits);
  ~Operation();
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  // Enters the host. unavailable: it is stopped. invalid_argument: called from to_data or
  // from_data.
  [[nodiscard]] base::Result<void> enter();
  // From here on neither a stop of the host nor the caller's ends a wait: the method has run.
  void commit() noexcept { committed_ = true; }
  // For the host's own thread: commits; waits for locks come first, and all end this long from now.
  void hurry(base::Duration wait) noexcept;

  // Lock an object; timed_out or cancelled if that takes too long. `lock` is one of the type's.
  // Without a wait they wait as long as `wait()` says.
  [[nodiscard]] base::Result<Shared> share_key(ObjectType& type, std::string_view id,
                                               const local::KeyWait* wait = nullptr) const;
  [[nodiscard]] base::Result<Exclusive> own(local::KeyLock& lock, Rank rank, const ObjectType& type,
                                            std::string_view id,
                                            const local::KeyWait* wait = nullptr) const;
  [[nodiscard]] base::Result<Exclusive> own_key(ObjectType& type, std::string_view id) const {
    return own(type.keys, Rank::key, type, id);
  }

  // Return how long to wait for a lock, from now on: for an object's, and for another one.
  [[nodiscard]] local::KeyWait wait() const;
  [[nodiscard]] local::KeyWait wait(base::Duration longest) const;
  // Returns the earlier of the operation's end and the end of this wait, from now on.
  [[nodiscard]] base::Deadline deadline(base::Duration wait) const;
  [[nodiscard]] base::Deadline store_deadline() const;
  [[nodiscard]] std::stop_token stop_token() const;
  // Returns an error of the repository with its context: timed_out, if it failed because the limit
  // of this operation was over before anything was done.
  [[nodiscard, gnu::cold]] std::unexpected<base::Error> store_failed(std::string_view doing,
                                                                     const base::Error& why) const;
  // Returns the error of a wait for `what` that ended without it. `hint`: why it may take so long.
  [[nodiscard, gnu::cold]] std::unexpected<base::Error> gave_up(local::WaitEnd why,
                                                                std::string_view what,
                                                                std::string_view hint) const;

 private:
  class EitherStop;

  HostCore& host_;
  const Limits& limits_;
  const base::Deadline until_;
  base::Deadline locks_until_ = base::Deadline::never();
  Ranked order_;
  CallGate::Place* place_ = nullptr;
  bool nested_ = false;
  bool committed_ = false;
  local::Priority priority_ = local::Priority::normal;
  mutable std::unique_ptr<EitherStop> either_;  // made when a wait needs it
};

}  // namespace holdfast::objects::internal
