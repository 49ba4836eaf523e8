#include <holdfast/locks/steps/acquire_steps.h>

#include <algorithm>
#include <utility>

#include <holdfast/base/duration_text.h>
#include <holdfast/base/printable.h>
#include <holdfast/base/random.h>
#include <holdfast/locks/internal/provider_core.h>
#include <holdfast/locks/or_timed_out.h>

namespace holdfast::locks::steps {

namespace {

using base::ErrorCode;
using base::fail;
using base::Result;
using internal::ClaimSchedule;

base::Deadline deadline_of(base::TimePoint started, base::Duration wait) {
  return wait == base::Duration::max() ? base::Deadline::never()
                                       : base::Deadline::at(base::add_saturating(started, wait));
}

// A caller that only tries holds back nobody; nobody can want fewer than one permit.
store::Claim make_claim(const ProviderCore& core, const AcquireOptions& how, base::Duration wait) {
  const bool holds_back = wait > base::Duration::zero() && how.permits.count > 1;
  return {.id = base::LeaseId::generate(),
          .owner = how.owner.empty() ? core.options.owner : how.owner,
          .reason = how.reason,
          .ttl = how.ttl.value_or(*core.options.ttl),
          .permits = how.permits,
          .holds_back = holds_back ? how.holds_back : base::Duration::zero()};
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
      schedule_(deadline_, {core.options.poll_least, core.options.poll_most, core.push}),
      waiter_{.claim = make_claim(core, how, how.wait.value_or(default_wait)),
              .waker = waker,
              .waits_until = deadline_.when()},
      asked_(waiter_.claim),
      ends_(base::Deadline::at(base::add_saturating(deadline_.when(), kGrace))) {
  waiter_.claim.waits = true;  // for a holder that hands over to it
}

Step AcquireSteps::start() {
  if (auto valid = check(how_, waiter_.claim.ttl); !valid) {
    outcome_ = std::unexpected(std::move(valid).error());
    state_ = State::done;
    return {};
  }
  if (is_cancelled()) {
    return give_up(schedule_.on_stop());
  }
  const bool willing_to_wait = !deadline_.expired(started_);
  if (willing_to_wait && (joins_ == Joins::at_once || core_.queues.has_queue(name_))) {
    // Behind those who came before; the first claim is made when it is this one's turn.
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
    case State::leaving: return leave();
    case State::returning: {
      if (!releasing_) {
        return on_id_released(std::get<Result<store::ReleaseOutcome>>(answer));
      }
      const Step next = releasing_->on(std::move(answer));
      return next.kind == Step::Kind::done ? on_lease_released() : next;
    }
    case State::settling:
    case State::done: break;
  }
  return {};
}

// Its first claim waits in the store, so that nobody who comes later passes it while it subscribes.
// Afterwards only that of the first in the queue does. The last claim does not: it gives up then.
Step AcquireSteps::claim(base::TimePoint now) {
  const base::Duration patience = this->patience(now);
  if (patience <= base::Duration::zero()) {
    return give_up(schedule_.on_late());
  }
  schedule_.on_claim(now);
  sent_ = now;
  state_ = is_queued() ? State::claiming : State::trying;
  asked_.waits = !deadline_.expired(now) && (!is_queued() || is_first());
  return {.kind = Step::Kind::claim,
          .name = name_,
          .claim = &asked_,
          .deadline = base::Deadline::after(base::steady_clock(), patience)};
}

Step AcquireSteps::on_claimed(Result<store::ClaimOutcome>& outcome) {
  if (!outcome) {
    last_error_ = std::move(outcome).error();
    if (last_error_.code == ErrorCode::unknown_outcome) {
      core_.count("unknown_outcome");
    }
    if (last_error_.code == ErrorCode::internal) {
      return give_up({.code = last_error_.code, .may_hold = true});  // it may be granted
    }
    return on_not_granted(
        schedule_.on_failure(clock_.now(), last_error_.code, base::random_fraction()));
  }
  if (const auto* const grant = std::get_if<store::Grant>(&*outcome)) {
    granted_ = Granted{*grant, *sent_};
    return leave();
  }
  const auto& busy = std::get<store::Busy>(*outcome);
  pending_ = busy.pending;
  if (!busy.holders.empty()) {
    held_by_ = busy.holders.front().owner;
  }
  // Without a watch it hears of nothing.
  const bool hears = core_.queues.may_wait_in_store(name_, waiter_);
  return on_not_granted(schedule_.on_busy(clock_.now(), busy.frees_in, base::random_fraction(),
                                          hears ? busy.position : 0));
}

Step AcquireSteps::on_not_granted(const ClaimSchedule::Answer& answer) {
  if (const auto* const why = std::get_if<GiveUp>(&answer)) {
    return give_up(*why);
  }
  const base::TimePoint until = std::get<ClaimSchedule::Sleep>(answer).until;
  if (!is_queued()) {
    return is_cancelled() ? give_up(schedule_.on_stop()) : join(until);
  }
  if (!is_first()) {
    until_ = deadline_.when();  // the first polls for all
    return wait();
  }
  until_ = until;
  return watched_ ? wait() : subscribe(&AcquireSteps::wait);
}

Step AcquireSteps::join(base::TimePoint until) {
  until_ = until;
  watched_ = false;
  if (auto joined = core_.queues.join(name_, waiter_); !joined) {
    // As long as nothing is known of the name, it may be free.
    const bool may_ask = !has_claimed() && joined.error().code == ErrorCode::limit_exceeded;
    return may_ask ? claim(clock_.now()) : give_up(std::move(joined).error());
  }
  state_ = State::waiting;
  if (!is_first()) {
    until_ = deadline_.when();  // the first polls for all
    count_contended();
    // Its first claim waits in the store, which may have granted it before anybody watched: asked
    // once more, the store confirms that, or takes the claim out of its queue.
    return pending_ ? claim(clock_.now()) : wait();
  }
  return has_claimed() ? subscribe(&AcquireSteps::on_subscribed) : claim(clock_.now());
}

// The first in the queue does, once it has been answered that the name is busy.
Step AcquireSteps::subscribe(Step (AcquireSteps::*otherwise)()) {
  watched_ = true;
  count_contended();
  // To watch takes a request: not where only the last claim is left.
  if (deadline_.expired(clock_.now()) || !core_.queues.needs_watch(name_)) {
    return (this->*otherwise)();
  }
  state_ = State::subscribing;
  return {.kind = Step::Kind::watch};
}

void AcquireSteps::watch() {
  core_.queues.watch(name_, [this](store::WatchCallback callback) {
    return core_.store->watch(name_, std::move(callback));
  });
}

// The name may have become free before the watch began.
Step AcquireSteps::on_subscribed() { return is_first() ? claim(clock_.now()) : wait(); }

Step AcquireSteps::wait() {
  const base::TimePoint now = clock_.now();
  warn_if_late(now);
  const internal::Standing standing = core_.queues.standing(waiter_);
  if (standing.handed_over) {
    return leave();
  }
  if (is_cancelled() || standing.closed) {
    return give_up(schedule_.on_stop());
  }
  if (now >= until_) {
    return claim(now);
  }
  state_ = State::waiting;
  const base::TimePoint wake =
      warned_ ? until_ : std::min(until_, base::add_saturating(started_, core_.options.warn_after));
  // A poll may be late, the end of the caller's wait may not.
  const bool may_be_late = deadline_.is_never() || wake < deadline_.when();
  return Step::wait_until(
      wake, may_be_late ? base::subtract_saturating(wake, now) / 2 : base::Duration::zero());
}

Step AcquireSteps::on_woken(Woken how) {
  const internal::Standing standing = core_.queues.standing(waiter_);
  const bool is_its_turn = standing.first && how.by_waker;
  const bool is_granted = core_.queues.take_grant(waiter_);
  if ((is_its_turn || is_granted) && !standing.handed_over && !is_cancelled() && !standing.closed) {
    return claim(clock_.now());
  }
  return wait();
}

Step AcquireSteps::give_up(GiveUp why) {
  why_ = why;
  granted_.reset();
  const base::TimePoint latest = base::add_saturating(clock_.now(), kGrace);
  ends_ = base::Deadline::at(std::min(ends_.when(), latest));
  return leave();
}

Step AcquireSteps::give_up(base::Error error) {
  last_error_ = std::move(error);
  return give_up({.code = last_error_.code, .may_hold = schedule_.on_stop().may_hold});
}

Step AcquireSteps::abandon() {
  const bool was_releasing_id = state_ == State::returning && !releasing_;
  releasing_.reset();
  if (was_releasing_id) {
    core_.queues.wake_first(name_);
    return end();
  }
  return give_up({.code = ErrorCode::cancelled, .may_hold = true});
}

Step AcquireSteps::leave() {
  if (!is_queued()) {
    return settle();
  }
  state_ = State::leaving;
  std::optional<Granted> handed_over;
  if (!core_.queues.leave(name_, waiter_, handed_over)) {
    return Step::wait_until(base::TimePoint::max());
  }
  if (handed_over) {
    granted_ = handed_over;
  }
  return settle();
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
    last_error_ = {ErrorCode::limit_exceeded, "there is no thread to renew the lease with"};
    why_ = {.code = last_error_.code, .may_hold = false};
    return release_lease(std::move(hold));
  }
  core_.count("acquired");
  core_.observe("acquire_wait", hold->granted - started_);
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
  pending_ = false;
  releasing_.emplace(*hold_, patience(clock_.now()));
  state_ = State::returning;
  const Step first = releasing_->start();
  return first.kind == Step::Kind::done ? on_lease_released() : first;
}

Step AcquireSteps::on_lease_released() {
  const bool is_left = !releasing_->outcome();
  releasing_.reset();
  hold_.reset();
  granted_.reset();
  if (why_) {
    if (is_left) {
      release_id_in_background();
    }
    return release_id();
  }
  last_error_ = {ErrorCode::unavailable, "the store answers more slowly than the ttl allows"};
  return on_not_granted(
      schedule_.on_failure(clock_.now(), last_error_.code, base::random_fraction()));
}

Step AcquireSteps::release_id() {
  const bool may_hold_back = has_claimed() && waiter_.claim.holds_back > base::Duration::zero();
  if (!why_->may_hold && !waiter_.unsure && !may_hold_back && !pending_) {
    return end();
  }
  const base::Duration patience = this->patience(clock_.now());
  if (patience <= base::Duration::zero()) {
    release_id_in_background();
    return end();
  }
  state_ = State::returning;
  return {.kind = Step::Kind::release,
          .name = name_,
          .id = waiter_.claim.id,
          .deadline = base::Deadline::after(base::steady_clock(), patience)};
}

Step AcquireSteps::on_id_released(const Result<store::ReleaseOutcome>& outcome) {
  if (!outcome) {
    release_id_in_background();
  }
  core_.queues.wake_first(name_);  // what it may have had is free now, or soon
  return end();
}

void AcquireSteps::release_id_in_background() {
  // A store forgets a claim that waits after a minute without a word of it.
  const base::Duration waits = pending_ ? std::chrono::minutes(1) : base::Duration::zero();
  core_.background_releases.add(
      name_, waiter_.claim.id,
      std::max({waiter_.claim.ttl.unchecked(), waiter_.claim.holds_back, waits}));
}

Step AcquireSteps::end() {
  state_ = State::done;
  switch (why_->code) {
    case ErrorCode::timed_out:
      core_.count("timed_out");
      if (core_.options.logger.enabled(base::LogLevel::debug)) {
        core_.options.logger.debug("not acquired: " + timed_out().message);
      }
      outcome_ = std::nullopt;
      break;
    case ErrorCode::cancelled:
      core_.count("cancelled");
      outcome_ = fail(why_->code, is_cancelled() ? "the wait was cancelled"
                                                 : "the lock provider is shutting down");
      break;
    default: core_.count("failed"); outcome_ = std::unexpected(last_error_);
  }
  return {};
}

base::Error AcquireSteps::timed_out() const { return locks::timed_out(name_, held_by_); }

bool AcquireSteps::is_first() const { return core_.queues.standing(waiter_).first; }

void AcquireSteps::count_contended() {
  if (!std::exchange(contended_, true)) {
    core_.count("contended");
  }
}

void AcquireSteps::warn_if_late(base::TimePoint now) {
  if (warned_ || now - started_ < core_.options.warn_after) {
    return;
  }
  warned_ = true;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - started_);
  core_.options.logger.warn("waiting for " + base::printable(name_) + " for " +
                            std::to_string(seconds.count()) + " s" +
                            (held_by_.empty() ? "" : ", held by " + base::printable(held_by_)));
}

base::Duration AcquireSteps::patience(base::TimePoint now) const {
  return std::min(ends_.remaining(now), waiter_.claim.ttl.unchecked());
}

}  // namespace holdfast::locks::steps
