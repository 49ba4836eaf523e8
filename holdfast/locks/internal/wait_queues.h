#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include <holdfast/base/clock.h>
#include <holdfast/base/error.h>
#include <holdfast/base/mutex.h>
#include <holdfast/locks/steps/waker.h>
#include <holdfast/store/claim.h>
#include <holdfast/store/lease_store.h>
#include <holdfast/store/outcome.h>

namespace holdfast::locks::internal {

// A lease that was claimed, or that another caller of this provider handed over.
struct Granted {
  store::Grant grant;
  base::TimePoint sent;  // before the request that brought it
  int in_a_row = 0;      // hand-overs since a caller of this queue claimed the name in the store
};

// One caller that waits for a name. Lives in that caller's frame. The queues change the members
// below, under their mutex.
struct Waiter {
  store::Claim claim;
  steps::Waker& waker;
  base::TimePoint waits_until = base::TimePoint::max();  // it makes its last claim then

  enum class State : std::uint8_t {
    behind,       // others are before it
    first,        // may contend for the name in the store
    offered,      // the first, and a hand-over to it is under way: it must not leave
    handed_over,  // out of the queue, with the name
  };

  // The queues'.
  std::list<Waiter*>::iterator place{};  // while it is in a queue
  State state = State::behind;
  std::optional<Granted> handed_over{};
  bool granted = false;  // the store has said so, and the waiter has not claimed since
  bool unsure = false;   // it is not known what came of a hand-over: the lease may be there

  [[nodiscard]] bool is_first() const noexcept {
    return state == State::first || state == State::offered;
  }
};

// The state of a waiter at this moment.
struct Standing {
  bool first = false;    // may contend for the name in the store
  bool granted = false;  // the store has granted its claim, and it has not claimed since
  bool closed = false;   // nobody may wait any more
  std::optional<Granted> handed_over{};
};

// The callers of one provider that wait, a queue for each name. Only the first in a queue contends
// in the store, and polls. Hints go to the first in the queue, a grant to the waiter whose claim
// was granted, wherever it is. Thread-safe. Every operation but `close` costs the same however many
// wait.
//
// The others sleep until they are woken or their wait is over. So each way to become the first that
// may contend ends with a wake-up:
//
//   it joins an empty queue                          it knows
//   the first leaves                                woken by `leave`
//   the first is handed the name, which has room    woken by `settle`
//     for more
//   the first is handed the name, which is then     not woken: there is nothing to contend for
//   until
//     full                                          the new holder, which is of this process,
//     … hands it over                               woken by `settle`
//     … releases it in the store, or throws         woken by `wake_first`, from ReleaseSteps
//     … loses it                                    woken by `wake_first`, from LeaseKeeper, which
//                                                   must run before the first hand-over
//     … detaches it                                 woken by `wake_first`, from ProviderCore
//   the store says that the name may be free        woken by the watch
class WaitQueues {
 public:
  // Makes a watch of a name in the store. It may call back at any time until the watch is
  // destroyed.
  using MakeWatch = std::function<base::Result<store::Watch>(store::WatchCallback callback)>;

  WaitQueues(std::size_t max_names, std::size_t max_per_name) noexcept
      : max_names_(max_names), max_per_name_(max_per_name) {}

  // Returns whether a caller that waits for the name could join now.
  [[nodiscard]] bool has_room(std::string_view name) const;
  // ErrorCode::limit_exceeded if there are too many, cancelled after `close`.
  [[nodiscard]] base::Result<void> join(std::string_view name, Waiter& waiter);
  // Returns whether no caller in the queue watches the name: `watch` is to be called then.
  [[nodiscard]] bool needs_watch(std::string_view name) const;
  // Notes that this waiter claims now. Returns whether the claim may wait in the store: the waiter
  // is the first in its queue.
  [[nodiscard]] bool begin_claim(Waiter& waiter);
  // Returns whether a grant to the claim of this waiter reaches it: it is the first in a queue that
  // watches the name.
  [[nodiscard]] bool hears(std::string_view name, const Waiter& waiter) const;
  // Watches the name for as long as somebody waits. Where that fails, the queue polls.
  void watch(std::string_view name, const MakeWatch& make_watch);
  // Leaves the queue and lets the next one contend. Returns false while a hand-over to it is under
  // way: call it again when it is woken. Sets `handed_over` if the name was handed over.
  [[nodiscard]] bool leave(std::string_view name, Waiter& waiter,
                           std::optional<Granted>& handed_over);
  [[nodiscard]] Standing standing(const Waiter& waiter) const;

  // Returns the first in the queue, if it wants the same permits and its wait is not over; it is
  // then sure to stay until `settle`. A waiter whose wait is over could not stay so long.
  [[nodiscard]] Waiter* offer(std::string_view name, const store::Permits& permits,
                              base::TimePoint now);
  // Ends an offer: with a grant the waiter has the name, without one it goes on contending; an
  // error leaves it unsure.
  void settle(std::string_view name, Waiter& waiter,
              const base::Result<std::optional<Granted>>& outcome);

  // Wakes the first in the queue, which then contends: the name is no longer handed on in this
  // process.
  void wake_first(std::string_view name);

  [[nodiscard]] bool has_queue(std::string_view name) const;
  [[nodiscard]] std::size_t waiting() const;
  // Nobody joins any more; wakes all waiters.
  void close();

 private:
  struct Queue {
    std::list<Waiter*> waiters;
    std::unique_ptr<store::Watch> watch;
  };
  using Queues = std::map<std::string, Queue, std::less<>>;
  struct IdHash {
    std::size_t operator()(const base::LeaseId& id) const noexcept { return id.low(); }
  };

  void enter(Queue& queue, Waiter& waiter) HOLDFAST_REQUIRES(mutex_);
  // Takes one out; returns the watch of a queue that ends with it, which must not be destroyed
  // under the mutex: its callback may be waiting for that.
  [[nodiscard]] std::unique_ptr<store::Watch> remove(std::string_view name, Waiter& waiter)
      HOLDFAST_REQUIRES(mutex_);
  // Returns null if there is no queue.
  [[nodiscard]] Waiter* first_in(std::string_view name) const HOLDFAST_REQUIRES(mutex_);
  void on_notice(std::string_view name, const store::Notice& notice);

  const std::size_t max_names_;
  const std::size_t max_per_name_;
  mutable base::Mutex mutex_;
  Queues queues_ HOLDFAST_GUARDED_BY(mutex_);
  // All that are in a queue.
  std::unordered_map<base::LeaseId, Waiter*, IdHash> by_claim_ HOLDFAST_GUARDED_BY(mutex_);
  bool closed_ HOLDFAST_GUARDED_BY(mutex_) = false;
  std::atomic<std::size_t> waiting_ = 0;  // written under mutex_, read without
};

}  // namespace holdfast::locks::internal
