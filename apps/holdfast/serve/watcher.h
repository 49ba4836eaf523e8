#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include <holdfast/base/clock.h>
#include <holdfast/locks/deadlock.h>
#include <holdfast/store/lease_store.h>

#include "apps/holdfast/serve/chronicle.h"
#include "apps/holdfast/serve/snapshot.h"
#include "apps/holdfast/waiting/hint_signal.h"

namespace holdfast::cli::serve {

// Lists a store again and again, in a thread of its own, at a pace that the store does not notice
// (pause_after). So any number of clients costs the store no more than one does.
//
// Thread-safe. Its destructor waits for the listing that is under way: at most as long as a store
// takes to answer, or not to.
class Watcher {
 public:
  // The budget of the history of all names.
  static constexpr std::size_t kHistoryBytes = std::size_t{64} << 20U;

  // `changed` is called after each listing, from the watcher's thread.
  Watcher(std::shared_ptr<store::LeaseStore> store, base::Duration every,
          std::function<void()> changed);

  [[nodiscard]] SharedSnapshot snapshot() const;
  // Calls `read` while the history does not change.
  template <class Read>
  auto history(Read&& read) const {
    const std::lock_guard guard(mutex_);
    return std::forward<Read>(read)(chronicle_);
  }
  void note_steal(const base::LeaseId& id);
  void forget_steal(const base::LeaseId& id);
  // Lists now.
  void refresh() {
    refresh_ = true;
    wake_.notify();
  }

 private:
  void run(const std::stop_token& stop);
  void pause(const Snapshot& latest, const std::stop_token& stop);
  // Makes the next snapshot, of a store that answers or of one that does not.
  [[nodiscard]] Snapshot look(const Snapshot& before);
  void find_deadlocks(Snapshot& next, base::TimePoint began);

  const std::shared_ptr<store::LeaseStore> store_;
  const base::Duration every_;
  const std::function<void()> changed_;
  HintSignal wake_;
  std::atomic<bool> refresh_ = false;
  mutable std::mutex mutex_;
  SharedSnapshot latest_ = std::make_shared<const Snapshot>();  // protected by mutex_
  Chronicle chronicle_{kHistoryBytes};                          // protected by mutex_
  // The waits some time ago, of the watcher's thread: the first is older than a waiter takes to
  // show itself again, the second will be.
  struct Waits {
    locks::WaitListing listing{};
    base::TimePoint taken{};
  };
  Waits earlier_{};
  Waits later_{};
  std::jthread thread_;  // the last: it uses all of them
};

}  // namespace holdfast::cli::serve
