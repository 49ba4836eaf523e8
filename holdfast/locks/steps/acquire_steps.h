#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/base/clock.h>
#include <holdfast/base/deadline.h>
#include <holdfast/base/error.h>
#include <holdfast/locks/acquire_options.h>
#include <holdfast/locks/internal/acquire_machine.h>
#include <holdfast/locks/internal/wait_lines.h>
#include <holdfast/locks/lock.h>
#include <holdfast/locks/steps/procedure.h>
#include <holdfast/locks/steps/release_steps.h>
#include <holdfast/locks/steps/ringer.h>

namespace holdfast::locks::internal {
class ProviderCore;
}  // namespace holdfast::locks::internal

namespace holdfast::locks::steps {

// One call of `acquire`, from beginning to end: an AcquireMachine, the line in which it waits, and
// what it has to give back when it gives up.
//
//   claim    answered "busy", it joins the line, sees to it that the line watches the name, and
//            claims again: the name may just have become free
//   in line  it waits until it is rung or the time has come. The first in line claims, with
//            Claim::waits; the others are handed the name, or become the first. A waiter that is
//            told of its grant claims again, and only the store's answer counts: it brings the
//            token and a whole lease
//   at last  it leaves the line, once nobody is about to hand it the name, and keeps the lease, or
//            gives back what it may have
//
// The whole call ends within its wait and `kGrace`, whatever the store does: every request has what
// is left of that. What it could not give back in this time, the provider gives back in the
// background.
class AcquireSteps final : public Procedure {
 public:
  // How long a call may take beyond its wait, for the last claim and to give back what it does not
  // want: a store that has not answered by then counts as unavailable.
  static constexpr base::Duration kGrace = std::chrono::seconds(1);

  // When it stands in line, if it is willing to wait. Where many begin before the first of them is
  // answered, only one of those who stand in line at once asks the store.
  enum class Stands : std::uint8_t { when_busy, at_once };

  // All of them outlive it. `default_wait` is where the options do not say; Duration::max():
  // without bound.
  AcquireSteps(internal::ProviderCore& core, std::string_view name, const AcquireOptions& how,
               base::Duration default_wait, Ringer& ringer, Stands stands = Stands::when_busy);

  [[nodiscard]] Step start() override;
  [[nodiscard]] Step on(Answer&& answer) override;
  void watch() override;

  // From any thread: it ends as after AcquireOptions::stop. Ring afterwards.
  void cancel() noexcept { cancelled_.store(true, std::memory_order_relaxed); }
  // Instead of an answer that will never come, because the store threw an exception: gives back
  // whatever it may have.
  [[nodiscard]] Step abandon();

  // When done: null if the name was not to be had in time.
  [[nodiscard]] base::Result<std::shared_ptr<internal::Hold>>& outcome() noexcept {
    return outcome_;
  }

 private:
  using Action = internal::AcquireMachine::Action;
  using GiveUp = internal::AcquireMachine::GiveUp;
  using Granted = internal::Granted;
  using HoldPtr = std::shared_ptr<internal::Hold>;

  enum class Phase : std::uint8_t {
    joining,      // asked to be told of hints
    claiming,     // asked for the name
    sleeping,     // in line
    leaving,      // until a hand-over that is under way is settled
    releasing,    // a lease that came too late, or is not wanted any more
    giving_back,  // what it may have, or holds back
  };
  enum class Goal : std::uint8_t { have, give_up };

  Step proceed(const Action& action);
  // The first in line claims at once; the others wait.
  Step join(base::TimePoint until);
  Step see_to_watch(Step (AcquireSteps::*otherwise)());
  Step joined();
  Step claim(base::TimePoint now);
  Step claimed(base::Result<store::ClaimOutcome>& outcome);
  Step sleep();
  Step woken(Woken how);
  Step finish(const Granted& granted);
  Step give_up(GiveUp why);
  Step turned_away(base::Error error);
  Step leave();
  Step take();
  Step have(HoldPtr hold);
  Step let_go(HoldPtr hold);
  Step release();
  Step give_back();
  Step gave_back(const base::Result<store::ReleaseOutcome>& outcome);
  Step end();

  [[nodiscard]] bool stopped() const noexcept {
    return cancelled_.load(std::memory_order_relaxed) || how_.stop.stop_requested();
  }
  void count_contended();
  void warn_if_late(base::TimePoint now);
  // Returns how long a request that is sent now may take.
  [[nodiscard]] base::Duration patience(base::TimePoint now) const;
  void give_back_in_background();

  internal::ProviderCore& core_;
  const base::Clock& clock_;
  const std::string_view name_;
  const AcquireOptions& how_;
  const base::TimePoint started_;
  const base::Deadline deadline_;
  const Stands stands_;
  std::atomic<bool> cancelled_ = false;
  internal::AcquireMachine machine_;
  internal::Waiter waiter_;

  Phase phase_ = Phase::claiming;
  Goal goal_ = Goal::have;
  base::TimePoint until_{};  // when to look again, in line
  store::Claim asked_;       // the claim under way
  base::TimePoint sent_{};   // when it was sent
  base::Deadline ends_;      // of the whole call
  GiveUp why_{};
  std::optional<Granted> granted_;
  bool in_line_ = false;
  bool claimed_ = false;     // has asked the store
  bool contended_ = false;   // has had to wait
  bool pending_ = false;     // the store may grant it the name at any time
  bool watched_ = false;     // has seen to it that the line watches the name
  bool knew_first_ = false;  // has contended as the first in line
  bool warned_ = false;
  std::string held_by_;
  base::Error last_error_{};
  HoldPtr hold_;
  std::optional<ReleaseSteps> releasing_;  // of hold_
  base::Result<HoldPtr> outcome_{};
};

// The outcome as `try_acquire` returns it, and as `acquire` does, which knows no "nothing".
[[nodiscard]] base::Result<std::optional<Lock>> or_nothing(
    base::Result<std::shared_ptr<internal::Hold>>&& outcome);
[[nodiscard]] base::Result<Lock> or_timed_out(
    base::Result<std::shared_ptr<internal::Hold>>&& outcome);

}  // namespace holdfast::locks::steps
