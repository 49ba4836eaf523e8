#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/base/log.h>
#include <holdfast/locks/acquire_options.h>
#include <holdfast/locks/lock.h>
#include <holdfast/locks/metrics.h>
#include <holdfast/store/lease_store.h>

namespace holdfast::locks {

class ProviderCore;  // the state that all faces of a provider share: opaque

// When a provider starts the two threads that renew its leases and fire `lost`.
enum class Keeping : std::uint8_t {
  from_the_first_lock,
  // LockProvider::start_keeping starts them. Until then no lease is renewed, `lost` is fired only
  // by a call of `Lock::lost`, `check` or `time_left` that finds the loss, and a release goes to
  // the store. For a program with a timer of its own that mostly holds a lock for under a second.
  on_request,
};

struct ProviderOptions {
  std::string owner{};  // empty: user@host:pid
  // Put before every name in the store, and not seen by the caller: `acquire("report")` with the
  // prefix "billing/" locks "billing/report". Up to 1,023 bytes; see store::with_prefix.
  std::string prefix{};
  // The ttl and the renewal cadence of a call that names neither. nullopt: the store's (such as
  // `expiry` and `extension_cadence` of a mongodb: URL), else 30 s and a third of the ttl.
  std::optional<base::Ttl> ttl{};
  std::optional<base::Duration> renew_every{};
  base::Logger logger{};
  Metrics metrics{};
  // The clock that local deadlines are measured by; counts suspend. Outlives the provider and its
  // locks.
  const base::Clock* clock = &base::boot_clock();
  // The range of the growing, jittered pause after which a waiter claims again without a hint. With
  // a store that pushes, only the upper end matters: a lost hint costs that much.
  base::Duration poll_least = std::chrono::milliseconds(10);
  base::Duration poll_most = std::chrono::milliseconds(800);
  // A wait that passes this is logged as a warning, once.
  base::Duration warn_after = std::chrono::seconds(5);
  // A call that has waited so long shows in the store that it waits: see waiters.h. That takes a
  // request at first, one every 15 s (every 0.5 s with AcquireOptions::holding), and one at the end
  // of the wait. base::Duration::max(): never.
  base::Duration announce_after = std::chrono::seconds(1);
  // Beyond these, ErrorCode::limit_exceeded.
  std::size_t max_waited_names = 10'000;
  std::size_t max_waiters_per_name = 1'000;
  Keeping keeping = Keeping::from_the_first_lock;
};

// Acquires names from a store and keeps them alive.
//
// Thread-safe. The waiters of this provider for one name are in a queue: the first contends for the
// name in the store, and a release passes it to the next in one round trip. After 16 hand-overs in
// a row the store chooses, so that waiters of other processes have their turn. Two threads start
// with the first lock: one renews all locks, one batch at a time, the other fires `lost`.
//
// When the provider is destroyed, waiting calls end with ErrorCode::cancelled, and on locks that
// still live `lost` fires at once, for they are no longer renewed. They can still be released.
//
// `acquire` throws base::Exception: timed_out, cancelled, limit_exceeded, or the error of the
// store. `try_acquire` returns it; contention is a value there. A store that cannot be reached at
// first is a failure after a second try; one that fails later, while waiting, is asked again until
// the wait is over. A claim whose reply was lost is repeated with the same lease id, or released.
//
//   LockProvider provider(store);
//   auto lock = provider.acquire("report", {.wait = 5s, .reason = "monthly"});
class LockProvider {
 public:
  explicit LockProvider(std::shared_ptr<store::LeaseStore> store, ProviderOptions options = {});
  ~LockProvider();
  LockProvider(const LockProvider&) = delete;
  LockProvider& operator=(const LockProvider&) = delete;

  [[nodiscard]] Lock acquire(std::string_view name, const AcquireOptions& options = {});
  // Returns nullopt if the lock was not acquired within `options.wait` (default: zero).
  [[nodiscard]] base::Result<std::optional<Lock>> try_acquire(std::string_view name,
                                                              const AcquireOptions& options = {});

  // Starts the threads of a provider with Keeping::on_request, and renews what is due. Harmless if
  // they run already. Returns limit_exceeded if there is no thread: nothing is lost by that, and
  // the call may be repeated. Returns unsupported in a forked child.
  [[nodiscard]] base::Result<void> start_keeping();

  [[nodiscard]] base::Result<bool> is_locked(std::string_view name);
  [[nodiscard]] base::Result<std::optional<store::NameState>> look(std::string_view name);
  // Renew and release by lease id, for callers without a handle.
  [[nodiscard]] base::Result<store::RenewOutcome> renew(std::string_view name,
                                                        const base::LeaseId& id, base::Ttl ttl);
  [[nodiscard]] base::Result<store::ReleaseOutcome> release(std::string_view name,
                                                            const base::LeaseId& id);

  // Returns the store, as seen through ProviderOptions::prefix.
  [[nodiscard]] store::LeaseStore& store() const noexcept;
  // Returns ProviderOptions::clock, by which waits are measured.
  [[nodiscard]] const base::Clock& clock() const noexcept;
  // Return how many locks are held, and how many callers wait, through this provider.
  [[nodiscard]] std::size_t held() const;
  [[nodiscard]] std::size_t waiting() const;

  // Returns the state that all faces of this provider share, for authors of another one (see
  // steps/).
  [[nodiscard]] const std::shared_ptr<ProviderCore>& core() const noexcept { return core_; }

 private:
  std::shared_ptr<ProviderCore> core_;
};

// Returns `user@host:pid` of this process.
[[nodiscard]] std::string default_owner();

}  // namespace holdfast::locks
