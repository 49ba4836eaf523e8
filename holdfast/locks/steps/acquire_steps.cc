#include <holdfast/locks/steps/acquire_steps.h>

#include <algorithm>
#include <utility>

#include <holdfast/base/duration_text.h>
#include <holdfast/base/printable.h>
#include <holdfast/base/saturate.h>
#include <holdfast/locks/internal/provider_core.h>
#include <holdfast/locks/or_timed_out.h>
#include <holdfast/store/waiting_name.h>

namespace holdfast::locks::steps {

namespace {

using base::ErrorCode;
using base::Result;

using internal::Presence;

base::Deadline deadline_of(base::TimePoint started, base::Duration wait) {
  return wait == base::Duration::max() ? base::Deadline::never()
                                       : base::Deadline::at(base::add_saturating(started, wait));
}

}  // namespace

AcquireSteps::AcquireSteps(ProviderCore& core, std::string_view name, const AcquireOptions& how,
                           base::Duration default_wait, Waker& waker, Joins joins)
    : core_(core),
      clock_(*core.options.clock),
      name_(name),
      how_(how),
      started_(clock_.now()),
      deadline_(deadline_of(started_, how.wait.value_or(default_wait))),
      joins_(joins),
      waiter_{.claim = core.make_claim(how, how.wait.value_or(default_wait)),
              .waker = waker,
              .waits_until = deadline_.when()},
      asked_(waiter_.claim),
      pause_(core.options.poll_least, core.options.poll_most, core.push),
      warn_at_(base::add_saturating(started_, core.options.warn_after)),
      announce_at_(Presence::fits(name)
                       ? base::add_saturating(started_, core.options.announce_after)
                       : base::TimePoint::max()),
      ends_(base::Deadline::at(base::add_saturating(deadline_.when(), kGrace))) {
  waiter_.claim.waits = true;  // for a holder that hands over to it
}

Step AcquireSteps::start() {
  if (auto valid = check(how_, waiter_.claim.ttl); !valid) {
    outcome_ = std::unexpected(std::move(valid).error());
    state_ = State::done;
    return {};
  }
  if (store::is_waiting_name(name_)) {
    outcome_ = base::fail(ErrorCode::invalid_argument, "names that begin with " +
                                                           std::string(store::kWaitingPrefix) +
                                                           " are reserved: they show waiters");
    state_ = State::done;
    return {};
  }
  if (is_cancelled()) {
    return cancel_wait();
  }
  const bool is_patient = !deadline_.expired(started_);
  if (is_patient && (joins_ == Joins::at_once || core_.queues.has_queue(name_))) {
    // Behind earlier callers; it claims when it is the first.
    return join(deadline_.when());
  }
  return claim(started_);
}

Step AcquireSteps::on(Answer&& answer) {
  switch (state_) {
    case State::trying:
    case State::claiming: return on_claimed(std::get<Result<store::ClaimOutcome>>(answer));
    case State::subscribing: return on_subscribed();
    case State::waiting: return on_woken(std::get<Woken>(answer));
    case State::announcing: return wait();
    case State::leaving: return leave();
    case State::withdrawing: return on_withdrawn(std::get<Result<store::ReleaseOutcome>>(answer));
    case State::releasing_lease: {
      const Step next = releasing_->on(std::move(answer));
      return next.kind == Step::Kind::done ? on_lease_released() : next;
    }
    case State::releasing_id:
      return on_id_released(std::get<Result<store::ReleaseOutcome>>(answer));
    case State::settling:
    case State::done: break;
  }
  return {};
}

// Its first claim waits in the store, so that no later caller passes it while it subscribes; not
// where it could not wait for the answer. Afterwards only that of the first in the queue does.
Step AcquireSteps::claim(base::TimePoint now) {
  return claim(now, is_queued() ? core_.queues.begin_claim(waiter_) : core_.queues.has_room(name_));
}

// The last claim does not wait in the store: it gives up then.
Step AcquireSteps::claim(base::TimePoint now, bool may_wait) {
  const base::Duration patience = this->patience(now);
  if (patience <= base::Duration::zero()) {
    return time_out();
  }
  sent_ = now;
  state_ = is_queued() ? State::claiming : State::trying;
  asked_.waits = may_wait && !deadline_.expired(now);
  return {.kind = Step::Kind::claim,
          .name = name_,
          .claim = &asked_,
          .deadline = core_.deadline_after(patience)};
}

Step AcquireSteps::on_claimed(Result<store::ClaimOutcome>& outcome) {
  if (!outcome) {
    return on_failure(std::move(outcome).error());
  }
  if (const auto* const grant = std::get_if<store::Grant>(&*outcome)) {
    granted_ = Granted{*grant, *sent_};
    return leave();
  }
  return on_busy(std::get<store::Busy>(*outcome));
}

// A store that answers "busy" to this id has no lease for it.
Step AcquireSteps::on_busy(const store::Busy& busy) {
  is_reached_ = true;
  failure_.reset();
  trace_ = busy.pending ? Trace::waits : Trace::none;
  if (!busy.holders.empty()) {
    held_by_ = busy.holders.front().owner;
  }
  // Without a watch no grant would reach it.
  const bool hears = busy.position > 0 && is_queued() && core_.queues.hears(name_, waiter_);
  return on_not_granted(
      pause_.after_busy(busy.frees_in, core_.runtime.random_fraction(), hears ? busy.position : 0));
}

Step AcquireSteps::on_failure(base::Error error) {
  if (error.code == ErrorCode::unknown_outcome) {
    core_.count("unknown_outcome", name_);
    trace_ = Trace::unknown;
  }
  if (error.code == ErrorCode::internal) {
    trace_ = Trace::unknown;
    return give_up(std::move(error));
  }
  const bool passes = trace_ == Trace::unknown ||
                      (error.code == ErrorCode::unavailable && (is_reached_ || !failure_));
  failure_ = std::move(error);
  return passes ? on_not_granted(pause_.after_failure(core_.runtime.random_fraction()))
                : give_up(*failure_);
}

Step AcquireSteps::on_not_granted(base::Duration pause) {
  const bool was_last = has_claimed() && deadline_.expired(*sent_);
  if (was_last) {
    return time_out();
  }
  const base::TimePoint until =
      std::min(base::add_saturating(clock_.now(), pause), deadline_.when());
  if (is_cancelled()) {
    return cancel_wait();
  }
  if (!is_queued()) {
    return join(until);
  }
  if (!is_first()) {
    until_ = deadline_.when();  // the first polls for all
    return wait();
  }
  until_ = until;
  return starts_watch() ? subscribe() : wait();
}

Step AcquireSteps::join(base::TimePoint until) {
  if (auto joined = core_.queues.join(name_, waiter_); !joined) {
    const bool may_be_free = !has_claimed() && joined.error().code == ErrorCode::limit_exceeded;
    return may_be_free ? claim(clock_.now(), false) : give_up(std::move(joined).error());
  }
  state_ = State::waiting;
  is_watched_ = false;
  if (!is_first()) {
    until_ = deadline_.when();  // the first polls for all
    count_contended();
    // Its first claim waits in the store, which may have granted it before anybody watched: asked
    // once more, the store confirms that, or takes the claim out of its queue.
    return trace_ == Trace::waits ? claim(clock_.now()) : wait();
  }
  until_ = until;
  // It may have become free before it was in the queue, so that it claims in any case.
  return has_claimed() && starts_watch() ? subscribe() : claim(clock_.now());
}

// To watch takes a request: not where only the last claim is left.
bool AcquireSteps::starts_watch() {
  if (std::exchange(is_watched_, true)) {
    return false;
  }
  count_contended();
  return !deadline_.expired(clock_.now()) && core_.queues.needs_watch(name_);
}

Step AcquireSteps::subscribe() {
  state_ = State::subscribing;
  return {.kind = Step::Kind::watch};
}

void AcquireSteps::watch() {
  core_.queues.watch(name_, [this](store::WatchCallback callback) {
    return core_.store->watch(name_, std::move(callback));
  });
}

// The name may have become free before the watch began.
Step AcquireSteps::on_subscribed() {
  return is_first() && !is_cancelled() ? claim(clock_.now()) : wait();
}

// Waits, unless there is something to do already.
Step AcquireSteps::wait() { return on_woken({.by_waker = false}); }

Step AcquireSteps::on_woken(Woken how) {
  const base::TimePoint now = clock_.now();
  warn_if_late(now);
  const internal::Standing standing = core_.queues.standing(waiter_);
  if (standing.handed_over) {
    return leave();
  }
  if (is_cancelled() || standing.closed) {
    return cancel_wait();
  }
  if (standing.granted || (standing.first && how.by_waker) || now >= until_) {
    return claim(now);
  }
  if (is_to_announce(now)) {
    return announce(now);
  }
  state_ = State::waiting;
  const base::TimePoint wake = std::min({until_, warn_at_, announce_at_});
  // A poll may be late, the end of the caller's wait may not.
  return Step::wait_until(wake, std::min(base::subtract_saturating(wake, now) / 2,
                                         base::subtract_saturating(deadline_.when(), wake)));
}

// Not to a store that does not answer, and not in the last moment.
bool AcquireSteps::is_to_announce(base::TimePoint now) {
  if (now < announce_at_) {
    return false;
  }
  if (failure_ || deadline_.remaining(now) < Presence::kPatience) {
    announce_at_ = base::add_saturating(now, std::chrono::seconds(1));
    return false;
  }
  return true;
}

// Whatever comes of it: it is for people, who can look again.
Step AcquireSteps::announce(base::TimePoint now) {
  if (!presence_) {
    presence_.emplace(name_, waiter_.claim, how_.holding, now - started_);
  }
  announce_at_ = base::add_saturating(now, presence_->renew_every());
  state_ = State::announcing;
  return {.kind = Step::Kind::claim,
          .name = presence_->name(),
          .claim = &presence_->claim(),
          .deadline = core_.deadline_after(Presence::kPatience)};
}

// A caller never returns while others still see that it waits, unless the store does not answer.
Step AcquireSteps::withdraw() {
  if (!presence_) {
    return settle();
  }
  const base::TimePoint now = clock_.now();
  announce_at_ = now;  // if it waits again
  // A lease that was granted must still be worth something afterwards.
  const base::Duration patience =
      std::min({Presence::kPatience, this->patience(now), waiter_.claim.ttl.unchecked() / 4});
  if (failure_ || patience <= base::Duration::zero()) {
    withdraw_in_background();
    return settle();
  }
  state_ = State::withdrawing;
  return {.kind = Step::Kind::release,
          .name = presence_->name(),
          .id = waiter_.claim.id,
          .deadline = core_.deadline_after(patience)};
}

Step AcquireSteps::on_withdrawn(const Result<store::ReleaseOutcome>& outcome) {
  if (outcome) {
    presence_.reset();
  } else {
    withdraw_in_background();
  }
  return settle();
}

void AcquireSteps::withdraw_in_background() {
  core_.background_releases.add(presence_->name(), waiter_.claim.id,
                                presence_->claim().ttl.unchecked());
  presence_.reset();
}

Step AcquireSteps::cancel_wait() {
  return give_up({ErrorCode::cancelled, is_cancelled() ? "the wait was cancelled"
                                                       : "the lock provider is shutting down"});
}

Step AcquireSteps::time_out() {
  return give_up(failure_.value_or(base::Error{ErrorCode::timed_out, {}}));
}

Step AcquireSteps::give_up(base::Error why) {
  why_ = std::move(why);
  granted_.reset();
  const base::TimePoint latest = base::add_saturating(clock_.now(), kGrace);
  ends_ = base::Deadline::at(std::min(ends_.when(), latest));
  return leave();
}

Step AcquireSteps::on_exception() {
  const bool was_releasing_id = state_ == State::releasing_id;
  releasing_.reset();
  if (presence_) {
    withdraw_in_background();
  }
  if (was_releasing_id) {
    core_.queues.wake_first(name_);
    return end();
  }
  trace_ = Trace::unknown;
  return cancel_wait();
}

Step AcquireSteps::leave() {
  if (is_queued()) {
    std::optional<Granted> handed_over;
    if (!core_.queues.leave(name_, waiter_, handed_over)) {
      state_ = State::leaving;
      return Step::wait_until(base::TimePoint::max());
    }
    if (handed_over) {
      granted_ = handed_over;
    }
  }
  return withdraw();
}

// Out of the queue.
Step AcquireSteps::settle() {
  state_ = State::settling;
  if (!granted_) {
    return release_id();
  }
  HoldPtr hold = core_.make_hold(name_, waiter_.claim, how_, *granted_);
  const bool is_late = hold->granted >= hold->valid_until();
  // A grant in the last moment is welcome, but not to a caller that has cancelled.
  const bool is_wanted = !why_ || why_->code != ErrorCode::cancelled;
  return is_late || !is_wanted ? release_lease(std::move(hold)) : keep(std::move(hold));
}

Step AcquireSteps::keep(HoldPtr hold) {
  if (!core_.keeper.add(hold)) {
    why_ = {ErrorCode::limit_exceeded, "there is no thread to renew the lease with"};
    return release_lease(std::move(hold));
  }
  core_.count("acquired", name_);
  core_.observe("acquire_wait", name_, hold->granted - started_);
  if (core_.options.logger.enabled(base::LogLevel::debug)) {
    core_.options.logger.debug("acquired " + base::printable(name_) + " after " +
                               base::short_duration(hold->granted - started_) + ", token " +
                               to_string(hold->token));
  }
  outcome_ = Lock(std::move(hold));
  state_ = State::done;
  return {};
}

Step AcquireSteps::release_lease(HoldPtr hold) {
  hold_ = std::move(hold);
  releasing_.emplace(*hold_, patience(clock_.now()));
  state_ = State::releasing_lease;
  const Step first = releasing_->start();
  return first.kind == Step::Kind::done ? on_lease_released() : first;
}

Step AcquireSteps::on_lease_released() {
  const bool is_left = !releasing_->outcome();
  releasing_.reset();
  hold_.reset();
  granted_.reset();
  trace_ = Trace::none;
  if (is_left) {
    release_id_in_background();
  }
  if (!why_) {
    // A release that comes late must not remove the lease of a later claim.
    waiter_.claim.id = core_.runtime.new_id();
    asked_.id = waiter_.claim.id;
    return on_failure(
        {ErrorCode::unavailable, "the store answers more slowly than the ttl allows"});
  }
  return end();
}

Step AcquireSteps::release_id() {
  const bool holds_back = has_claimed() && waiter_.claim.holds_back > base::Duration::zero();
  if (trace_ == Trace::none && !waiter_.unsure && !holds_back) {
    return end();
  }
  const base::Duration patience = this->patience(clock_.now());
  if (patience <= base::Duration::zero()) {
    release_id_in_background();
    return end();
  }
  state_ = State::releasing_id;
  return {.kind = Step::Kind::release,
          .name = name_,
          .id = waiter_.claim.id,
          .deadline = core_.deadline_after(patience)};
}

Step AcquireSteps::on_id_released(const Result<store::ReleaseOutcome>& outcome) {
  if (!outcome) {
    release_id_in_background();
  }
  core_.queues.wake_first(name_);  // the name is free now, or soon, if it had it
  return end();
}

void AcquireSteps::release_id_in_background() {
  // A store forgets a claim that waits after a minute without a word of it.
  const base::Duration waits =
      trace_ == Trace::none ? base::Duration::zero() : std::chrono::minutes(1);
  core_.background_releases.add(
      name_, waiter_.claim.id,
      std::max({waiter_.claim.ttl.unchecked(), waiter_.claim.holds_back, waits}));
}

Step AcquireSteps::end() {
  state_ = State::done;
  if (why_->code == ErrorCode::timed_out) {
    core_.count("timed_out", name_);
    if (core_.options.logger.enabled(base::LogLevel::debug)) {
      core_.options.logger.debug("not acquired: " + timed_out().message);
    }
    outcome_ = std::nullopt;
  } else {
    core_.count(why_->code == ErrorCode::cancelled ? "cancelled" : "failed", name_);
    outcome_ = std::unexpected(*why_);
  }
  return {};
}

base::Error AcquireSteps::timed_out() const { return locks::timed_out(name_, held_by_); }

bool AcquireSteps::is_first() const { return core_.queues.standing(waiter_).first; }

void AcquireSteps::count_contended() {
  if (!std::exchange(is_counted_, true)) {
    core_.count("contended", name_);
  }
}

void AcquireSteps::warn_if_late(base::TimePoint now) {
  if (now < warn_at_) {
    return;
  }
  warn_at_ = base::TimePoint::max();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - started_);
  core_.options.logger.warn("waiting for " + base::printable(name_) + " for " +
                            std::to_string(seconds.count()) + " s" +
                            (held_by_.empty() ? "" : ", held by " + base::printable(held_by_)));
}

base::Duration AcquireSteps::patience(base::TimePoint now) const {
  return std::min(ends_.remaining(now), waiter_.claim.ttl.unchecked());
}

}  // namespace holdfast::locks::steps
