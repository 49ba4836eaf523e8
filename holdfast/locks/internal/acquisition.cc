#include <holdfast/locks/internal/acquisition.h>

#include <algorithm>

#include <holdfast/base/printable.h>
#include <holdfast/base/random.h>

namespace holdfast::locks::internal {

namespace {

using base::ErrorCode;

// A store that does not answer a single request for this long is a failure, even if the caller
// would wait less.
constexpr base::Duration kLeastPatience = std::chrono::seconds(1);

double jitter() { return static_cast<double>(base::random_u64() >> 11U) * 0x1.0p-53; }

// Who only tries does not stay to be let in; than one permit nobody can want fewer.
store::Claim make_claim(const ProviderCore& core, const AcquireOptions& how, base::Duration wait) {
  const bool holds_back = wait > base::Duration::zero() && how.permits.count > 1;
  return {.id = base::LeaseId::generate(),
          .owner = how.owner.empty() ? core.options.owner : how.owner,
          .reason = how.reason,
          .ttl = how.ttl,
          .permits = how.permits,
          .holds_back = holds_back ? how.holds_back : base::Duration::zero()};
}

}  // namespace

Acquisition::Acquisition(ProviderCore& core, std::string_view name, const AcquireOptions& how,
                         base::Duration wait)
    : core_(core),
      clock_(*core.options.clock),
      name_(name),
      how_(how),
      started_(clock_.now()),
      deadline_(wait == base::Duration::max()
                    ? base::Deadline::never()
                    : base::Deadline::at(base::add_saturating(started_, wait))),
      machine_(deadline_, {core.options.poll_least, core.options.poll_most, core.push}),
      waiter_{.claim = make_claim(core, how, wait)} {}

Acquisition::~Acquisition() {
  if (in_line_ && core_.lines.leave(name_, waiter_)) {
    try {
      static_cast<void>(core_.store->release(name_, waiter_.claim.id, patience(clock_.now())));
    } catch (const std::exception& error) {
      core_.options.logger.warn(error.what());  // the lease runs out by itself
    }
  }
}

Acquisition::Outcome Acquisition::run() {
  const std::stop_callback on_stop(how_.stop, [this] { waiter_.bell.ring(); });
  Action action = how_.stop.stop_requested() ? machine_.on_stop() : machine_.start(started_);
  const bool willing_to_wait = !deadline_.expired(started_);
  if (willing_to_wait && core_.lines.has_line(name_)) {
    // Behind those who came before; the first claim is made when it is this one's turn.
    if (auto joined = stand_in_line(); !joined) {
      return turned_away(std::move(joined).error());
    }
    if (!core_.lines.is_first(waiter_)) {
      action = AcquireMachine::Sleep{deadline_.when()};
    }
  }
  for (;;) {
    std::variant<std::shared_ptr<Hold>, Action> next;
    if (const auto* const why = std::get_if<AcquireMachine::GiveUp>(&action)) {
      return give_up(*why);
    }
    if (const auto* const pause = std::get_if<AcquireMachine::Sleep>(&action)) {
      if (!in_line_) {
        if (auto joined = stand_in_line(); !joined) {
          return turned_away(std::move(joined).error());
        }
        // It may have become free before anybody could tell us.
        next = core_.lines.is_first(waiter_) ? claim() : sleep(pause->until);
      } else {
        next = sleep(pause->until);
      }
    } else {
      next = claim();
    }
    if (auto* const hold = std::get_if<std::shared_ptr<Hold>>(&next)) {
      return std::move(*hold);
    }
    action = std::get<Action>(next);
  }
}

std::variant<std::shared_ptr<Hold>, Acquisition::Action> Acquisition::claim() {
  const base::TimePoint sent = clock_.now();
  claimed_ = true;
  auto outcome = core_.store->claim(name_, waiter_.claim, patience(sent));
  if (!outcome) {
    last_error_ = std::move(outcome).error();
    if (last_error_.code == ErrorCode::unknown_outcome) {
      core_.count("unknown_outcome");
    }
    return machine_.on_failure(clock_.now(), last_error_.code, jitter());
  }
  if (const auto* const grant = std::get_if<store::Grant>(&*outcome)) {
    if (auto hold = finish({*grant, sent})) {
      return hold;
    }
    last_error_ = {ErrorCode::unavailable, "the store answers more slowly than the ttl allows"};
    return machine_.on_failure(clock_.now(), last_error_.code, jitter());
  }
  return after_busy(std::get<store::Busy>(*outcome));
}

Acquisition::Action Acquisition::after_busy(const store::Busy& busy) {
  if (!busy.holders.empty()) {
    held_by_ = busy.holders.front().owner;
  }
  return machine_.on_busy(clock_.now(), busy.frees_in, jitter());
}

base::Result<void> Acquisition::stand_in_line() {
  waiter_.first = false;  // nobody else sees it while it is in no line
  waiter_.handed_over.reset();
  knew_first_ = false;
  const auto is_new_line = core_.lines.join(name_, waiter_);
  if (!is_new_line) {
    return std::unexpected(is_new_line.error());
  }
  in_line_ = true;
  core_.count("contended");
  if (*is_new_line) {
    core_.lines.watch(name_, [this](std::function<void()> callback) {
      // A store that cannot watch is polled.
      return core_.store->watch(name_, std::move(callback)).value_or(store::Watch());
    });
  }
  return {};
}

Acquisition::Outcome Acquisition::turned_away(base::Error error) {
  last_error_ = std::move(error);
  const auto stopped = std::get<AcquireMachine::GiveUp>(machine_.on_stop());
  return give_up({.code = last_error_.code, .may_hold = stopped.may_hold});
}

std::variant<std::shared_ptr<Hold>, Acquisition::Action> Acquisition::sleep(base::TimePoint until) {
  for (;;) {
    const base::TimePoint now = clock_.now();
    warn_if_late(now);
    if (const auto handed_over = core_.lines.taken_over(waiter_)) {
      if (auto hold = finish(*handed_over)) {
        return hold;
      }
      return machine_.on_failure(now, ErrorCode::unavailable, jitter());
    }
    if (how_.stop.stop_requested() || core_.lines.closed()) {
      return machine_.on_stop();
    }
    if (now >= until) {
      return machine_.on_time(now);
    }
    base::TimePoint wake = std::min(
        until, base::add_saturating(now, core_.options.poll_most));  // to see whether it is first
    if (!warned_) {
      wake = std::min(wake, base::add_saturating(started_, core_.options.warn_after));
    }
    const bool rung = waiter_.bell.wait_until(clock_, wake);
    const bool is_first = core_.lines.is_first(waiter_);
    if (is_first && (rung || !knew_first_) && !core_.lines.taken_over(waiter_) &&
        !how_.stop.stop_requested() && !core_.lines.closed()) {
      knew_first_ = true;
      return machine_.on_wakeup(clock_.now());
    }
  }
}

std::shared_ptr<Hold> Acquisition::finish(const HandedOver& granted) {
  HandedOver latest = granted;
  if (in_line_) {
    in_line_ = false;
    if (const auto handed_over = core_.lines.leave(name_, waiter_)) {
      latest = *handed_over;
    }
  }
  auto hold = core_.keep(name_, waiter_.claim, how_, latest);
  if (hold != nullptr) {
    core_.count("acquired");
    core_.observe("acquire_wait", hold->granted - started_);
  }
  return hold;
}

Acquisition::Outcome Acquisition::give_up(const AcquireMachine::GiveUp& why) {
  if (in_line_) {
    in_line_ = false;
    if (const auto handed_over = core_.lines.leave(name_, waiter_)) {
      // It came in the last moment. Somebody who cancelled does not want it any more.
      auto hold = core_.keep(name_, waiter_.claim, how_, *handed_over);
      if (why.code != ErrorCode::cancelled && hold != nullptr) {
        core_.count("acquired");
        return hold;
      }
      if (hold != nullptr) {
        core_.release(*hold);
      }
    }
  }
  const bool may_hold_back = claimed_ && waiter_.claim.holds_back > base::Duration::zero();
  if (why.may_hold || waiter_.unsure || may_hold_back) {
    // Nothing is promised by a failure here: the lease then runs out by itself.
    static_cast<void>(core_.store->release(name_, waiter_.claim.id, patience(clock_.now())));
  }
  switch (why.code) {
    case ErrorCode::timed_out: core_.count("timed_out"); return nullptr;
    case ErrorCode::cancelled:
      core_.count("cancelled");
      return base::fail(why.code, how_.stop.stop_requested()
                                      ? "the wait was cancelled"
                                      : "the lock provider is shutting down");
    default: core_.count("failed"); return std::unexpected(last_error_);
  }
}

void Acquisition::warn_if_late(base::TimePoint now) {
  if (warned_ || now - started_ < core_.options.warn_after) {
    return;
  }
  warned_ = true;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - started_);
  core_.options.logger.warn("waiting for " + base::printable(name_) + " for " +
                            std::to_string(seconds.count()) + " s" +
                            (held_by_.empty() ? "" : ", held by " + base::printable(held_by_)));
}

base::Deadline Acquisition::patience(base::TimePoint now) const {
  const base::Duration longest = std::max(deadline_.remaining(now), kLeastPatience);
  return base::Deadline::after(base::steady_clock(), std::min(longest, how_.ttl.unchecked()));
}

}  // namespace holdfast::locks::internal
