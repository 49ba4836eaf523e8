#include <tests/simulation/acquire_rows.h>

#include <utility>
#include <variant>

#include <holdfast/locks/internal/provider_core.h>

namespace holdfast::simulation {

namespace {

using locks::steps::AcquireSteps;
using locks::steps::Answer;
using locks::steps::Step;
using locks::steps::Woken;
using ClaimResult = base::Result<store::ClaimOutcome>;

enum Row : std::uint8_t {
  start_invalid,
  start_cancelled,
  start_joins,
  start_queue_full,
  start_claims,
  trying_granted,
  trying_joins,
  trying_leaves_the_stores_queue,
  trying_gives_up,
  claiming_granted,
  claiming_waits,
  claiming_gives_up,
  subscribed,
  waiting_woken,
  waiting_polls,
  waiting_announces,
  announced,
  waiting_out_of_time,
  waiting_handed_over,
  waiting_cancelled,
  leaving_waits,
  leaving_withdraws,
  leaving_left,
  withdrawn,
  settling_keeps,
  settling_releases_lease,
  settling_releases_id,
  settling_has_nothing,
  released_lease_gives_up,
  released_lease_again,
  released_id,
  store_threw,
};

constexpr std::array<std::string_view, AcquireRows::kRows> kTexts{
    "start, options are invalid → done",
    "start, already cancelled → give up",
    "start, others wait, or at_once → join the queue",
    "start, the queue is full → trying, not to wait in the store",
    "start, otherwise → trying",
    "trying: granted → settle",
    "trying: busy, or a failure that passes → join the queue",
    "trying: busy, waits in the store, is not the first here → claiming",
    "trying: busy for the last time, cancelled, … → give up",
    "claiming: granted → leave, settle",
    "claiming: busy, or a failure that passes → subscribing or waiting",
    "claiming: busy for the last time, or another failure → give up",
    "subscribing: the name is watched, or cannot be → claiming or waiting",
    "waiting: woken as the first, or granted → claiming",
    "waiting: time to poll, or to claim for the last time → claiming",
    "waiting: time to show that it waits → announcing",
    "announcing: answered → waiting",
    "waiting: no time is left → give up",
    "waiting: handed over → leave, settle",
    "waiting: cancelled, or the provider ends → give up",
    "leaving: a hand-over to it is under way → leaving",
    "leaving: it has shown that it waits → withdrawing",
    "leaving: otherwise → settle",
    "withdrawing: answered → settle",
    "settling: has a lease → keep it, done",
    "settling: has a lease that came too late or is not wanted → releasing_lease",
    "settling: may hold something, or holds others back → releasing_id",
    "settling: has nothing → done",
    "releasing_lease: released, and it gives up → done",
    "releasing_lease: released, it came too late → as after a failure that passes",
    "releasing_id: released → done",
    "any: the store threw an exception → give up",
};

}  // namespace

std::string_view AcquireRows::text(std::size_t row) noexcept { return kTexts[row]; }

void AcquireRows::add(const AcquireRows& other) noexcept {
  for (std::size_t row = 0; row < kRows; ++row) {
    counts_[row] += other.counts_[row];
  }
}

WatchedAcquire::WatchedAcquire(AcquireRows& rows, locks::ProviderCore& core, std::string_view name,
                               const locks::AcquireOptions& how, locks::steps::Waker& waker,
                               AcquireSteps::Joins joins, Bug bug)
    : rows_(rows),
      core_(core),
      name_(name),
      how_(how),
      bug_(bug),
      steps_(core, name, how, base::Duration::max(), waker, joins) {}

void WatchedAcquire::cancel() noexcept {
  is_cancelled_ = true;
  steps_.cancel();
}

Step WatchedAcquire::start() {
  Step next = steps_.start();
  note_id(next);
  note_start(next);
  return plant(next);
}

Step WatchedAcquire::on(Answer&& answer) {
  const Event event = event_of(answer);
  Step next = steps_.on(std::move(answer));
  note_id(next);
  note(event);
  return plant(next);
}

WatchedAcquire::Event WatchedAcquire::event_of(const Answer& answer) const {
  Event event{.before = steps_.state(), .had_queue = core_.queues.has_queue(name_)};
  if (const auto* const claimed = std::get_if<ClaimResult>(&answer); claimed && *claimed) {
    const auto* const busy = std::get_if<store::Busy>(&**claimed);
    event.is_granted = busy == nullptr;
    event.is_pending = busy != nullptr && busy->pending;
  }
  const auto* const woken = std::get_if<Woken>(&answer);
  event.by_waker = woken != nullptr && woken->by_waker;
  return event;
}

Step WatchedAcquire::on_exception() {
  has_thrown_ = true;
  const State before = steps_.state();
  rows_.take(store_threw);
  Step next = steps_.on_exception();
  note_id(next);
  note_settled(before);
  return plant(next);
}

Step WatchedAcquire::plant(Step next) {
  if (bug_ == Bug::cancel_leaves_the_claim && next.kind == Step::Kind::release &&
      steps_.state() == State::releasing_id) {
    return steps_.on(base::Result<store::ReleaseOutcome>(store::ReleaseOutcome::not_held));
  }
  if (bug_ == Bug::no_poll && next.kind == Step::Kind::wait && !how_.wait) {
    next.until = base::TimePoint::max();
  }
  return next;
}

void WatchedAcquire::note_id(const Step& next) noexcept {
  if (next.kind == Step::Kind::claim) {
    id_ = next.claim->id;
  } else if (next.kind == Step::Kind::release && steps_.state() == State::releasing_id) {
    id_ = next.id;
  }
}

void WatchedAcquire::note_start(const Step& next) {
  const bool is_patient = !how_.wait || *how_.wait > base::Duration::zero();
  switch (steps_.state()) {
    case State::trying:
      rows_.take(is_patient && !next.claim->waits ? start_queue_full : start_claims);
      return;
    case State::done:
      if (!steps_.outcome() && steps_.outcome().error().code == base::ErrorCode::invalid_argument) {
        rows_.take(start_invalid);
        return;
      }
      rows_.take(start_cancelled);
      break;
    case State::releasing_id: rows_.take(start_cancelled); break;
    default: rows_.take(start_joins); return;
  }
  note_settled(State::trying);
}

void WatchedAcquire::note(const Event& event) {
  const State after = steps_.state();
  const bool goes_on = after == State::trying || after == State::claiming ||
                       after == State::subscribing || after == State::waiting ||
                       after == State::announcing;
  switch (event.before) {
    case State::trying:
      rows_.take(event.is_granted ? trying_granted
                 : !goes_on       ? trying_gives_up
                 : after == State::claiming && event.is_pending && event.had_queue
                     ? trying_leaves_the_stores_queue
                     : trying_joins);
      break;
    case State::claiming:
      rows_.take(event.is_granted ? claiming_granted
                 : goes_on        ? claiming_waits
                                  : claiming_gives_up);
      break;
    case State::subscribing: rows_.take(subscribed); break;
    case State::announcing: rows_.take(announced); break;
    case State::withdrawing: rows_.take(withdrawn); break;
    case State::waiting: note_woken(event); break;
    case State::leaving:
      if (after != State::leaving && after != State::withdrawing) {
        rows_.take(leaving_left);
      }
      break;
    case State::releasing_lease:
      if (after == State::done) {
        rows_.take(released_lease_gives_up);
      } else if (goes_on) {
        rows_.take(released_lease_again);
      }
      break;
    case State::releasing_id: rows_.take(released_id); break;
    case State::settling:
    case State::done: break;
  }
  if (after == State::leaving) {
    rows_.take(leaving_waits);
  } else if (after == State::withdrawing) {
    rows_.take(leaving_withdraws);
  }
  note_settled(event.before);
}

void WatchedAcquire::note_woken(const Event& event) {
  const State after = steps_.state();
  const bool has_lock = after == State::done && steps_.outcome() && *steps_.outcome();
  // It is out of the queue with the name, and first withdraws what shows that it waits.
  const bool was_handed = after == State::withdrawing && event.by_waker && !is_cancelled_;
  if (after == State::waiting) {
    return;
  }
  if (after == State::announcing) {
    rows_.take(waiting_announces);
    return;
  }
  rows_.take(after == State::claiming ? (event.by_waker ? waiting_woken : waiting_polls)
             : has_lock || after == State::releasing_lease || was_handed ? waiting_handed_over
             : is_cancelled_ || event.by_waker                           ? waiting_cancelled
                                                                         : waiting_out_of_time);
}

void WatchedAcquire::note_settled(State before) {
  const State after = steps_.state();
  const bool was_releasing = before == State::releasing_lease || before == State::releasing_id;
  if (after == State::done) {
    if (steps_.outcome() && *steps_.outcome()) {
      rows_.take(settling_keeps);
    } else if (!was_releasing) {
      rows_.take(settling_has_nothing);
    }
  } else if (after == State::releasing_lease && before != State::releasing_lease) {
    rows_.take(settling_releases_lease);
  } else if (after == State::releasing_id && before != State::releasing_id) {
    rows_.take(settling_releases_id);
  }
}

}  // namespace holdfast::simulation
