#include <tests/simulation/caller.h>

#include <algorithm>
#include <array>
#include <utility>

#include <tests/simulation/acquire_rows.h>
#include <tests/simulation/names.h>
#include <tests/simulation/process.h>

#include <holdfast/base/saturate.h>
#include <holdfast/locks/internal/hold.h>
#include <holdfast/locks/steps/release_steps.h>

namespace holdfast::simulation {

namespace {

using locks::AcquireOptions;
using locks::Hold;
using locks::steps::AcquireSteps;
using store::Permits;
using namespace std::chrono_literals;

constexpr base::Duration kSlack = 2ms;

// Returns by when a call has to end that begins now.
base::TimePoint end_of(base::TimePoint now, const std::optional<base::Duration>& wait) {
  return wait ? base::add_saturating(base::add_saturating(now, *wait), AcquireSteps::kGrace)
              : base::TimePoint::max();
}

// Returns by when a call has to end that its process was stopped for so long of. The clock of the
// process may run a little faster than time.
base::TimePoint put_off(base::TimePoint ends, base::Duration stopped) {
  return base::add_saturating(ends, stopped + stopped / 50);
}

}  // namespace

struct Caller::Acquire {
  Acquire(Caller& caller, AcquireOptions options, AcquireSteps::Joins joins)
      : how(std::move(options)),
        driver(caller.process_.surroundings(), watched, [&caller] { caller.on_acquired(); }),
        watched(caller.process_.rows(), *caller.process_.core(), name_of(caller.name_), how, driver,
                joins, caller.world_.bug),
        ends(end_of(caller.process_.clock().now(), how.wait)),
        stopped(caller.process_.stopped_for()) {}

  const AcquireOptions how;
  Driver driver;
  WatchedAcquire watched;
  base::TimePoint ends;    // by when the call has to end, by the clock of its process
  base::Duration stopped;  // for how long the process had been stopped before
};

struct Caller::Release {
  explicit Release(Caller& caller)
      : hold(caller.lock_->hold()),
        steps(*hold),
        driver(caller.process_.surroundings(), steps, [&caller] { caller.on_released(); }),
        ends(base::add_saturating(caller.process_.clock().now(),
                                  caller.lock_->hold()->patience(caller.process_.clock().now()))),
        stopped(caller.process_.stopped_for()) {}

  const std::shared_ptr<Hold> hold;  // outlives the steps
  locks::steps::ReleaseSteps steps;
  Driver driver;
  base::TimePoint ends;
  base::Duration stopped;
};

Caller::Caller(Process& process, int number)
    : process_(process),
      world_(process.world()),
      number_(number),
      random_(mix(world_.setting.seed ^ 0xca11, static_cast<std::uint64_t>(process.number()) * 64 +
                                                    static_cast<std::uint64_t>(number))),
      rounds_left_(world_.setting.rounds) {}

Caller::~Caller() = default;

std::string Caller::label() const {
  return "p" + std::to_string(process_.number()) + "." + std::to_string(number_);
}

void Caller::start() { think(); }

void Caller::think() {
  phase_ = Phase::thinking;
  const bool is_over = is_quitting_ || process_.has_ended() || rounds_left_ == 0 ||
                       world_.timeline.now().time_since_epoch() >= world_.setting.lasts;
  if (is_over) {
    phase_ = Phase::done;
    return;
  }
  --rounds_left_;
  const base::Duration pause =
      random_.chance(0.5) ? base::Duration::zero() : random_.up_to(world_.setting.longest_hold);
  world_.timeline.after(pause, &process_, [this] {
    if (phase_ == Phase::thinking) {
      acquire();
    }
  });
}

AcquireOptions Caller::draw_options() {
  const Setting& setting = world_.setting;
  AcquireOptions how;
  base::Duration ttl = setting.ttl;
  if (random_.chance(0.2)) {
    ttl = std::max<base::Duration>(random_.between(ttl / 2, ttl * 2), 100ms);
  }
  how.ttl = ttl;
  if (const double kind = random_.fraction(); kind < 0.2) {
    how.wait = base::Duration::zero();
  } else if (kind < 0.6) {
    how.wait = random_.of_any_size(1ms, setting.ttl * 3);
  }
  if (random_.chance(0.01)) {
    how.renew_every = ttl * 2;  // an error
  } else if (random_.chance(0.1)) {
    how.renew_every = ttl * 9 / 10;
  }
  if (random_.chance(0.05)) {
    how.max_hold = random_.up_to(setting.ttl * 2);
  }
  switch (kind_of_name(setting.seed, name_)) {
    case KindOfName::mutex: break;
    case KindOfName::semaphore:
      how.permits = Permits::of(1 + static_cast<std::uint32_t>(random_.below(2)), 3);
      break;
    case KindOfName::readers_and_writer:
      if (random_.chance(0.7)) {
        how.permits = Permits::reader();
      } else {
        how.permits = Permits::writer();
        how.holds_back = std::max<base::Duration>(2 * setting.poll_most, 1s);
      }
      break;
  }
  return how;
}

void Caller::acquire() {
  phase_ = Phase::acquiring;
  ++round_;
  name_ = static_cast<int>(random_.below(static_cast<std::uint64_t>(world_.setting.names)));
  const auto joins =
      random_.chance(0.3) ? AcquireSteps::Joins::at_once : AcquireSteps::Joins::when_busy;
  acquire_ = std::make_unique<Acquire>(*this, draw_options(), joins);
  trace(world_, [&](std::ostream& out) {
    const AcquireOptions& how = acquire_->how;
    out << label() << " acquires " << name_of(name_) << " (" << how.permits.count << " of "
        << how.permits.capacity << ", ttl "
        << std::chrono::duration<double>(how.ttl->unchecked()).count() << " s, wait "
        << (how.wait ? std::to_string(std::chrono::duration<double>(*how.wait).count()) + " s"
                     : std::string("without end"))
        << ")";
  });
  if (random_.chance(0.01)) {
    cancel();
  } else if (random_.chance(0.12)) {
    world_.timeline.after(random_.of_any_size(1ms, world_.setting.ttl * 2), &process_,
                          [this, round = round_] {
                            if (round == round_ && phase_ == Phase::acquiring) {
                              cancel();
                            }
                          });
  }
  acquire_->driver.start();
}

void Caller::cancel() {
  trace(world_, [&](std::ostream& out) { out << label() << " is cancelled"; });
  acquire_->watched.cancel();
  // A request that is under way ends by its own deadline, which is no later than the ttl.
  const base::Duration longest = acquire_->how.ttl->unchecked() + 2 * AcquireSteps::kGrace;
  acquire_->ends = std::min(acquire_->ends, base::add_saturating(process_.clock().now(), longest));
  acquire_->driver.wake();
}

void Caller::check_end(const char* what, base::TimePoint by) {
  world_.checker.count(Promise::calls_end);
  const base::TimePoint now = process_.clock().now();
  if (now > base::add_saturating(by, kSlack)) {
    const auto late = std::chrono::duration_cast<std::chrono::milliseconds>(now - by);
    world_.checker.fail(Promise::calls_end, what + (" of " + label()) + " takes " +
                                                std::to_string(late.count()) + " ms too long");
  }
}

void Caller::on_acquired() {
  const std::unique_ptr<Acquire> call = std::move(acquire_);
  check_end("acquire", put_off(call->ends, process_.stopped_for() - call->stopped));
  auto& outcome = call->watched.steps().outcome();
  if (outcome && *outcome) {
    lock_ = std::move(**outcome);
    hold();
    return;
  }
  trace(world_, [&](std::ostream& out) {
    out << label() << " has not acquired " << name_of(name_) << ": "
        << (outcome ? "busy" : base::to_string(outcome.error()));
  });
  if (!call->watched.id().is_nil() && !call->watched.has_thrown()) {
    ended_.push_back({call->watched.id(), name_, world_.timeline.now()});
  }
  think();
}

void Caller::hold() {
  phase_ = Phase::holding;
  is_held_ = true;
  process_.use_clock();
  const std::shared_ptr<Hold> hold = lock_->hold();
  trace(world_, [&](std::ostream& out) {
    out << label() << " holds " << name_of(name_) << ", lease " << to_string(hold->id).substr(0, 16)
        << ", token " << hold->token << ", for "
        << std::chrono::duration<double>(hold->valid_until() - process_.clock().now()).count()
        << " s";
  });
  if (world_.has(Bug::validity_from_the_reply)) {
    hold->schedule.on_renewed(process_.clock().now());
    hold->publish();
  }
  world_.checker.acquired({.name = name_,
                           .id = hold->id,
                           .permits = hold->permits.count,
                           .capacity = hold->permits.capacity,
                           .is_ours = [hold = hold.get()] {
                             return hold->status() == Hold::Status::held &&
                                    hold->clock.now() < hold->valid_until();
                           }});
  const base::Duration lasts =
      is_quitting_ ? base::Duration::zero() : random_.of_any_size(1us, world_.setting.longest_hold);
  world_.timeline.after(lasts, &process_, [this, round = round_] {
    if (round == round_ && phase_ == Phase::holding) {
      release();
    }
  });
}

void Caller::check() {
  if (phase_ == Phase::acquiring && acquire_->ends < base::TimePoint::max()) {
    check_end("acquire", put_off(acquire_->ends, process_.stopped_for() - acquire_->stopped));
  } else if (phase_ == Phase::releasing) {
    check_end("release", put_off(release_->ends, process_.stopped_for() - release_->stopped));
  }
  if (!is_held_) {
    return;
  }
  const Hold& hold = *lock_->hold();
  const base::TimePoint now = process_.clock().now();
  if (hold.status() == Hold::Status::held) {
    world_.checker.relies(hold.id, hold.valid_until(), process_.limit_of(hold.id));
    if (now > std::max(hold.valid_until(), process_.resumed_at()) + kSlack) {
      world_.checker.fail(Promise::lost_in_time,
                          "`lost` of " + label() + " has not fired when its lease ended");
    }
    return;
  }
  is_held_ = false;
  trace(world_, [&](std::ostream& out) { out << label() << " has lost " << name_of(name_); });
  world_.checker.ended(hold.id);
  if (now < hold.valid_until() && !process_.has_ended()) {
    world_.checker.lost_early(name_, hold.id, process_.server().clock().now());
  }
  if (phase_ == Phase::holding && random_.chance(0.7)) {
    world_.timeline.after({}, &process_, [this, round = round_] {
      if (round == round_ && phase_ == Phase::holding) {
        release();
      }
    });
  }
}

void Caller::release() {
  if (std::exchange(is_held_, false)) {
    world_.checker.ended(lock_->id());
  }
  process_.forget_limit(lock_->id());
  if (random_.chance(0.03) && !is_quitting_) {
    trace(world_, [&](std::ostream& out) { out << label() << " detaches " << name_of(name_); });
    static_cast<void>(lock_->detach());
    lock_.reset();
    think();
    return;
  }
  trace(world_, [&](std::ostream& out) { out << label() << " releases " << name_of(name_); });
  phase_ = Phase::releasing;
  release_ = std::make_unique<Release>(*this);
  release_->driver.start();
}

void Caller::on_released() {
  const std::unique_ptr<Release> call = std::move(release_);
  check_end("release", put_off(call->ends, process_.stopped_for() - call->stopped));
  lock_.reset();
  think();
}

void Caller::die() {
  if (std::exchange(is_held_, false)) {
    world_.checker.ended(lock_->id());
  }
}

base::LeaseId Caller::claim_id() const noexcept {
  return acquire_ != nullptr ? acquire_->watched.id() : base::LeaseId();
}

void Caller::quit() {
  is_quitting_ = true;
  switch (phase_) {
    case Phase::thinking: phase_ = Phase::done; break;
    case Phase::acquiring: cancel(); break;
    case Phase::holding: release(); break;
    case Phase::releasing:
    case Phase::done: break;
  }
}

}  // namespace holdfast::simulation
