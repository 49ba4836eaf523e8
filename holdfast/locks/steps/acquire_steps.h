#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/base/clock.h>
#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/locks/acquire_options.h>
#include <holdfast/locks/internal/poll_pause.h>
#include <holdfast/locks/internal/presence.h>
#include <holdfast/locks/internal/wait_queues.h>
#include <holdfast/locks/lock.h>
#include <holdfast/locks/lock_provider.h>
#include <holdfast/locks/steps/procedure.h>
#include <holdfast/locks/steps/release_steps.h>
#include <holdfast/locks/steps/waker.h>

namespace holdfast::locks::steps {

// One call of `acquire`, from beginning to end: a state machine without I/O and threads, driven by
// the blocking face and by the coroutine face. WaitQueues knows which waiter of the provider is the
// first for a name.
//
//   state        event                              action                         next
//   ─            start, options are invalid         ─                              done
//   ─            start, already cancelled           give up                        done
//   ─            start, others wait, or Joins::     join the queue; claim if it    claiming, or
//                at_once                            is the first                   waiting
//   ─            start, the queue is full, or       claim: the name may be free;   trying
//                too many names have one            not to wait in the store
//   ─            start, otherwise                   claim                          trying
//   trying       granted                            settle                         see settling
//   trying       busy, or a failure that passes     join the queue; watch the      subscribing,
//                                                   name if it is the first and    claiming, or
//                                                   nobody does; then claim        waiting
//   trying       busy, waits in the store, and is   claim, to leave the store's    claiming
//                not the first here                 queue
//   trying       busy for the last time, cancelled, give up                        see settling
//                the queue is full, or another
//                failure
//   claiming     granted                            leave the queue, settle        see leaving
//   claiming     busy, or a failure that passes     watch the name if it is the    subscribing,
//                                                   first and has not tried to     or waiting
//   claiming     busy for the last time, or         give up                        see leaving
//                another failure
//   subscribing  the name is watched, or cannot be  claim if it is the first: the  claiming, or
//                                                   name may just have become      waiting
//                                                   free
//   waiting      woken as the first, or granted     claim: only the store's        claiming
//                                                   answer counts
//   waiting      time to poll, or to claim for the  claim                          claiming
//                last time
//   waiting      time to show that it waits         claim a lease that says so     announcing
//   announcing   answered                           ─                              waiting
//   waiting      no time is left, not even for the  give up                        see leaving
//                last claim
//   waiting      handed over                        leave the queue, settle        see leaving
//   waiting      cancelled, or the provider ends    give up                        see leaving
//   leaving      a hand-over to it is under way     wait until that has ended      leaving
//   leaving      it has shown that it waits         release that lease             withdrawing
//   leaving      otherwise                          settle                         see settling
//   withdrawing  answered                           settle                         see settling
//   settling     has a lease                        keep the lease                 done
//   settling     has a lease that came too late or  release the lease              releasing_lease
//                is not wanted
//   settling     may hold something, or holds       release by its id              releasing_id
//                others back
//   settling     has nothing                        ─                              done
//   releasing_   released, and it gives up          ─                              done
//   lease
//   releasing_   released, it came too late         as after a failure that        as there
//   lease                                           passes
//   releasing_id released                           wake the next waiter           done
//   any          the store threw an exception       give up: it may hold           see leaving
//                                                   something
//
// It is in the queue in the states claiming, subscribing, waiting, announcing and leaving, and in
// no other.
//
// A failure passes if the store is unavailable and has answered before, or was asked only once, or
// if a reply was lost: then the claim is repeated with the same id.
//
// The whole call ends within its wait and `kGrace`, whatever the store does: every request has what
// is left of that. A lease that it could not release in this time is released by the provider, in
// the background.
class AcquireSteps final : public Procedure {
 public:
  // The time that a call may take beyond its wait, for the last claim and to release a lease that
  // it does not want: a store that has not answered by then counts as unavailable.
  static constexpr base::Duration kGrace = std::chrono::seconds(1);

  // The moment at which a caller joins the queue, if it is willing to wait. If many begin before
  // the first of them has its answer, only one of those that join at once asks the store.
  enum class Joins : std::uint8_t { when_busy, at_once };

  // Those of the table.
  enum class State : std::uint8_t {
    trying,
    claiming,
    subscribing,
    waiting,
    announcing,
    leaving,
    withdrawing,
    settling,
    releasing_lease,
    releasing_id,
    done,
  };

  // All of them outlive it; the driver cancels it at AcquireOptions::stop. `default_wait` is where
  // the options do not say; Duration::max(): without bound.
  AcquireSteps(ProviderCore& core, std::string_view name, const AcquireOptions& how,
               base::Duration default_wait, Waker& waker, Joins joins = Joins::when_busy);

  [[nodiscard]] Step start() override;
  [[nodiscard]] Step on(Answer&& answer) override;
  [[nodiscard]] Step on_exception() override;
  void watch() override;

  // Returns where it is; `trying` before the start.
  [[nodiscard]] State state() const noexcept { return state_; }
  // Returns the outcome, when done: nullopt if the lock was not acquired in time.
  [[nodiscard]] base::Result<std::optional<Lock>>& outcome() noexcept { return outcome_; }
  // Returns the error for a caller to whom such a nullopt is a failure; names the holder if the
  // store did.
  [[nodiscard]] base::Error timed_out() const;

 private:
  using Granted = internal::Granted;
  using HoldPtr = std::shared_ptr<Hold>;
  // The trace of this call that the store may have when no lease was granted.
  enum class Trace : std::uint8_t {
    none,
    waits,    // the claim is in the store's queue: it may be granted at any time
    unknown,  // a reply was lost: the lease may be there
  };

  // Events: the answer to the step of the state.
  Step on_claimed(base::Result<store::ClaimOutcome>& outcome);
  Step on_busy(const store::Busy& busy);
  Step on_failure(base::Error error);
  Step on_not_granted(base::Duration pause);
  Step on_subscribed();
  Step on_woken(Woken how);
  Step on_withdrawn(const base::Result<store::ReleaseOutcome>& outcome);
  Step on_lease_released();
  Step on_id_released(const base::Result<store::ReleaseOutcome>& outcome);

  // Actions: each enters a state.
  Step claim(base::TimePoint now);
  Step claim(base::TimePoint now, bool may_wait);
  Step join(base::TimePoint until);
  Step subscribe();
  Step wait();
  Step announce(base::TimePoint now);
  Step withdraw();
  Step cancel_wait();
  Step time_out();
  Step give_up(base::Error why);
  Step leave();
  Step settle();
  Step keep(HoldPtr hold);
  Step release_lease(HoldPtr hold);
  Step release_id();
  Step end();

  [[nodiscard]] bool has_claimed() const noexcept { return sent_.has_value(); }
  [[nodiscard]] bool is_queued() const noexcept {
    return state_ >= State::claiming && state_ <= State::leaving;
  }
  [[nodiscard]] bool is_first() const;
  // Returns whether to watch the name now; says so once while it is in the queue.
  [[nodiscard]] bool starts_watch();
  void count_contended();
  void warn_if_late(base::TimePoint now);
  [[nodiscard]] bool is_to_announce(base::TimePoint now);
  void withdraw_in_background();
  // Returns how long a request that is sent now may take.
  [[nodiscard]] base::Duration patience(base::TimePoint now) const;
  void release_id_in_background();

  ProviderCore& core_;
  const base::Clock& clock_;
  const std::string_view name_;
  const AcquireOptions& how_;
  const base::TimePoint started_;
  const base::Deadline deadline_;
  const Joins joins_;
  internal::Waiter waiter_;

  State state_ = State::trying;
  store::Claim asked_;                   // the claim under way
  std::optional<base::TimePoint> sent_;  // when the last claim was sent
  internal::PollPause pause_;
  base::TimePoint until_{};      // when to claim again, while it waits
  base::TimePoint warn_at_;      // when to log that it still waits; max(): it was logged
  base::TimePoint announce_at_;  // when to show (again) that it waits
  base::Deadline ends_;          // of the whole call
  Trace trace_ = Trace::none;
  bool is_reached_ = false;  // the store has answered
  bool is_watched_ = false;  // it has tried to watch the name since it is in the queue
  bool is_counted_ = false;  // as contended
  std::string held_by_;
  std::optional<base::Error> failure_;  // the last one since the store has answered
  std::optional<base::Error> why_;      // it gives up
  std::optional<Granted> granted_;
  HoldPtr hold_;
  std::optional<ReleaseSteps> releasing_;       // of hold_
  std::optional<internal::Presence> presence_;  // once it has announced itself
  base::Result<std::optional<Lock>> outcome_{};
};

}  // namespace holdfast::locks::steps
