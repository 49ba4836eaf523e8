#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <holdfast/base/clock.h>
#include <holdfast/base/log.h>
#include <holdfast/locks/internal/hold.h>
#include <holdfast/locks/metrics.h>
#include <holdfast/locks/steps/bell.h>
#include <holdfast/store/lease_store.h>

namespace holdfast::locks::internal {

// Renews all leases of a provider: one thread, one batch at a time, started with the first lease. A
// batch has 4,096 leases at most: the next follows at once if more are due.
//
// Thread-safe. Adding and removing a lease is a few instructions under a mutex, however many there
// are; the thread looks at all of them when one is due. A lease that could not be renewed in time
// is lost: the store is asked for no longer than the next lease is valid, and for a second at most,
// so that `lost` fires on time even while the store does not answer. Only a lease of less than a
// second that is added during such a request may be reported late.
class LeaseKeeper {
 public:
  LeaseKeeper(store::LeaseStore& store, const base::Clock& clock, const base::Logger& logger,
              const Metrics& metrics);
  // Loses what is still held.
  ~LeaseKeeper();

  // False if there is no thread to renew it with: it is not kept. After stop() it is lost at once.
  [[nodiscard]] bool add(const std::shared_ptr<Hold>& hold);
  // A renewal of it that is under way has no effect on it any more.
  void remove(Hold& hold);
  // For a hold that has ended, whose lease is left to run out: it is renewed until it is whole.
  void remove_when_whole(Hold& hold);
  // Renews nothing more, and loses what is held.
  void stop();

  [[nodiscard]] std::size_t size() const;

 private:
  using Holds = std::vector<std::shared_ptr<Hold>>;

  // Whether there is a thread, started if need be.
  [[nodiscard]] bool ensure_thread();
  void run(const std::stop_token& stop);
  // Takes those that are lost out of the list; returns those that are to be renewed.
  Holds collect(base::TimePoint now, Holds& lost);
  void renew(const Holds& batch);
  // Returns how many were renewed.
  std::size_t apply(const Holds& batch,
                    const base::Result<std::vector<store::RenewOutcome>>& outcomes,
                    base::TimePoint sent, Holds& lost);
  // Tells of the leases whose own record could not be renewed.
  void report_failed(const Holds& batch, const std::vector<store::RenewOutcome>& outcomes) const;
  void report_lost(const Holds& lost) const;
  [[nodiscard]] bool keeps(const Hold& hold) const noexcept;
  void erase(Hold& hold);

  store::LeaseStore& store_;
  const base::Clock& clock_;
  const base::Logger& logger_;
  const Metrics& metrics_;

  mutable std::mutex mutex_;
  Holds holds_;                                    // protected by mutex_
  base::TimePoint next_ = base::TimePoint::max();  // when to look again; protected by mutex_
  bool stopped_ = false;                           // protected by mutex_
  steps::Bell bell_;
  std::jthread thread_;
};

}  // namespace holdfast::locks::internal
