#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/base/name.h>
#include <holdfast/store/claim.h>
#include <holdfast/store/hit.h>
#include <holdfast/store/notice.h>
#include <holdfast/store/outcome.h>

namespace holdfast::store {

// The promises of an engine, for programs and for `doctor`.
struct Capabilities {
  std::string engine;          // "memory", "sqlite", …
  bool durable = false;        // leases survive a restart of the store
  bool push = false;           // `watch` gets notices; otherwise a waiter has to poll
  bool cross_process = false;  // excludes other processes
  bool cross_machine = false;  // excludes other machines
  // A claim that waits is in a queue of the store, and a release serves the first.
  bool queues_claims = false;
  bool immediate = false;  // answers without I/O, so that anybody may ask at any time

  friend bool operator==(const Capabilities&, const Capabilities&) = default;
};

// The ttl and renewal of leases where the caller names none, as the options of a store have them.
struct LeaseDefaults {
  std::optional<base::Ttl> ttl{};
  std::optional<base::Duration> renew_every{};
};

class AsyncLeaseStore;

// A subscription of `LeaseStore::watch`; move-only. When it is destroyed or reset, the callback is
// not running and will not run again, so neither may be done from within the callback.
class Watch {
 public:
  Watch() = default;
  // `cancel` ends the subscription.
  explicit Watch(std::function<void()> cancel) : cancel_(std::move(cancel)) {}
  Watch(Watch&& other) noexcept : cancel_(std::exchange(other.cancel_, nullptr)) {}
  Watch& operator=(Watch&& other) noexcept {
    if (this != &other) {
      reset();
      cancel_ = std::exchange(other.cancel_, nullptr);
    }
    return *this;
  }
  ~Watch() { reset(); }

  void reset() noexcept {
    if (cancel_) {
      std::exchange(cancel_, nullptr)();
    }
  }

 private:
  std::function<void()> cancel_;
};

// THE seam: keeps leases, judged by its own clock. An engine is a class that derives from this.
//
// Thread-safe. Each operation is atomic. Blocks as long as the engine needs, and no longer than the
// deadline, which is of base::steady_clock(): ErrorCode::unavailable if nothing was done by then,
// ErrorCode::unknown_outcome if that is not known. In the latter case the operation may be repeated
// unchanged: every one but `hit` then has the same effect as once.
//
// Contention is a value; errors are
//   invalid_argument   a name, ttl, owner, reason, permits or page outside their bounds
//   conflict           the name is in use with another capacity, kind of record or window
//   unavailable, unknown_outcome, corrupt, unsupported, internal    the engine
//
// The public functions check arguments; the private `do_*` are what an engine writes.
class LeaseStore {
 public:
  // The least and the most that a lease may last.
  static constexpr base::Duration kMinTtl = std::chrono::milliseconds(100);
  static constexpr base::Duration kMaxTtl = std::chrono::hours(24 * 365);

  // The most renewals in one call: beyond, ErrorCode::limit_exceeded.
  static constexpr std::size_t kMaxBatch = 100'000;

  virtual ~LeaseStore() = default;
  LeaseStore(const LeaseStore&) = delete;
  LeaseStore& operator=(const LeaseStore&) = delete;

  // Grants if the capacity allows (expired leases do not count), with a token greater than every
  // one before; otherwise returns the holders of the name. Sent again by the id that holds the
  // name, it returns the same token, and the lease lasts for its ttl from now, never shorter than
  // before: so a lost reply is repaired and a grant that came as a message is confirmed. A caller
  // that gives up must release a claim that may still be granted (Busy::pending).
  [[nodiscard]] base::Result<ClaimOutcome> claim(std::string_view name, const Claim& claim,
                                                 base::Deadline deadline = base::Deadline::never());

  // Extends the leases that are still held; never shortens, never brings back. Returns one outcome
  // per lease: a bad record fails its own leases and no others. If every lease failed, returns the
  // first one's error instead, so that the caller of a single renewal learns the cause.
  [[nodiscard]] base::Result<std::vector<RenewOutcome>> renew(
      std::span<const Renewal> renewals, base::Deadline deadline = base::Deadline::never());

  // Replaces the lease `from` by the claim `to`, which must want the same permits, or fewer of the
  // same capacity; a new token. Notifies the watchers of the name if permits became free. Sent
  // again after it succeeded: the same grant. `to` may have the same id, to release a part.
  // HeldBack if another waits for more and nothing is released. ErrorCode::conflict if `to` holds
  // the name already with another lease.
  [[nodiscard]] base::Result<TransferOutcome> transfer(
      std::string_view name, const base::LeaseId& from, const Claim& to,
      base::Deadline deadline = base::Deadline::never());

  // Removes exactly this lease, and notifies the watchers of the name. An id that only waits holds
  // back nobody any more: `not_held`, but the watchers are notified.
  [[nodiscard]] base::Result<ReleaseOutcome> release(
      std::string_view name, const base::LeaseId& id,
      base::Deadline deadline = base::Deadline::never());

  // Returns nullopt if no live lease is on the name.
  [[nodiscard]] base::Result<std::optional<NameState>> look(
      std::string_view name, base::Deadline deadline = base::Deadline::never());

  // Returns the names that begin with these bytes and have live leases, without those of waiters
  // (waiting_name.h).
  [[nodiscard]] base::Result<Page> list(std::string_view prefix, const PageRequest& page = {},
                                        base::Deadline deadline = base::Deadline::never());

  // Counts hits if they fit under the limit of the name's window; all or none.
  [[nodiscard]] base::Result<HitOutcome> hit(std::string_view name, const Hit& hit,
                                             base::Deadline deadline = base::Deadline::never());

  // Calls back, from any thread, when the name may have become free (a hint), or when it was
  // granted to a claim that waits (a grant, with the id of that claim, to every watcher of the
  // name). A notice may be needless, and may get lost. The callback must be quick, and must not
  // call the store. There is no deadline: an engine takes half a second at most.
  [[nodiscard]] base::Result<Watch> watch(std::string_view name, WatchCallback callback);

  [[nodiscard]] virtual Capabilities capabilities() const = 0;

  // Returns what the options of this store say about leases; the store itself does not use it.
  [[nodiscard]] virtual LeaseDefaults lease_defaults() const { return {}; }

  // Returns the same operations without blocking; null if the engine cannot. Lives as long as the
  // store.
  [[nodiscard]] virtual AsyncLeaseStore* async() noexcept { return nullptr; }

 protected:
  LeaseStore() = default;

 private:
  virtual base::Result<ClaimOutcome> do_claim(const base::Name& name, const Claim& claim,
                                              base::Deadline deadline) = 0;
  virtual base::Result<std::vector<RenewOutcome>> do_renew(std::span<const Renewal> renewals,
                                                           base::Deadline deadline) = 0;
  virtual base::Result<TransferOutcome> do_transfer(const base::Name& name,
                                                    const base::LeaseId& from, const Claim& to,
                                                    base::Deadline deadline) = 0;
  virtual base::Result<ReleaseOutcome> do_release(const base::Name& name, const base::LeaseId& id,
                                                  base::Deadline deadline) = 0;
  virtual base::Result<std::optional<NameState>> do_look(const base::Name& name,
                                                         base::Deadline deadline) = 0;
  virtual base::Result<Page> do_list(std::string_view prefix, const PageRequest& page,
                                     base::Deadline deadline) = 0;
  virtual base::Result<HitOutcome> do_hit(const base::Name& name, const Hit& hit,
                                          base::Deadline deadline) = 0;
  virtual base::Result<Watch> do_watch(const base::Name& name, WatchCallback callback) = 0;
};

}  // namespace holdfast::store
