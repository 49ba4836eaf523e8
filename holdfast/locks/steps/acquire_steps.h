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
#include <holdfast/locks/internal/claim_schedule.h>
#include <holdfast/locks/internal/wait_queues.h>
#include <holdfast/locks/lock.h>
#include <holdfast/locks/lock_provider.h>
#include <holdfast/locks/steps/procedure.h>
#include <holdfast/locks/steps/release_steps.h>
#include <holdfast/locks/steps/waker.h>

namespace holdfast::locks::steps {

// One call of `acquire`, from beginning to end: a state machine without I/O and threads, driven by
// the blocking face and by that for coroutines. When to claim again is ClaimSchedule's matter, who
// is first that of WaitQueues.
//
//   state        event                              action                         next
//   ─            start, options are invalid         ─                              done
//   ─            start, already cancelled           give up                        settling
//   ─            start, others wait, or Joins::    join the queue; claim if it    claiming, or
//                at_once                            is the first                   waiting
//   ─            start, otherwise                   claim                          trying
//   trying       granted                            ─                              settling
//   trying       busy, or a failure that passes     join the queue; watch the      subscribing,
//                                                   name if it is the first        or waiting
//   trying       busy, waits in the store, and is   claim, to leave the store's    claiming
//                not the first here                 queue
//   trying       busy for the last time, cancelled, give up                        settling
//                the queue is full, or another
//                failure
//   claiming     granted                            leave the queue                leaving
//   claiming     busy, or a failure that passes     watch the name if it is the    subscribing,
//                                                   first and has not tried to     or waiting
//   claiming     busy for the last time, or         give up                        leaving
//                another failure
//   subscribing  the name is watched, or cannot be  claim if it is the first: the  claiming, or
//                                                   name may just have become      waiting
//                                                   free
//   waiting      woken as the first, or granted     claim: only the store's        claiming
//                                                   answer counts
//   waiting      time to poll, or to claim for      claim                          claiming
//                the last time
//   waiting      handed over                        leave the queue                leaving
//   waiting      cancelled, or the provider ends    give up                        leaving
//   leaving      a hand-over to it is under way     wait until that is settled     leaving
//   leaving      out of the queue                   ─                              settling
//   settling     with a lease                       keep the lease                 done
//   settling     with a lease that is too late or   release the lease              returning
//                not wanted
//   settling     may hold something, or holds       release by its id              returning
//                others back
//   settling     with nothing                       ─                              done
//   returning    released, and it gives up          release by its id, if it may   returning, or
//                                                   hold more                      done
//   returning    released, it was too late          as after a failure that        as there
//                                                   passes
//
// It is in the queue in the states claiming, subscribing, waiting and leaving, and in no other.
//
// The whole call ends within its wait and `kGrace`, whatever the store does: every request has what
// is left of that. What it could not give back in this time, the provider gives back in the
// background.
class AcquireSteps final : public Procedure {
 public:
  // How long a call may take beyond its wait, for the last claim and to give back what it does not
  // want: a store that has not answered by then counts as unavailable.
  static constexpr base::Duration kGrace = std::chrono::seconds(1);

  // When it joins the queue, if it is willing to wait. Where many begin before the first of them is
  // answered, only one of those that join at once asks the store.
  enum class Joins : std::uint8_t { when_busy, at_once };

  // All of them outlive it; the driver cancels it at AcquireOptions::stop. `default_wait` is where
  // the options do not say; Duration::max(): without bound.
  AcquireSteps(ProviderCore& core, std::string_view name, const AcquireOptions& how,
               base::Duration default_wait, Waker& waker, Joins joins = Joins::when_busy);

  [[nodiscard]] Step start() override;
  [[nodiscard]] Step on(Answer&& answer) override;
  void watch() override;

  // Takes the place of an answer that will never come, because the store threw an exception:
  // releases whatever it may have.
  [[nodiscard]] Step abandon();

  // Returns the outcome, when done: nullopt if the lock was not acquired in time.
  [[nodiscard]] base::Result<std::optional<Lock>>& outcome() noexcept { return outcome_; }
  // Returns the error for a caller to whom such a nullopt is a failure; names the holder if the
  // store did.
  [[nodiscard]] base::Error timed_out() const;

 private:
  using GiveUp = internal::ClaimSchedule::GiveUp;
  using Granted = internal::Granted;
  using HoldPtr = std::shared_ptr<Hold>;
  enum class State : std::uint8_t {
    trying,
    claiming,
    subscribing,
    waiting,
    leaving,
    settling,
    returning,
    done,
  };

  // Events: what came of the step that the state has asked for.
  Step on_claimed(base::Result<store::ClaimOutcome>& outcome);
  Step on_not_granted(const internal::ClaimSchedule::Answer& answer);
  Step on_subscribed();
  Step on_woken(Woken how);
  Step on_lease_released();
  Step on_id_released(const base::Result<store::ReleaseOutcome>& outcome);

  // Actions: each enters a state.
  Step claim(base::TimePoint now);
  Step join(base::TimePoint until);
  Step subscribe(Step (AcquireSteps::*otherwise)());
  Step wait();
  Step give_up(GiveUp why);
  Step give_up(base::Error error);
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
  void count_contended();
  void warn_if_late(base::TimePoint now);
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
  internal::ClaimSchedule schedule_;
  internal::Waiter waiter_;

  State state_ = State::trying;
  base::TimePoint until_{};              // when to claim again, while it waits
  store::Claim asked_;                   // the claim under way
  std::optional<base::TimePoint> sent_;  // when the last claim was sent
  base::Deadline ends_;                  // of the whole call
  std::optional<GiveUp> why_;            // it gives up
  std::optional<Granted> granted_;
  bool pending_ = false;    // the store may grant it the name at any time
  bool watched_ = false;    // has tried to watch the name since it is in the queue
  bool contended_ = false;  // has been counted as such
  bool warned_ = false;     // has been logged as late
  std::string held_by_;
  base::Error last_error_{};
  HoldPtr hold_;
  std::optional<ReleaseSteps> releasing_;  // of hold_
  base::Result<std::optional<Lock>> outcome_{};
};

}  // namespace holdfast::locks::steps
