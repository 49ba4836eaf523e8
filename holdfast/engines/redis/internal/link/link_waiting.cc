// What the leader of a link does while nothing moves: it spins, sleeps, and connects again.

#include <sched.h>

#include <algorithm>
#include <array>
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
    sleep(me, guard);
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

void LinkCore::sleep(const Call& me, Guard& guard) {
  const ConnectionPtr connection = connection_;
  const auto until = std::min(me.deadline, base::Deadline::at(overdue_at()));
  const short output = connection->needs_room ? POLLOUT : 0;
  leader_sleeps_ = true;
  guard.unlock();
  const auto events = static_cast<short>(POLLIN | output | connection->wire().read_also_needs());
  std::array<pollfd, 2> descriptors{
      pollfd{.fd = connection->wire().descriptor(), .events = events, .revents = 0},
      pollfd{.fd = doorbell_.descriptor(), .events = POLLIN, .revents = 0}};
  if (poll_until(descriptors, until) && descriptors[1].revents != 0) {
    doorbell_.clear();
  }
  guard.lock();
  leader_sleeps_ = false;
}

void LinkCore::reconnect(Call& me, Guard& guard) {
  const base::TimePoint time = now();
  if (time < next_attempt_) {
    const auto next = base::Deadline::at(next_attempt_);
    if (me.deadline < next) {
      line_.remove(me);
      pending_ -= load_of(me);
      me.error = too_early(time);
      me.finished = true;
      return;
    }
    guard.unlock();
    (void)poll_until({}, next);
    guard.lock();
    return;
  }
  connect(me.deadline, guard);
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
    line_.remove(*call);
    pending_ -= load_of(*call);
    call->error = error;
    finish(*call);
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
