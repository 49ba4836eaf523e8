#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/base/clock.h>
#include <holdfast/base/log.h>
#include <holdfast/base/mutex.h>
#include <holdfast/locks/internal/due_index.h>
#include <holdfast/locks/internal/hold.h>
#include <holdfast/locks/internal/runtime.h>
#include <holdfast/locks/internal/shortest_ttl.h>
#include <holdfast/locks/lock_provider.h>
#include <holdfast/locks/metrics.h>
#include <holdfast/locks/steps/procedure.h>
#include <holdfast/store/lease_store.h>

namespace holdfast::locks::internal {

// Renews all leases of a provider, and fires `lost` for those that could not be renewed in time.
//
// Thread-safe. Two procedures run in the background, each in a thread, started with the first
// lease, or by start() if that is on request:
//   the renewer  asks the store to renew the leases that are due, 4,096 in a request, and writes
//                the log. It may be blocked in the store for as long as a disk or a server stalls.
//   the expirer  fires `lost` when the local deadline of a lease has come. It does no I/O, takes no
//                lock but the mutex and asks nothing of the store, so that nothing delays it but
//                the stop callbacks of the program itself. Afterwards it calls OnLost.
// OnLost may take a lock of its own for a moment. The mutex is held for a bounded number of leases
// at a time, and never while the store, the log, the metrics or a stop callback are called.
//
// Adding and removing a lease costs the same however many there are, and so does a round of
// either thread for a lease that is not due.
//
// A request may take half of what is left of its leases and half of the shortest ttl, but at least
// 100 ms and at most a second: so there is time for another over a new connection, and for leases
// that become due meanwhile.
class LeaseKeeper {
 public:
  // Called with the name of a lease after `lost` has fired, from either thread; must be quick.
  using OnLost = std::function<void(std::string_view name)>;

  LeaseKeeper(store::LeaseStore& store, const base::Clock& clock, const base::Logger& logger,
              const Metrics& metrics, OnLost on_lost = {},
              const Runtime& runtime = process_runtime(),
              Keeping keeping = Keeping::from_the_first_lock);
  // Loses what is still held.
  ~LeaseKeeper();

  // Keeps the lease until remove() or until it is lost. Returns false if a thread could not be
  // started: the lease is not kept. After stop() the lease is lost at once.
  [[nodiscard]] bool add(const std::shared_ptr<Hold>& hold);
  // Starts the threads, if they do not run. Returns false if one could not be started.
  [[nodiscard]] bool start();
  // Returns whether the threads were started: until then OnLost is not called.
  [[nodiscard]] bool is_started() const noexcept { return is_started_; }
  // A renewal of it that is under way has no effect on it any more.
  void remove(Hold& hold);
  // Loses what is held, and waits for the request that is under way.
  void stop();

  [[nodiscard]] std::size_t size() const;
  // Returns how many times a lease was looked at to see whether it is due, for tests of the cost.
  [[nodiscard]] std::uint64_t visits() const;

 private:
  using Holds = std::vector<std::shared_ptr<Hold>>;
  using Outcomes = base::Result<std::vector<store::RenewOutcome>>;

  struct Batch {
    Holds holds;
    base::Duration patience{};
  };
  enum class Cause : std::uint8_t { taken_away, not_renewed_in_time };
  struct Loss {
    std::shared_ptr<Hold> hold;
    Cause cause;
  };
  using Losses = std::vector<Loss>;
  struct Applied {
    std::size_t renewed = 0;
    std::size_t failed = 0;
    Holds refused;  // those whose own record the store could not renew
    Losses lost;
  };

  // Return the next steps of the two procedures when it is their turn.
  [[nodiscard]] steps::Step expire_due();
  [[nodiscard]] steps::Step renew_due();
  void on_renewed(const Outcomes& outcomes);

  Applied apply(const Holds& batch, const Outcomes& outcomes, base::TimePoint sent);
  void note_health(const Applied& applied, const Outcomes& outcomes);
  // Fires `lost`, and leaves the log to the renewer.
  void fire(Losses losses);
  void log_losses();

  [[nodiscard]] bool ensure_started() HOLDFAST_REQUIRES(mutex_);
  void keep(const std::shared_ptr<Hold>& hold) HOLDFAST_REQUIRES(mutex_);
  std::shared_ptr<Hold> forget(Hold& hold) noexcept HOLDFAST_REQUIRES(mutex_);
  void plan_renewal(Hold& hold, base::TimePoint now) HOLDFAST_REQUIRES(mutex_);
  Losses expire(base::TimePoint now) HOLDFAST_REQUIRES(mutex_);
  Batch take_batch(base::TimePoint now) HOLDFAST_REQUIRES(mutex_);
  void apply_one(const std::shared_ptr<Hold>& hold, const store::RenewOutcome* outcome,
                 base::TimePoint sent, base::TimePoint now, Applied& applied)
      HOLDFAST_REQUIRES(mutex_);

  class Expirer final : public steps::Procedure {
   public:
    explicit Expirer(LeaseKeeper& keeper) noexcept : keeper_(keeper) {}
    [[nodiscard]] steps::Step start() override { return next(); }
    [[nodiscard]] steps::Step on(steps::Answer&& /*woken*/) override { return next(); }

   private:
    steps::Step next() { return is_cancelled() ? steps::Step{} : keeper_.expire_due(); }
    LeaseKeeper& keeper_;
  };
  class Renewer final : public steps::Procedure {
   public:
    explicit Renewer(LeaseKeeper& keeper) noexcept : keeper_(keeper) {}
    [[nodiscard]] steps::Step start() override { return next(); }
    [[nodiscard]] steps::Step on(steps::Answer&& answer) override;
    [[nodiscard]] steps::Step on_exception() override;

   private:
    steps::Step next() { return is_cancelled() ? steps::Step{} : keeper_.renew_due(); }
    LeaseKeeper& keeper_;
  };

  const base::Clock& clock_;
  const Runtime& runtime_;
  const base::Logger& logger_;
  const Metrics& metrics_;
  const OnLost on_lost_;
  const Keeping keeping_;

  mutable base::Mutex mutex_;
  // Every lease that is kept; one that was renewed may be due early.
  DueIndex deadlines_ HOLDFAST_GUARDED_BY(mutex_);
  // Every lease that is kept, to be renewed again and not under way.
  DueIndex renewals_ HOLDFAST_GUARDED_BY(mutex_);
  ShortestTtl shortest_ttl_ HOLDFAST_GUARDED_BY(mutex_);
  Losses unlogged_ HOLDFAST_GUARDED_BY(mutex_);
  bool stopped_ HOLDFAST_GUARDED_BY(mutex_) = false;
  std::atomic<bool> is_started_ = false;  // written under mutex_, read without

  // The renewer's alone.
  bool is_failing_ = false;
  std::string last_failure_;
  Batch batch_;  // of the request under way
  std::vector<store::Renewal> renewals_of_batch_;
  base::TimePoint sent_{};

  Expirer expirer_{*this};
  Renewer renewer_{*this};
  // Last: they use all of the above.
  const std::unique_ptr<Background> expiring_;
  const std::unique_ptr<Background> renewing_;
};

}  // namespace holdfast::locks::internal
