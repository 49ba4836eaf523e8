#include <holdfast/engines/redis/internal/link/link_core.h>

#include <algorithm>
#include <iterator>
#include <thread>
#include <utility>

#include <holdfast/base/saturate.h>
#include <holdfast/engines/redis/internal/link/fitness.h>
#include <holdfast/engines/redis/internal/link/wire_socket.h>

namespace holdfast::engines::redis::internal {

namespace {

using base::ErrorCode;

// Where most of what was joined had to be sent again, as many commands are sent by themselves
// before that is tried again.
constexpr std::size_t kAloneAfterFailure = 256;

// A call that has waited for less says nothing of the server.
constexpr base::Duration kShortestSilence = std::chrono::milliseconds(250);

// All replies to one call together.
constexpr std::size_t kMostReplyBytes = ReplyLimits{}.bytes;

base::TimePoint now() noexcept { return base::steady_clock().now(); }

}  // namespace

LinkCore::LinkCore(RedisOptions options)
    : options_(std::move(options)),
      spin_(std::thread::hardware_concurrency() > 1 ? SpinBudget::Cores::several
                                                    : SpinBudget::Cores::one) {}

LinkCounters LinkCore::counters() const {
  const Guard guard(mutex_);
  LinkCounters counters = counters_;
  counters.pending = pending_.commands;
  return counters;
}

void LinkCore::run(Call& call) {
  Guard guard(mutex_);
  if (!has_place_for(call, guard)) {
    call.error = too_many();
    hand_over(guard);
    return;
  }
  pending_ += load_of(call);
  line_.push_back(call);
  lot_.enter(call.parking);
  if (leader_ == nullptr) {
    leader_ = &call;
    lead(call, guard);
    return;
  }
  if (leader_sleeps_ || has_enough_in_line()) {
    write(guard);
  }
  guard.unlock();
  if (lot_.wait(call.parking, call.deadline) == Parking::Word::done) {
    return;
  }
  guard.lock();
  if (leader_ == &call) {
    lead(call, guard);
  } else if (!call.finished) {
    give_up(call);
  }
}

base::Error LinkCore::too_many() const {
  return {ErrorCode::limit_exceeded,
          "too many commands, or too large ones, are waiting for the "
          "Redis server at " +
              server_address(options_) + "; see the options max_pending and max_pending_bytes"};
}

bool LinkCore::has_place_for(Call& call, Guard& guard) noexcept {
  const Load load = load_of(call);
  const auto fits = [](std::size_t more, std::size_t used, std::size_t most) {
    return more <= most - std::min(used, most);
  };
  // A single call may have any size: its caller holds the bytes anyway.
  const auto has_place = [&] {
    return fits(load.commands, pending_.commands, options_.max_pending) &&
           (pending_.commands == 0 || fits(load.bytes, pending_.bytes, options_.max_pending_bytes));
  };
  if (has_place() || leader_ != nullptr || connection_ == nullptr) {
    return has_place();
  }
  // Those who left may have been answered since, and nobody was there to read it.
  leader_ = &call;
  read(guard);
  leader_ = nullptr;
  return has_place();
}

void LinkCore::lead(Call& me, Guard& guard) noexcept {
  rest_ = Rest::none;
  while (has_to_lead(me, guard)) {
    if (connection_ == nullptr) {
      reconnect(me, guard);
      continue;
    }
    const bool has_read = read(guard);
    if (is_served(me) || connection_ == nullptr) {
      continue;
    }
    const bool has_written = write(guard);
    if (has_read || has_written || connection_->write_error) {
      rest_ = Rest::none;
    } else {
      rest(me, guard);
    }
  }
  if (&me != &driver_call_ && !me.finished) {
    give_up(me);
  }
  leader_ = nullptr;
  hand_over(guard);
}

bool LinkCore::is_served(const Call& me) const noexcept {
  return &me == &driver_call_ ? submissions_.empty() || closing_ : me.finished;
}

bool LinkCore::has_to_lead(Call& me, Guard& guard) {
  if (&me == &driver_call_) {
    expire(guard);
    me.deadline = next_deadline();
    return !is_served(me);
  }
  return !me.finished && !me.deadline.expired(now());
}

void LinkCore::hand_over(Guard& guard) noexcept {
  if (leader_ != nullptr) {
    return;
  }
  leader_ = connection_ != nullptr ? line_.back() : most_patient();
  if (leader_ == nullptr) {
    leader_ = flight_.newest();
  }
  if (leader_ == nullptr) {
    return;
  }
  if (leader_->submission != nullptr) {
    leader_ = &driver_call_;
    driver_wake_.notify_one();
    return;
  }
  ParkingLot::Sleepers sleepers;
  ParkingLot::tell(leader_->parking, Parking::Word::lead, sleepers);
  guard.unlock();
  lot_.wake(sleepers);
}

// To connect takes time: leaders who leave before would keep everybody waiting.
Call* LinkCore::most_patient() const noexcept {
  Call* found = line_.front();
  for (Call* call = found; call != nullptr; call = call->next) {
    if (call->deadline > found->deadline) {
      found = call;
    }
  }
  return found;
}

void LinkCore::give_up(Call& call) {
  if (call.ticket) {
    const base::TimePoint sent = flight_.sent(call);
    flight_.leave(call);
    suspect(call, sent);
    call.error = {ErrorCode::unknown_outcome,
                  "the Redis server at " + server_address(options_) +
                      " did not answer by the deadline; it may have done what was asked"};
  } else {
    line_.remove(call);
    pending_ -= load_of(call);
    call.error = {ErrorCode::unavailable, "the deadline came before the Redis server at " +
                                              server_address(options_) + " could be asked"};
    if (connection_ == nullptr && !last_failure_.empty()) {
      call.error->message += "; the last attempt to connect: " + last_failure_;
    }
  }
  call.finished = true;
}

// The leader ends the connection when it next finds nothing to read.
void LinkCore::suspect(const Call& call, base::TimePoint sent) {
  if (connection_ == nullptr || connection_->heard > sent || now() - sent < kShortestSilence) {
    return;
  }
  if (call.on_silence == OnSilence::reconnect || flight_.newest() == nullptr) {
    connection_->suspect = true;
    if (leader_sleeps_) {
      waker_.wake();
    }
  }
}

// Whoever is not the leader may be gone once it was told.
void LinkCore::finish(Call& call) {
  call.finished = true;
  if (call.submission != nullptr) {
    take_out(*call.submission);
  } else if (&call != leader_) {
    ParkingLot::tell(call.parking, Parking::Word::done, sleepers_);
  }
}

void LinkCore::wake_all(Guard& guard) noexcept {
  if (sleepers_.empty() && answered_.empty()) {
    return;
  }
  const ParkingLot::Sleepers sleepers = std::exchange(sleepers_, {});
  const std::vector<Submission*> answered = std::exchange(answered_, {});
  guard.unlock();
  lot_.wake(sleepers);
  call_back(answered);
  guard.lock();
}

bool LinkCore::read(Guard& guard) {
  const ConnectionPtr connection = connection_;
  guard.unlock();
  const base::Result<bool> got = connection->read(arrived_);
  guard.lock();
  const bool has_come = got && *got;
  if (has_come) {
    if (connection->has_progressed()) {
      connection->heard = now();
      connection->suspect = false;
    }
    ++counters_.reads;
    if (rest_ == Rest::spinning) {
      spin_.succeeded();
    }
  }
  deliver_all();
  if (!got) {
    drop_connection(got.error());
  } else if (!has_come && connection->write_error) {
    drop_connection(*connection->write_error);
  } else {
    drop_if_useless(*connection);
  }
  wake_all(guard);
  return has_come;
}

void LinkCore::drop_if_useless(const Connection& connection) {
  if (connection.unfit && flight_.empty()) {
    drop_connection({ErrorCode::unavailable, "the server takes no commands now"});
  } else if (connection.suspect) {
    drop_connection({ErrorCode::unavailable, "it did not answer a call by its deadline"});
  } else if (now() >= overdue_at()) {
    drop_connection({ErrorCode::unavailable, "it has not answered for too long"});
  }
}

void LinkCore::deliver_all() {
  for (Reply& reply : arrived_) {
    if (flight_.empty()) {
      drop_connection({ErrorCode::unavailable, "it sent a reply that nobody had asked for"});
      break;
    }
    if (is_unfit(reply)) {
      connection_->unfit = true;
      on_unfit_();
    } else {
      connection_->has_answered = true;
    }
    if (flight_.joined() == 1) {
      deliver(std::move(reply));
    } else {
      deliver_parts(std::move(reply));
    }
  }
  arrived_.clear();
}

// An error is for all of them: the server refuses a script before it has written anything.
void LinkCore::deliver_parts(Reply reply) {
  const std::size_t joined = flight_.joined();
  std::vector<Reply> parts = reply.take_elements();
  if (parts.size() != joined) {
    parts.assign(joined, Reply());
  }
  if (std::ranges::count_if(parts, &Reply::is_nil) > std::ssize(parts) / 2) {
    connection_->alone = kAloneAfterFailure;
  }
  for (Reply& part : parts) {
    deliver(std::move(part));
  }
}

void LinkCore::deliver(Reply reply) {
  const Flight::Arrival arrival = flight_.deliver(std::move(reply));
  pending_ -= arrival.load;
  if (arrival.finished != nullptr) {
    finish(*arrival.finished);
  } else if (arrival.bytes > kMostReplyBytes) {
    drop_connection({ErrorCode::unavailable, "it answers with more than any call asks for"});
  }
}

base::TimePoint LinkCore::overdue_at() const noexcept {
  if (flight_.empty() || connection_ == nullptr) {
    return base::TimePoint::max();
  }
  return base::add_saturating(std::max(flight_.oldest(), connection_->heard),
                              options_.reply_timeout);
}

}  // namespace holdfast::engines::redis::internal
