// What the leader of a link does while nothing moves: it spins, sleeps, and connects again.

#include <sched.h>

#include <algorithm>
#include <utility>

#include <holdfast/base/duration_text.h>
#include <holdfast/base/random.h>
#include <holdfast/base/saturate.h>
#include <holdfast/engines/redis/internal/link/greeting.h>
#include <holdfast/engines/redis/internal/link/link_core.h>
#include <holdfast/engines/redis/internal/link/wire_socket.h>

namespace holdfast::engines::redis::internal {

namespace {

using base::ErrorCode;

// Longer than a near server takes for a script.
constexpr base::Duration kSpin = std::chrono::microseconds(100);
// Those who were just woken get this many turns to put their next command in line before the leader
// sleeps: otherwise each of them would have to send its own.
constexpr int kYields = 2;

base::TimePoint now() noexcept { return base::steady_clock().now(); }

}  // namespace

void LinkCore::rest(Call& me, Guard& guard) {
  if (!spin(me, guard)) {
    sleep(std::min(me.deadline, base::Deadline::at(overdue_at())), guard);
  }
}

bool LinkCore::spin(const Call& me, Guard& guard) {
  const base::TimePoint time = now();
  if (rest_ == Rest::none) {
    yields_ = 0;
    spin_until_ = time + kSpin;
    rest_ = spin_.should_spin() ? Rest::spinning : Rest::spent;
  }
  if (rest_ == Rest::spinning && time >= spin_until_) {
    spin_.failed();
    rest_ = Rest::spent;
  }
  const bool is_alone = pending_.commands == me.commands.size();
  if (is_alone) {
    return rest_ == Rest::spinning;
  }
  if (rest_ == Rest::spent && yields_++ >= kYields) {
    return false;
  }
  guard.unlock();
  ::sched_yield();
  guard.lock();
  return true;
}

void LinkCore::sleep(base::Deadline deadline, Guard& guard) {
  if (leader_ == &driver_call_) {  // a submission may have come while the mutex was free
    deadline = std::min(deadline, next_deadline());
  }
  const ConnectionPtr connection = connection_;
  const bool needs_room = connection != nullptr && connection->needs_room;
  leader_sleeps_ = true;
  guard.unlock();
  waker_.sleep(connection != nullptr ? &connection->wire() : nullptr, needs_room ? POLLOUT : 0,
               deadline);
  guard.lock();
  leader_sleeps_ = false;
}

void LinkCore::reconnect(Call& me, Guard& guard) {
  const base::TimePoint time = now();
  if (time >= next_attempt_) {
    connect(me.deadline, guard);
    return;
  }
  // A call that cannot wait for the next attempt fails at once.
  const auto next = base::Deadline::at(next_attempt_);
  if (me.deadline < next && &me != &driver_call_) {
    fail_in_line(me, too_early(time));
  }
  while (next_deadline() < next) {
    fail_in_line(submissions_.begin()->second->call, too_early(time));
  }
  wake_all(guard);
  if (!is_served(me)) {
    sleep(next, guard);
  }
}

void LinkCore::fail_in_line(Call& call, base::Error error) {
  line_.remove(call);
  pending_ -= load_of(call);
  call.error = std::move(error);
  finish(call);
}

base::Error LinkCore::too_early(base::TimePoint time) const {
  const auto next = base::Deadline::at(next_attempt_);
  return {ErrorCode::unavailable, last_failure_ + "; the next attempt is in " +
                                      base::short_duration(next.remaining(time)) +
                                      ", after the deadline"};
}

void LinkCore::connect(base::Deadline deadline, Guard& guard) {
  guard.unlock();
  base::Result<std::unique_ptr<Wire>> wire = connect_and_greet(options_, deadline);
  guard.lock();
  if (wire) {
    connection_ = std::make_shared<Connection>(*std::move(wire));
    connection_->heard = now();
    if (++counters_.connects > 1) {
      options_.logger.info("connected again to the Redis server at " + server_address(options_));
    }
  } else if (deadline.expired(now())) {
    last_failure_ = wire.error().message;  // there was not enough time: no reason to pause
  } else {
    attempt_failed(wire.error());
    wake_all(guard);
  }
}

// Whoever stands in line hears of it at once, rather than wait for an attempt that may fail too.
void LinkCore::attempt_failed(const base::Error& error) {
  next_attempt_ = base::add_saturating(now(), backoff_.next(base::random_u64()));
  last_failure_ = error.message;
  while (Call* const call = line_.front()) {
    fail_in_line(*call, error);
  }
}

void LinkCore::drop_connection(const base::Error& error) {
  if (connection_ == nullptr) {
    return;
  }
  const ConnectionPtr connection = std::exchange(connection_, nullptr);
  const std::string lost = "the connection to the Redis server at " + server_address(options_) +
                           " was lost: " + error.message;
  options_.logger.warn(lost);
  while (!flight_.empty()) {
    const Flight::Removed removed = flight_.pop_front();
    pending_ -= removed.load;
    if (removed.call != nullptr) {
      removed.call->error = {ErrorCode::unknown_outcome,
                             lost + "; it may have done what was asked"};
      finish(*removed.call);
    }
  }
  if (connection->has_answered) {
    backoff_.reset();
    next_attempt_ = {};
  } else {
    attempt_failed({ErrorCode::unavailable, lost});
  }
}

}  // namespace holdfast::engines::redis::internal
