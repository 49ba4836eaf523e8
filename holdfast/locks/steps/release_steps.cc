#include <holdfast/locks/steps/release_steps.h>

#include <algorithm>
#include <utility>

#include <holdfast/base/duration_text.h>
#include <holdfast/base/printable.h>
#include <holdfast/locks/internal/provider_core.h>
#include <holdfast/locks/steps/acquire_steps.h>

namespace holdfast::locks::steps {

namespace {

using base::ErrorCode;
using base::Result;
using internal::Granted;
using store::ReleaseOutcome;

// After so many hand-overs inside this provider a release goes to the store, so that waiters of
// other processes have their turn. Before it, the next waiter of this provider joins the store's
// queue: a waiter that only joined it afterwards could lose any number of turns, because the other
// process has the name, and its short holds, until then.
constexpr int kMostInARow = 16;

// A waiter cannot give up while the name is handed over to it: it waits no longer than this. The
// hand-over begins before its wait is over, so the call still ends in time.
constexpr base::Duration kLongestHandOver = AcquireSteps::kGrace;

// Returns the deadline of a hand-over: half of the time is left to release in the store.
base::Deadline leave_half(base::Deadline deadline, base::TimePoint now) {
  return base::Deadline::at(now + std::min(deadline.remaining(now) / 2, kLongestHandOver));
}

}  // namespace

ReleaseSteps::ReleaseSteps(Hold& hold) noexcept
    : hold_(hold), core_(*hold.core), patience_(base::Duration::max()) {}

ReleaseSteps::ReleaseSteps(Hold& hold, base::Duration patience) noexcept
    : hold_(hold), core_(*hold.core), patience_(patience), may_be_gone_(true) {}

ReleaseSteps::~ReleaseSteps() {
  if (next_ != nullptr) {
    core_.queues.settle(hold_.name, *next_,
                        base::fail(ErrorCode::internal, "the store threw an exception"));
  }
  if (asks_store_) {
    core_.queues.wake_first(hold_.name);
  }
}

Step ReleaseSteps::start() {
  if (!hold_.give_back()) {
    return {};
  }
  const bool was_held = hold_.end();
  core_.keeper.remove(hold_);
  const base::TimePoint now = core_.options.clock->now();
  core_.observe("hold", hold_.name, now - hold_.granted);
  deadline_ = core_.deadline_after(std::min(hold_.patience(now), patience_));
  is_last_ = hold_.in_a_row >= kMostInARow;
  // While no keeper runs, nobody would wake the other waiters if the next one lost the lease.
  if (was_held && core_.keeper.is_started() && (!is_last_ || may_enqueue())) {
    next_ = core_.queues.offer(hold_.name, hold_.permits, now);
  }
  if (next_ == nullptr) {
    return to_the_store();
  }
  sent_ = core_.options.clock->now();
  return {.kind = is_last_ ? Step::Kind::claim : Step::Kind::transfer,
          .name = hold_.name,
          .id = hold_.id,
          .claim = &next_->claim,
          .deadline = leave_half(deadline_, core_.runtime.request_clock().now())};
}

bool ReleaseSteps::may_enqueue() const {
  return core_.queues_claims && hold_.permits == store::Permits::mutex();
}

Step ReleaseSteps::on(Answer&& answer) {
  if (next_ != nullptr && is_last_) {
    return on_enqueued();
  }
  if (next_ != nullptr) {
    return on_transfer(std::get<Result<store::TransferOutcome>>(std::move(answer)));
  }
  outcome_ = std::get<Result<ReleaseOutcome>>(std::move(answer));
  asks_store_ = false;
  core_.queues.wake_first(hold_.name);
  return end();
}

Step ReleaseSteps::on_exception() { return next_ != nullptr && is_last_ ? on_enqueued() : Step{}; }

Step ReleaseSteps::on_transfer(const Result<store::TransferOutcome>& transferred) {
  internal::Waiter& next = *std::exchange(next_, nullptr);
  if (!transferred) {
    const ErrorCode code = transferred.error().code;
    may_be_gone_ |= code == ErrorCode::unknown_outcome || code == ErrorCode::internal;
    core_.queues.settle(hold_.name, next, std::unexpected(transferred.error()));
    return to_the_store();
  }
  if (std::holds_alternative<store::HeldBack>(*transferred)) {
    core_.queues.settle(hold_.name, next, std::optional<Granted>());
    return to_the_store();
  }
  const auto* const grant = std::get_if<store::Grant>(&*transferred);
  if (grant == nullptr) {
    core_.queues.settle(hold_.name, next, std::optional<Granted>());
    return end();
  }
  core_.queues.settle(hold_.name, next, std::optional(Granted{*grant, sent_, hold_.in_a_row + 1}));
  core_.count("handed_over", hold_.name);
  outcome_ = ReleaseOutcome::released;
  return end();
}

// Whatever the store has answered, the waiter has to ask, and to release what it may have.
Step ReleaseSteps::on_enqueued() {
  core_.queues.settle(hold_.name, *std::exchange(next_, nullptr),
                      base::fail(ErrorCode::unknown_outcome, "the claim waits in the store"));
  return to_the_store();
}

// The name is handed on no further: a waiter of this process contends for it in the store.
Step ReleaseSteps::to_the_store() {
  asks_store_ = true;
  return {.kind = Step::Kind::release, .name = hold_.name, .id = hold_.id, .deadline = deadline_};
}

Step ReleaseSteps::end() {
  const bool is_gone = outcome_ == ReleaseOutcome::not_held;
  if (is_gone && may_be_gone_) {
    return {};
  }
  core_.count(!outcome_ ? "failed" : is_gone ? "not_held" : "released", hold_.name);
  const base::LogLevel level = is_gone ? base::LogLevel::warning : base::LogLevel::debug;
  if (outcome_ && core_.options.logger.enabled(level)) {
    const base::Duration held = core_.options.clock->now() - hold_.granted;
    core_.options.logger.log(
        level,
        is_gone
            ? "the lease on " + base::printable(hold_.name) +
                  " was no longer ours when it was released: it had expired or was stolen"
            : "released " + base::printable(hold_.name) + " after " + base::short_duration(held));
  }
  return {};
}

void ReleaseSteps::warn_if_failed() const {
  if (!outcome_) {
    core_.options.logger.warn("could not release a lock, its lease will run out: " +
                              base::to_string(outcome_.error()));
  }
}

}  // namespace holdfast::locks::steps
