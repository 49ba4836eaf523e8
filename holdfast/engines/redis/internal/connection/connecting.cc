// Making a connection, losing it and making it anew.

#include <algorithm>
#include <utility>

#include <holdfast/base/duration_text.h>
#include <holdfast/base/random.h>
#include <holdfast/base/saturate.h>
#include <holdfast/engines/redis/internal/connection.h>
#include <holdfast/engines/redis/internal/connection/wire.h>

namespace holdfast::engines::redis::internal {

namespace {

using base::ErrorCode;

// A call that has waited for less says nothing of the server.
constexpr base::Duration kShortestSilence = std::chrono::milliseconds(250);

base::TimePoint now() noexcept { return base::steady_clock().now(); }

}  // namespace

void Connection::reconnect(const Caller& me) {
  const base::TimePoint time = now();
  if (time >= next_attempt_) {
    connect(me.deadline);
    return;
  }
  // A call that cannot wait for the next attempt fails at once.
  const auto next = base::Deadline::at(next_attempt_);
  if (me.deadline < next) {
    for (Call& call : me.calls) {
      if (!call.is_finished) {
        fail_in_line(call, too_early(time));
      }
    }
  }
  while (next_deadline() < next) {
    fail_in_line(submissions_.begin()->second->call, too_early(time));
  }
  notify_finished();
  if (!is_served(me)) {
    sleep(next);
  }
}

base::Error Connection::too_early(base::TimePoint time) const {
  const auto next = base::Deadline::at(next_attempt_);
  return {ErrorCode::unavailable, last_failure_ + "; the next attempt is in " +
                                      base::short_duration(next.remaining(time)) +
                                      ", after the deadline"};
}

// Sentinels and the master share the leader's time. Another call may have more.
bool Connection::was_hurried(base::Deadline deadline, base::TimePoint began) const {
  const std::size_t servers = options_.sentinel ? options_.sentinel->nodes.size() + 1 : 1;
  const base::Duration share =
      deadline.remaining(began) / static_cast<base::Duration::rep>(servers);
  return share < options_.connect_timeout && now() - began >= share;
}

void Connection::connect(base::Deadline deadline) {
  moved_to_.clear();
  const base::TimePoint began = now();
  mutex_.unlock();
  base::Result<Route::Opened> opened = route_->open(deadline);
  mutex_.lock();
  if (opened && !moved_to_.empty() && moved_to_ != opened->address) {
    return;  // it is not the right server any more: the leader tries again
  }
  if (opened) {
    transport_ = std::make_shared<Transport>(std::move(opened->wire));
    transport_->heard = now();
    server_ = std::move(opened->address);
    if (++counters_.connects > 1) {
      options_.logger.info("connected again to the Redis server at " + server_);
    }
  } else if (deadline.expired(now()) || was_hurried(deadline, began)) {
    last_failure_ = opened.error().message;  // there was not enough time: no reason to pause
  } else {
    attempt_failed(opened.error());
    notify_finished();
  }
}

void Connection::pause(const base::Error& error) {
  next_attempt_ = base::add_saturating(now(), backoff_.next(base::random_u64()));
  last_failure_ = error.message;
}

// Callers in the queue hear of it at once, rather than wait for an attempt that may fail too.
void Connection::attempt_failed(const base::Error& error) {
  pause(error);
  while (Call* const call = line_.front()) {
    fail_in_line(*call, error);
  }
}

void Connection::drop_connection(const base::Error& error) {
  if (transport_ == nullptr) {
    return;
  }
  const TransportPtr transport = std::exchange(transport_, nullptr);
  const std::string lost =
      "the connection to the Redis server at " + server_ + " was lost: " + error.message;
  options_.logger.warn(lost);
  while (!flight_.empty()) {
    const Flight::Place place = flight_.pop_front();
    --pending_;
    pending_bytes_ -= place.bytes;
    if (place.call != nullptr) {
      place.call->error = {ErrorCode::unknown_outcome, lost + "; it may have done what was asked"};
      finish(*place.call);
    }
  }
  if (transport->has_answered || transport->is_left) {
    backoff_.reset();
    next_attempt_ = {};
  } else if (transport->unfit) {
    pause({ErrorCode::unavailable, lost});  // another server may have the address then
  } else {
    attempt_failed({ErrorCode::unavailable, lost});
  }
}

void Connection::drop_if_useless(const Transport& transport) {
  if (transport.is_left) {
    drop_connection({ErrorCode::unavailable, "another server is the master now"});
  } else if (transport.unfit && flight_.empty()) {
    drop_connection({ErrorCode::unavailable, "the server takes no commands now"});
  } else if (transport.suspect) {
    drop_connection({ErrorCode::unavailable, "it did not answer a call by its deadline"});
  } else if (now() >= overdue_at()) {
    drop_connection({ErrorCode::unavailable, "it has not answered for too long"});
  }
}

void Connection::move_to(const std::string& address) {
  {
    const base::MutexLock lock(mutex_);
    moved_to_ = address;
    if (transport_ != nullptr && server_ != address) {
      transport_->is_left = true;
      if (leader_sleeps_) {
        waker_.wake();
      }
    }
  }
  on_move_(address);
}

// The leader ends the connection when it next finds nothing to read.
void Connection::suspect(const Caller& caller, base::TimePoint sent) {
  if (transport_ == nullptr || transport_->heard > sent || now() - sent < kShortestSilence) {
    return;
  }
  if (caller.on_silence == OnSilence::reconnect || flight_.newest() == nullptr) {
    transport_->suspect = true;
    if (leader_sleeps_) {
      waker_.wake();
    }
  }
}

base::TimePoint Connection::overdue_at() const {
  if (flight_.empty() || transport_ == nullptr) {
    return base::TimePoint::max();
  }
  return base::add_saturating(std::max(flight_.front().sent, transport_->heard),
                              options_.reply_timeout);
}

}  // namespace holdfast::engines::redis::internal
